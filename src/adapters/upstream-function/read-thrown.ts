/** Reads whatever was thrown: text, undefined, or a proxy that throws when read. Never throws. */
import { preview } from '../../core/values/canonical.ts';

const maxNameChars = 100;
export const maxMessageChars = 16_000;

export function read(value: unknown, key: PropertyKey): unknown {
  try {
    return value === null || value === undefined ? undefined : (value as Record<PropertyKey, unknown>)[key];
  } catch {
    return undefined;
  }
}

export function nameOf(thrown: unknown): string {
  if (!isThing(thrown)) return 'NonError';
  return textOf(read(thrown, 'name'), maxNameChars) ?? 'NonError';
}

export function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string') return textOf(thrown, maxMessageChars) ?? 'threw an empty text';
  if (!isThing(thrown)) return `threw ${show(thrown)}`;
  const message = read(thrown, 'message');
  if (message === '') return 'threw without a message';
  return textOf(message, maxMessageChars) ?? `threw ${show(thrown)}`;
}

export function isThing(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

export function textOf(value: unknown, max: number): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, max).toWellFormed() : null;
}

function show(value: unknown): string {
  try {
    return value === undefined ? 'undefined' : preview(value);
  } catch {
    return `something unreadable (${typeof value})`;
  }
}
