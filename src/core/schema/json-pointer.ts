/** Writes and resolves JSON Pointers (RFC 6901). Never follows inherited properties. */
import { isObject } from '../values/json.ts';

export function pointerOf(steps: readonly (string | number)[]): string {
  return steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

export function stepsOf(pointer: string): readonly string[] {
  const written = pointer.split('/').slice(1);
  return written.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Undefined when nothing of its own stands there. */
export function valueAt(root: unknown, steps: readonly (string | number)[]): unknown {
  let value = root;
  for (const step of steps) {
    if (!(isObject(value) || Array.isArray(value)) || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}
