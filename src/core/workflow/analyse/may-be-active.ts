/**
 * Which states could ever be active, however the others stand? A coarse answer that takes one look at each edge: what it
 * leaves out is proven never to be entered, even when the search over configurations had to stop.
 */
import { stateAt, type Chart } from './chart.ts';

export function mayBeActive(chart: Chart): ReadonlySet<number> {
  const found = new Set<number>();
  const waiting: number[] = [0];
  for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
    // A parent or a first child that is not there has no number.
    if (index < 0 || found.has(index)) continue;
    found.add(index);
    const { type, parent, initial, children, fallback } = stateAt(chart, index);
    // A history state stands for what was active before, which is found already, or for where it leads at first.
    if (type === 'history') waiting.push(...fallback, stateAt(chart, parent).initial);
    waiting.push(parent, initial);
    if (type === 'parallel') waiting.push(...children.filter((child) => stateAt(chart, child).type !== 'history'));
    const choices = [
      ...(chart.on[index]?.values() ?? []),
      ...(chart.always[index] === null ? [] : [chart.always[index]]),
    ];
    waiting.push(...choices.flatMap((choice) => choice?.takes ?? []).flatMap(({ targets }) => targets));
  }
  return found;
}
