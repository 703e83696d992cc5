/** Chooses the fault of each request: the first rule that matches, else one drawn from a seed, else none. */
import { entryOf, type Fault, faultNames, faultOf, type Settings } from './fault-table.ts';
import type { OperationName } from './operations.ts';
import { maxRules, type Rule } from './read-rules.ts';

export interface Draw {
  readonly seed: number;
  /** From 0 to 1. */
  readonly rate: number;
}

export interface RuleQueue {
  /** False if there is no room for them; then none is added. */
  add(rules: readonly Rule[]): boolean;
  clear(): void;
  list(): readonly object[];
  /** The fault for this request. Counts it for every rule that it fits. */
  take(operation: OperationName, key: string | null): Fault;
}

export function createRuleQueue(draw: Draw | null): RuleQueue {
  let queue: { readonly rule: Rule; seen: number; left: number }[] = [];
  const random = draw === null ? null : createDraw(draw);
  return {
    add(rules) {
      if (queue.length + rules.length > maxRules) return false;
      queue.push(...rules.map((rule) => ({ rule, seen: 0, left: rule.times })));
      return true;
    },
    clear: () => void (queue = []),
    list: () => queue.map(({ rule, seen, left }) => ({ ...written(rule), seen, left })),
    take(operation, key) {
      // Drawn for every request, so that a rule does not move what later requests get.
      const drawn = random?.() ?? faultOf('none');
      const fitting = queue.filter(({ rule: { match } }) => {
        return (match.operation ?? operation) === operation && (match.key ?? key) === key;
      });
      for (const each of fitting) each.seen += 1;
      const first = fitting.find(({ rule, seen }) => seen >= (rule.match.nth ?? 1));
      if (first === undefined) return drawn;
      first.left -= 1;
      if (first.left === 0) queue = queue.filter((each) => each !== first);
      return first.rule;
    },
  };
}

/** As it can be sent again: without the settings that its fault does not use. */
function written(rule: Rule): object {
  const settings = entryOf(rule.fault).settings.map((name) => [name, rule[name]]);
  return { fault: rule.fault, match: rule.match, times: rule.times, ...Object.fromEntries(settings) };
}

/** The same seed and rate give the same faults, in the order of the requests. */
function createDraw({ seed, rate }: Draw): () => Fault {
  const names = faultNames.filter((name) => entryOf(name).drawn === true);
  const next = createGenerator(seed);
  return () => {
    const [chance, choice, after, length] = [next(), next(), next(), next()];
    if (chance >= rate) return faultOf('none');
    const settings: Partial<Settings> = { when: after < 0.5 ? 'before' : 'after', ms: Math.floor(length * 500) };
    return faultOf(names[Math.floor(choice * names.length)] ?? 'none', settings);
  };
}

/** Mulberry32: numbers from 0 to 1, the latter excluded. */
function createGenerator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
