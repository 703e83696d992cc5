/** Arguments as rows of a table: the path of each value and the value as JSON; beside it what it was before. Pure. */
import type { Json } from '../../../../src/core/values/json.ts';

export type Change = 'same' | 'changed' | 'new' | 'gone';

export interface ArgumentRow {
  /** `order.items[2].price`; empty for arguments that are one value. */
  readonly path: string;
  /** As JSON; null where there is none now. */
  readonly now: string | null;
  /** As JSON; null where there was none. */
  readonly before: string | null;
  readonly change: Change;
}

export const maxRows = 200;

/** `before` undefined: there is nothing to compare with. */
export function rowsOf(
  now: Json,
  before?: Json,
): { readonly rows: readonly ArgumentRow[]; readonly complete: boolean } {
  const current = flatten(now);
  const earlier = before === undefined ? null : flatten(before);
  const paths = [...new Set([...current.keys(), ...(earlier?.keys() ?? [])])];
  const rows = paths.slice(0, maxRows).map((path): ArgumentRow => {
    const [is, was] = [current.get(path) ?? null, earlier?.get(path) ?? null];
    return { path, now: is, before: was, change: earlier === null ? 'same' : changeOf(is, was) };
  });
  return { rows, complete: paths.length <= maxRows };
}

function changeOf(now: string | null, before: string | null): Change {
  if (now === null) return 'gone';
  if (before === null) return 'new';
  return now === before ? 'same' : 'changed';
}

const maxVisited = 2_000;

function flatten(value: Json): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const waiting: { readonly path: string; readonly value: Json }[] = [{ path: '', value }];
  for (let next = waiting.shift(); next !== undefined && found.size < maxVisited; next = waiting.shift()) {
    const inner = insideOf(next.value);
    if (inner === null) found.set(next.path, JSON.stringify(next.value));
    else waiting.unshift(...inner.map(([step, each]) => ({ path: join(next.path, step), value: each })));
  }
  return found;
}

type Step = string | number;

/** Null for a value without parts. */
function insideOf(value: Json): readonly (readonly [Step, Json])[] | null {
  if (typeof value !== 'object' || value === null) return null;
  const inner: readonly (readonly [Step, Json])[] = Array.isArray(value)
    ? value.map((each, at) => [at, each as Json] as const)
    : Object.entries(value as Readonly<Record<string, Json>>);
  return inner.length === 0 ? null : inner;
}

/** A name that is no plain word is quoted, so that none can look like two. */
function join(path: string, step: Step): string {
  if (typeof step === 'number') return `${path}[${step}]`;
  if (!/^[A-Za-z_$][\w$]*$/.test(step)) return `${path}[${JSON.stringify(step)}]`;
  return path === '' ? step : `${path}.${step}`;
}
