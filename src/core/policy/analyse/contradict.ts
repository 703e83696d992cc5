/**
 * Decides whether conditions can hold together. Expands them into lists of claims about single values and looks for
 * two that exclude each other. Sound: "no" is proven, "yes" means that no contradiction was found.
 */
import type { Condition, Sign, Term } from '../../cel/condition.ts';
import { unreachable } from '../../values/unreachable.ts';
import { anyValue, compared, isEmpty, noneOf, oneOf, type ValueRange } from './value-range.ts';

/** What is known of a value before any condition is asked, and from where. */
export interface KnownRange {
  readonly range: ValueRange;
  readonly says: string;
}

export type KnownValues = (term: Term) => KnownRange | null;

/** What must be so in one of the ways. */
interface Claim {
  readonly text: string;
  /** For claims about a value; null for those that are known by their text alone. */
  readonly term: Term | null;
  readonly narrow: (range: ValueRange) => ValueRange;
  /** `absent`: the value is not there. `free`: true or false by reasons that are not followed. */
  readonly kind: 'range' | 'present' | 'absent' | 'free' | 'never';
  readonly holds: boolean;
}

type Way = readonly Claim[];

/** Why one way is closed: the texts that exclude each other, and what was known about the value. */
export interface Conflict {
  readonly texts: readonly string[];
  readonly known: string | null;
}

export interface Wanted {
  readonly condition: Condition;
  readonly holds: boolean;
}

export type Verdict =
  | { readonly kind: 'impossible'; readonly conflicts: readonly Conflict[] }
  | { readonly kind: 'open' }
  /** There were more ways than are looked at. */
  | { readonly kind: 'too_many' };

/** How many ways of holding are looked at. */
export const maxWays = 128;
const maxConflicts = 4;

class TooMany extends Error {}

export function canHold(wanted: readonly Wanted[], known: KnownValues): Verdict {
  const conflicts: Conflict[] = [];
  let open: readonly Way[] = [[]];
  try {
    for (const { condition, holds } of wanted) {
      const more = waysOf(condition, holds);
      const joined = atMost(open.flatMap((way) => more.map((each) => [...way, ...each])));
      open = joined.filter((way) => {
        const conflict = conflictIn(way, known);
        if (conflict !== null && conflicts.length < maxConflicts) conflicts.push(conflict);
        return conflict === null;
      });
    }
  } catch (error) {
    if (error instanceof TooMany) return { kind: 'too_many' };
    throw error;
  }
  return open.length === 0 ? { kind: 'impossible', conflicts } : { kind: 'open' };
}

function atMost<Each>(ways: readonly Each[]): readonly Each[] {
  if (ways.length > maxWays) throw new TooMany();
  return ways;
}

/**
 * If the condition is true (or false, and no error), all claims of one of these ways are true. An error never makes a
 * condition true or false, but it may stand beside what does.
 */
function waysOf(condition: Condition, holds: boolean): readonly Way[] {
  const claim = { text: holds ? condition.text : `!(${condition.text})`, holds };
  switch (condition.kind) {
    case 'always':
      return condition.holds === holds ? [[]] : [[{ ...claim, term: null, narrow: same, kind: 'never' }]];
    case 'not':
      return waysOf(condition.part, !holds);
    case 'all':
    case 'any': {
      const parts = condition.parts.map((part) => waysOf(part, holds));
      if ((condition.kind === 'any') === holds) return atMost(parts.flat());
      return parts.reduce((ways, more) => atMost(ways.flatMap((way) => more.map((each) => [...way, ...each]))), [[]]);
    }
    case 'compare':
      return [[{ ...claim, term: condition.term, kind: 'range', narrow: comparing(condition, holds) }]];
    case 'among': {
      const { term, list } = condition;
      const narrow = (range: ValueRange) => (holds ? oneOf(range, list) : noneOf(range, list));
      return [[{ ...claim, term, kind: 'range', narrow }]];
    }
    case 'truth':
      return [[{ ...claim, term: condition.term, kind: 'range', narrow: (range) => oneOf(range, [holds]) }]];
    case 'has':
      return [[{ ...claim, term: condition.term, kind: holds ? 'present' : 'absent', narrow: same }]];
    case 'free':
      return [[{ ...claim, text: condition.text, term: null, kind: 'free', narrow: same }]];
    default:
      return unreachable(condition);
  }
}

const same = (range: ValueRange): ValueRange => range;

const opposite: Readonly<Record<Sign, Sign>> = { '==': '!=', '!=': '==', '<': '>=', '<=': '>', '>': '<=', '>=': '<' };

function comparing({ sign, to, term }: Condition & { kind: 'compare' }, holds: boolean): Claim['narrow'] {
  if (holds) return (range) => compared(range, sign, to);
  const ordered = sign !== '==' && sign !== '!=';
  // What is calculated may be no number at all, which is neither below nor above.
  return ordered && term.path === null ? same : (range) => compared(range, opposite[sign], to);
}

function conflictIn(way: Way, known: KnownValues): Conflict | null {
  const never = way.find(({ kind }) => kind === 'never');
  if (never !== undefined) return { texts: [never.text], known: null };
  const said = new Map<string, Claim>();
  for (const claim of way) {
    if (claim.kind !== 'free') continue;
    const before = said.get(claim.text);
    if (before !== undefined && before.holds !== claim.holds)
      return { texts: [claim.text, `!(${claim.text})`], known: null };
    said.set(claim.text, claim);
  }
  return missingIn(way) ?? emptyIn(way, known);
}

/** What is not there cannot be compared, nor anything inside it. */
function missingIn(way: Way): Conflict | null {
  for (const absent of way) {
    if (absent.kind !== 'absent') continue;
    const path = absent.term?.path ?? [];
    const reader = way.find(({ kind, term }) => {
      const read = kind === 'absent' ? [] : (term?.path ?? []);
      return read.length > 0 && path.every((step, at) => read[at] === step);
    });
    if (reader !== undefined) return { texts: [absent.text, reader.text], known: null };
  }
  return null;
}

function rangesByTerm(way: Way): Iterable<readonly Claim[]> {
  const byTerm = new Map<string, Claim[]>();
  for (const claim of way) {
    if (claim.kind !== 'range' || claim.term === null) continue;
    const same = byTerm.get(claim.term.text);
    if (same === undefined) byTerm.set(claim.term.text, [claim]);
    else same.push(claim);
  }
  return byTerm.values();
}

function emptyIn(way: Way, known: KnownValues): Conflict | null {
  for (const claims of rangesByTerm(way)) {
    const term = claims[0]?.term ?? null;
    const before = term === null ? null : known(term);
    const isClosed = (some: Way, range: ValueRange) => isEmpty(some.reduce((now, { narrow }) => narrow(now), range));
    if (!isClosed(claims, before?.range ?? anyValue)) continue;
    // The fewest claims tell most: one against what is known, then two against each other, then all of them.
    const groups = [...claims.map((each) => [each]), ...pairsOf(claims), claims];
    const closing = groups.find((some) => isClosed(some, anyValue));
    if (closing !== undefined) return { texts: textsOf(closing), known: null };
    const against = groups.find((some) => isClosed(some, before?.range ?? anyValue)) ?? claims;
    return { texts: textsOf(against), known: before?.says ?? null };
  }
  return null;
}

const pairsOf = (claims: Way): readonly Way[] =>
  claims.flatMap((first, at) => claims.slice(at + 1).map((second) => [first, second]));

const textsOf = (claims: Way): readonly string[] => [...new Set(claims.map(({ text }) => text))];
