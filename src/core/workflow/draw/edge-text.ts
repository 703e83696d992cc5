/** Formats edges for people, such as `pay [has_items]` and `after 30 s`. Used by drawings and findings. */
import { unreachable } from '../../values/unreachable.ts';
import type { GraphEdge } from '../graph.ts';

const units = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;

/** In the largest unit in which it has at most one decimal; a named delay by its name. */
export function durationText(delay: number | string): string {
  if (typeof delay === 'string') return delay;
  const fits = (size: number) => Math.abs(delay) >= size && Number.isInteger((delay / size) * 10);
  const [size, unit] = units.find(([each]) => fits(each)) ?? [1, 'ms'];
  return `${delay / size} ${unit}`;
}

/** `pay`, `after 30 s`, `always`, `done`; the guard is not part of it. */
export function eventText({ kind, action, delay }: GraphEdge): string {
  switch (kind) {
    case 'action':
    case 'outcome':
      return action ?? '';
    case 'after':
      return `after ${durationText(delay ?? 0)}`;
    case 'always':
      return 'always';
    case 'done':
      return 'done';
    default:
      return unreachable(kind);
  }
}

export function edgeText(edge: GraphEdge): string {
  return edge.guard === null ? eventText(edge) : `${eventText(edge)} [${edge.guard}]`;
}

/** On one line: whatever would end the line, or is not meant to be seen, becomes a space. */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
}
