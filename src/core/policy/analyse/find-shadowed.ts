/**
 * Finds rules that never decide because earlier rules always do. Proven by one covering rule, by several together over
 * the known tools, or by conditions.
 */
import { matchesTool } from '../tool-pattern.ts';
import type { Callable } from './callable.ts';
import type { KnownValues, Wanted } from './contradict.ts';
import { knownValues } from './known-values.ts';
import type { PolicyFinding } from './policy-analysis.ts';
import type { ProofWork } from './proof-work.ts';
import { conditionOf, decidesAlways, type ReadRule } from './read-rules.ts';
import type { Condition } from '../../cel/condition.ts';

interface Deciders {
  readonly rules: readonly ReadRule[];
  /** Neither does it match nor break. */
  readonly strict: boolean;
  /** Only for the tools that are known; others may come. */
  readonly forKnown?: true;
}

/** So many rules with conditions are compared with one after them, the nearest ones. */
const maxJoined = 8;

export function findShadowed(
  agent: string,
  rules: readonly ReadRule[],
  callables: readonly Callable[] | null,
  work: ProofWork,
): readonly PolicyFinding[] {
  const earlierThan = indexByPattern(rules, work);
  const matchingTool = indexByTool(rules);
  return rules.flatMap((rule): PolicyFinding[] => {
    const anyTool = decidersOf(rule, earlierThan(rule), knownValues(agent, null), work);
    if (anyTool !== null) return [found(agent, rule, anyTool, work.nameFor(rule.pattern))];
    // What denies everything else is written for tools that nobody knows yet.
    if (rule.written.effect === 'deny' && rule.pattern.text === '**') return [];
    const matching = (callables ?? []).filter(({ tool }) => matchesTool(rule.pattern, tool.name));
    const [first] = matching;
    if (first === undefined) return [];
    const all: Deciders[] = [];
    for (const callable of matching) {
      const earlier = matchingTool(callable.tool.name).filter(({ index }) => index < rule.index);
      const here = decidersOf(rule, earlier, knownValues(agent, callable), work);
      if (here === null) return [];
      all.push(here);
    }
    const deciding = byIndex(all.flatMap((each) => each.rules));
    const joined = { rules: deciding, strict: all.every(({ strict }) => strict), forKnown: true } as const;
    return [found(agent, rule, joined, first.tool.name)];
  });
}

/** The rules before one that can decide and match every name it matches; none once too many were compared. */
function indexByPattern(rules: readonly ReadRule[], work: ProofWork): (rule: ReadRule) => readonly ReadRule[] {
  const deciding = rules.filter(({ always }) => always !== 'false');
  const globs = deciding.filter(({ pattern }) => !pattern.isLiteral);
  const literals = new Map<string, ReadRule[]>();
  for (const rule of deciding) {
    if (!rule.pattern.isLiteral) continue;
    const same = literals.get(rule.pattern.text);
    if (same === undefined) literals.set(rule.pattern.text, [rule]);
    else same.push(rule);
  }
  return (rule) => {
    if (!work.mayCompare(globs.length)) return [];
    const wider = globs.filter(({ index, pattern }) => index < rule.index && work.covers(pattern, rule.pattern));
    const twins = rule.pattern.isLiteral ? (literals.get(rule.pattern.text) ?? []) : [];
    const same = twins.filter(({ index }) => index < rule.index);
    return same.length === 0 ? wider : byIndex([...same, ...wider]);
  };
}

/** The rules that match a tool and can decide. */
function indexByTool(rules: readonly ReadRule[]): (name: string) => readonly ReadRule[] {
  const kept = new Map<string, readonly ReadRule[]>();
  return (name) => {
    const known = kept.get(name);
    if (known !== undefined) return known;
    const found = rules.filter(({ pattern, always }) => always !== 'false' && matchesTool(pattern, name));
    kept.set(name, found);
    return found;
  };
}

/** Null unless it is proven that one of those before it decides whatever this one would. */
function decidersOf(
  rule: ReadRule,
  earlier: readonly ReadRule[],
  known: KnownValues,
  work: ProofWork,
): Deciders | null {
  if (!work.mayCompare(earlier.length)) return null;
  const certain = earlier.find((before) => decidesAlways(before) || settlesFirst(before, rule));
  if (certain !== undefined) return { rules: [certain], strict: true };
  const condition = conditionOf(rule);
  if (condition === null || earlier.length === 0) return null;
  const wanted: Wanted = { condition, holds: true };
  const others = earlier.slice(-maxJoined).flatMap((before) => {
    const asked = conditionOf(before);
    return asked === null ? [] : [{ before, refused: { condition: asked, holds: false } }];
  });
  const impossible = (refused: readonly Wanted[]) =>
    work.impossible([wanted, ...refused], known, rule.written.ref) !== null;
  const alone = others.find(({ refused }) => impossible([refused]));
  if (alone !== undefined) return { rules: [alone.before], strict: false };
  if (others.length < 2 || !impossible(others.map(({ refused }) => refused))) return null;
  // What is not needed for the proof is not named.
  let needed = others;
  for (const each of others) {
    const without = needed.filter((other) => other !== each);
    if (without.length > 0 && impossible(without.map(({ refused }) => refused))) needed = without;
  }
  return { rules: needed.map(({ before }) => before), strict: false };
}

const byIndex = (rules: readonly ReadRule[]): readonly ReadRule[] =>
  [...new Set(rules)].sort((a, b) => a.index - b.index);

function found(agent: string, rule: ReadRule, { rules, strict, forKnown }: Deciders, tool: string): PolicyFinding {
  const { written, index, pattern } = rule;
  const refs = rules.map((each) => each.written.ref);
  const shown = rules.map((each) => `${each.written.effect} ${each.written.match} (${each.written.ref})`);
  const changes = rules.some(({ always, written: { effect } }) => {
    return (always === 'broken' ? 'deny' : effect) !== written.effect;
  });
  const first = refs[0] ?? '';
  const scope = forKnown === undefined || pattern.isLiteral ? '' : ', for all tools there are';
  const before = rules.length === 1 ? 'always decides first' : 'together always decide first';
  return {
    kind: 'shadowed_rule',
    severity: changes && (forKnown === undefined || pattern.isLiteral) ? 'error' : 'warning',
    agent,
    rule: index,
    refs: [written.ref, ...refs],
    message: `${written.effect} ${written.match} never decides: ${shown.join(' and ')} ${before}${scope}`,
    fix: changes ? `move it before ${first}, or delete it` : 'delete it: it changes nothing',
    counterexample: {
      kind: 'rules',
      says: `a call of ${tool} is decided at ${refs.join(' or ')} and never comes to ${written.ref}`,
      tool,
      decidedBy: refs,
    },
    mayBreak: !strict,
  };
}

function settlesFirst(earlier: ReadRule, later: ReadRule): boolean {
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
