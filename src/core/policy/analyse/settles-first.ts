/**
 * Does an earlier condition, whenever a later one would be true or break, hold or break itself? Then the later one is never
 * asked for nothing. By texts alone: `a && b` asks for `a`, and `a` is one way to fulfil `a || c`. An error beside a false is false.
 */
import type { Condition } from '../../cel/condition.ts';
import type { ReadRule } from './read-rules.ts';

export function settlesFirst(earlier: ReadRule, later: ReadRule): boolean {
  const [before, after] = [earlier.condition, later.condition];
  if (before === null || after === null) return false;
  if (before.root.text === after.root.text) return true;
  const { asked } = textsOf(after.root);
  const { ways } = textsOf(before.root);
  // Evaluated from left to right: what begins with the earlier condition costs no step before it is over.
  const [only] = ways;
  if (ways.length === 1 && only?.every((text, at) => asked[at] === text) === true) return true;
  // In any other order a costly part could run out of steps first.
  if (!before.isCheap || !after.isCheap) return false;
  return ways.some((way) => way.every((text) => asked.includes(text)));
}

interface Texts {
  /** All of these are asked for. */
  readonly asked: readonly string[];
  /** All of one of these. */
  readonly ways: readonly (readonly string[])[];
}

/** A condition is compared with many others. */
const kept = new WeakMap<Condition, Texts>();

function textsOf(root: Condition): Texts {
  const known = kept.get(root);
  if (known !== undefined) return known;
  const allOf = (condition: Condition) => partsOf(condition, 'all').map(({ text }) => text);
  const texts = { asked: allOf(root), ways: partsOf(root, 'any').map(allOf) };
  kept.set(root, texts);
  return texts;
}

function partsOf(condition: Condition, kind: 'all' | 'any'): readonly Condition[] {
  if (condition.kind !== kind) return [condition];
  return condition.parts.flatMap((part) => partsOf(part, kind));
}
