/**
 * Decides whether one pattern matches every name that another matches, with a counterexample for "no". Walks both as
 * automata; beyond a limit of steps the answer is unknown. Too slow for the path of a call.
 */
import type { ToolPattern } from './tool-pattern.ts';

export type Coverage =
  | { readonly covers: 'yes' }
  /** `name` is matched by the second and not by the first. */
  | { readonly covers: 'no'; readonly name: string }
  | { readonly covers: 'unknown' };

const maxWalkSteps = 20_000;

/** A place in a pattern while a name is read. */
interface Place {
  /** The character that it waits for, and where that leads. */
  readonly literal: { readonly char: string; readonly to: number } | null;
  /** Reads any character of a segment, and stays. */
  readonly loops: boolean;
  /** Where the end of a segment leads; null if the segment cannot end here. */
  readonly slash: readonly number[] | null;
  /** Whether the name may end here. */
  readonly ends: boolean;
  /** Places that are reached without reading. */
  readonly free: readonly number[];
}

interface Automaton {
  readonly places: readonly Place[];
  readonly start: readonly number[];
}

export function covers(first: ToolPattern, second: ToolPattern, maxSteps = maxWalkSteps): Coverage {
  const a = automatonOf(first);
  const b = automatonOf(second);
  const fresh = freshCharacter(first.text + second.text);
  const seen = new Set<string>();
  // Names with an empty segment need not be tried: what stands for an empty segment also stands for a fresh character.
  let wave: Step[] = b.start.map((at) => ({ at, held: close(a, a.start), name: '', empty: true }));
  for (let steps = 0; wave.length > 0;) {
    const next: Step[] = [];
    for (const step of wave) {
      const key = `${step.at} ${step.empty} ${step.held.join(',')}`;
      if (seen.has(key)) continue;
      seen.add(key);
      if (++steps > maxSteps) return { covers: 'unknown' };
      const place = placeAt(b, step.at);
      if (place.ends && !step.empty && !step.held.some((at) => placeAt(a, at).ends))
        return { covers: 'no', name: step.name };
      next.push(...follow(a, step, place, fresh));
    }
    wave = next;
  }
  return { covers: 'yes' };
}

interface Step {
  /** Where the second pattern stands, and everywhere the first one may stand. */
  readonly at: number;
  readonly held: readonly number[];
  readonly name: string;
  /** The segment under way has no character yet. */
  readonly empty: boolean;
}

function follow(a: Automaton, { at, held, name, empty }: Step, place: Place, fresh: string): Step[] {
  const steps: Step[] = place.free.map((to) => ({ at: to, held, name, empty }));
  const read = (char: string, to: number) =>
    steps.push({ at: to, held: readBy(a, held, char), name: name + char, empty: false });
  if (place.literal !== null) read(place.literal.char, place.literal.to);
  if (place.loops) {
    // Any other character is as good as the fresh one: the first pattern tells apart only those it waits for.
    read(fresh, at);
    for (const char of new Set(held.flatMap((each) => placeAt(a, each).literal?.char ?? []))) read(char, at);
  }
  if (place.slash !== null && !empty) {
    const after = close(
      a,
      held.flatMap((each) => placeAt(a, each).slash ?? []),
    );
    for (const to of place.slash) steps.push({ at: to, held: after, name: `${name}/`, empty: true });
  }
  return steps;
}

function readBy(a: Automaton, held: readonly number[], char: string): readonly number[] {
  const after = held.flatMap((at) => {
    const { literal, loops } = placeAt(a, at);
    return [...(loops ? [at] : []), ...(literal?.char === char ? [literal.to] : [])];
  });
  return close(a, after);
}

/** With every place that is reached without reading, in one order whatever the way. */
function close(a: Automaton, from: readonly number[]): readonly number[] {
  const all = new Set(from);
  for (const at of all) for (const to of placeAt(a, at).free) all.add(to);
  return [...all].sort((x, y) => x - y);
}

function placeAt(automaton: Automaton, at: number): Place {
  const place = automaton.places[at];
  if (place === undefined) throw new Error('bug: a pattern leads nowhere');
  return place;
}

/** Segment by segment from the last, so that each knows where the next one begins. */
function automatonOf({ segments }: ToolPattern): Automaton {
  const places: Place[] = [];
  let begin: readonly number[] | null = null;
  /** Whether the name may end before the segments that were written so far. */
  let skippable = true;
  for (const segment of segments.toReversed()) {
    const after: readonly number[] | null = begin;
    if (segment === null) {
      // Inside a segment that is read over; at its end either another one, or what comes after.
      const at = places.length;
      begin = [at, ...(after ?? [])];
      places.push({ literal: null, loops: true, slash: begin, ends: skippable, free: [] });
      continue;
    }
    begin = [places.length];
    const chars = segment.flatMap((part, index) => (index === 0 ? [...part] : [null, ...part]));
    for (const char of chars) {
      const to = places.length + 1;
      places.push(
        char === null
          ? { literal: null, loops: true, slash: null, ends: false, free: [to] }
          : { literal: { char, to }, loops: false, slash: null, ends: false, free: [] },
      );
    }
    places.push({ literal: null, loops: false, slash: after, ends: skippable, free: [] });
    skippable = false;
  }
  return { places, start: begin ?? [] };
}

function freshCharacter(used: string): string {
  for (let code = 0x78; ; code++) {
    const char = String.fromCodePoint(code);
    if (/[\p{L}\p{N}]/u.test(char) && !used.includes(char)) return char;
  }
}
