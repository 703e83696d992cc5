/**
 * Which rules came, went, changed or moved, and may more pass by that? Rules are known again by their words. Whether one that came
 * or went weakens is judged by what decided about its tools before, or decides after, as far as patterns can tell.
 */
import { defaultTerms } from '../../approval.ts';
import type { Json } from '../../json.ts';
import { spellOut } from '../../quote.ts';
import { covers } from '../pattern-covers.ts';
import { compileToolPattern, matchesTool, type ToolPattern } from '../tool-pattern.ts';
import { diffFields, effectRanks, type Fields, isFields, ruleTable, termsTable } from './diff-fields.ts';
import type { Direction, PolicyDetail } from './policy-change.ts';

/** The rules of one agent as they are hashed, and where each stands. */
export interface RuleList {
  readonly rules: readonly Fields[];
  readonly default: Json | undefined;
  readonly refOf: (index: number) => string;
}

type Placed = readonly [rule: Fields, index: number];
type Pair = readonly [was: Placed, is: Placed];

export function diffRules(was: RuleList, is: RuleList): readonly PolicyDetail[] {
  const work = createWork();
  const placed = ({ rules }: RuleList): readonly Placed[] => rules.map((rule, index) => [rule, index] as const);
  const same = pairUp(placed(was), placed(is), (rule) => JSON.stringify(rule));
  const reworded = pairUp(same.gone, same.come, ({ match, when }) => JSON.stringify([match, when]));
  const narrowed = pairUp(reworded.gone, reworded.come, ({ effect, match }) => JSON.stringify([effect, match]));
  const changed = [...reworded.pairs, ...narrowed.pairs];
  return [
    ...changed.flatMap(([[before], [after, at]]) => diffRule(before, after, { was, is, ref: is.refOf(at), work })),
    ...narrowed.gone.map(([rule]) => ({ says: `- ${textOf(rule)}`, direction: gone(rule, is, work) })),
    ...narrowed.come.map(([rule, at]) => ({
      says: `+ ${textOf(rule)} (${is.refOf(at)})`,
      direction: come(rule, was, work),
    })),
    ...diffOrder([...same.pairs, ...changed], work),
  ];
}

/** In order; of several with one key the first goes with the first. */
function pairUp(was: readonly Placed[], is: readonly Placed[], keyOf: (rule: Fields) => string) {
  const waiting = new Map<string, Placed[]>();
  for (const each of is) {
    const key = keyOf(each[0]);
    const others = waiting.get(key);
    if (others === undefined) waiting.set(key, [each]);
    else others.push(each);
  }
  const pairs: Pair[] = [];
  const gone = was.filter((each) => {
    const found = waiting.get(keyOf(each[0]))?.shift();
    if (found !== undefined) pairs.push([each, found]);
    return found === undefined;
  });
  const met = new Set(pairs.map(([, [, index]]) => index));
  return { pairs, gone, come: is.filter(([, index]) => !met.has(index)) };
}

interface Around {
  readonly was: RuleList;
  readonly is: RuleList;
  readonly ref: string;
  readonly work: Work;
}

function diffRule(before: Fields, after: Fields, { was, is, ref, work }: Around): readonly PolicyDetail[] {
  const { when: old, ...rest } = before;
  const { when: now, ...others } = after;
  const head = `${String(after['effect'])} ${spellOut(String(after['match']))}`;
  const asked = old !== now ? [{ says: `when: ${whenText(old)} → ${whenText(now)}`, direction: whenWay() }] : [];
  // How another effect wants to be asked for is no change of its own.
  const isOther = rest['effect'] !== others['effect'];
  const { terms: _was, ...effectBefore } = rest;
  const { terms: _is, ...effectAfter } = others;
  const told = isOther ? diffFields(effectBefore, effectAfter, ruleTable) : diffFields(rest, others, ruleTable);
  return [...asked, ...told].map(({ says, direction }) => ({
    says: `${head}: ${says.replace(/^terms: /, '')} (${ref})`,
    direction,
  }));

  /** With a condition a rule leaves calls to others that it had decided, without one it takes them. */
  function whenWay(): Direction {
    if (old === null) return gone(before, is, work);
    return now === null ? come(after, was, work) : 'other';
  }
}

const whenText = (value: Json | undefined): string => (typeof value === 'string' ? spellOut(value) : 'always');

const rankOf = (effect: unknown): number => effectRanks.indexOf(effect as 'deny');

function gone(rule: Fields, is: RuleList, work: Work): Direction {
  const after = effectsFor(rule, is, work);
  if (after.some((each) => each > rankOf(rule['effect']))) return 'weaker';
  return after.every((each) => each < rankOf(rule['effect'])) ? 'stronger' : 'other';
}

function come(rule: Fields, was: RuleList, work: Work): Direction {
  const before = effectsFor(rule, was, work);
  if (before.some((each) => each < rankOf(rule['effect']))) return 'weaker';
  return before.every((each) => each > rankOf(rule['effect'])) ? 'stronger' : 'other';
}

/** What may decide about the tools of a rule: up to one that always does, or to the default. Once too much was compared, anything. */
function effectsFor({ match }: Fields, { rules, default: otherwise }: RuleList, work: Work): readonly number[] {
  const about = work.patternOf(match);
  work.left -= rules.length;
  if (about === null || work.left < 0) return [...effectRanks.keys()];
  const found = new Set<number>();
  for (const rule of rules) {
    const pattern = work.patternOf(rule['match']);
    if (pattern === null || !mayMeet(pattern, about)) continue;
    found.add(rankOf(rule['effect']));
    if (rule['when'] === null && isCovered(about, pattern, work)) return [...found];
  }
  return [...found.add(rankOf(otherwise))];
}

/** How much one difference compares, so that telling it stays quick however many rules there are. */
interface Work {
  left: number;
  readonly patternOf: (match: Json | undefined) => ToolPattern | null;
}

const maxWork = 300_000;
const coverSteps = 200;

function createWork(): Work {
  const known = new Map<string, ToolPattern | null>();
  const patternOf = (match: Json | undefined): ToolPattern | null => {
    const text = String(match);
    const found = known.get(text);
    if (found !== undefined) return found;
    const compiled = compileToolPattern(text);
    const pattern = compiled.ok ? compiled.pattern : null;
    known.set(text, pattern);
    return pattern;
  };
  return { left: maxWork, patternOf };
}

function isCovered(about: ToolPattern, by: ToolPattern, work: Work): boolean {
  if (by.text === '**' || by.text === about.text) return true;
  if (about.isLiteral) return matchesTool(by, about.text);
  if (by.isLiteral) return false;
  work.left -= coverSteps;
  return work.left >= 0 && covers(by, about, coverSteps).covers === 'yes';
}

/** False only where no tool has a name that both match. */
function mayMeet(one: ToolPattern, other: ToolPattern): boolean {
  if (one.isLiteral) return matchesTool(other, one.text);
  if (other.isLiteral) return matchesTool(one, other.text);
  const [a = '', b = ''] = [one, other].map(({ text }) => text.split('*', 1)[0]);
  return a.startsWith(b) || b.startsWith(a);
}

/** So many rules are compared one by one. */
const maxCompared = 300;
const maxTold = 5;

function diffOrder(pairs: readonly Pair[], work: Work): readonly PolicyDetail[] {
  const inOrder = pairs.toSorted(([[, a]], [[, b]]) => a - b);
  const isMoved = inOrder.some(([, [, at]], index) => at < (inOrder[index - 1]?.[1][1] ?? -1));
  if (!isMoved) return [];
  const behind: PolicyDetail[] = [];
  for (const [index, [, [rule, at]]] of inOrder.slice(0, maxCompared).entries())
    for (const [, [later, now]] of inOrder.slice(index + 1, maxCompared))
      if (now < at && rankOf(later['effect']) > rankOf(rule['effect']) && meet(rule, later, work))
        behind.push({ says: `${textOf(rule)} stands behind ${textOf(later)} now`, direction: 'weaker' });
  return behind.length > 0 && behind.length <= maxTold
    ? behind
    : [{ says: 'the rules stand in another order', direction: behind.length > 0 ? 'weaker' : 'other' }];
}

function meet(one: Fields, other: Fields, { patternOf }: Work): boolean {
  const [a, b] = [patternOf(one['match']), patternOf(other['match'])];
  return a === null || b === null || mayMeet(a, b);
}

/** As it is written, with how it asks where that is not the usual way. */
function textOf({ effect, match, when, reason, terms }: Fields): string {
  const asks = isFields(terms) ? diffFields({ ...defaultTerms }, terms, termsTable) : [];
  return [
    `${String(effect)} ${spellOut(String(match))}`,
    typeof when === 'string' ? `when ${spellOut(when)}` : '',
    ...asks.map(({ says }) => says.replace(/: .* → /, ' ')),
    typeof reason === 'string' ? `reason '${spellOut(reason)}'` : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
}
