/**
 * Decides whether a change of rules permits more, or on weaker terms. Compares the answers before and after, as far as
 * patterns and condition texts tell.
 */
import type { Json } from '../../values/json.ts';
import { covers } from '../pattern-covers.ts';
import { compileToolPattern, matchesTool, type ToolPattern } from '../tool-pattern.ts';
import { diffFields, effectRanks, type Fields, ruleTable } from './diff-fields.ts';
import type { Direction } from './policy-change.ts';

/** The rules of one agent as they are hashed, what answers where none of them does, and where each stands. */
export interface RuleList {
  readonly rules: readonly Fields[];
  readonly otherwise: Fields;
  readonly refOf: (index: number) => string;
}

export type Placed = readonly [rule: Fields, index: number];

/** How much one difference compares, so that telling it stays quick however many rules there are. */
export interface Work {
  left: number;
  readonly patternOf: (match: Json | undefined) => ToolPattern | null;
}

const maxWork = 300_000;
const coverSteps = 200;
const termsSteps = 20;

export function createWork(): Work {
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

/** Two lists of one agent, and the rule that the judged one became, or was, in the other list; null for none. */
export interface Lists {
  readonly own: RuleList;
  readonly other: RuleList;
  readonly partner: number | null;
  readonly work: Work;
}

/** Of what a rule of the old list decides no longer. */
export function judgeGone(placed: Placed, lists: Lists): Direction {
  return judge(answersTo(placed, lists), (answer) => wayOf(placed[0], answer));
}

/** Of what a rule of the new list decides from now on. */
export function judgeCome(placed: Placed, lists: Lists): Direction {
  return judge(answersTo(placed, lists), (answer) => wayOf(answer, placed[0]));
}

/**
 * Of the calls that both rules match, when the one that stood behind stands in front now. Null if they are no weaker.
 */
export function judgeOvertaken([was]: Placed, [is]: Placed, work: Work): 'weaker' | 'maybe_weaker' | null {
  work.left -= termsSteps;
  const way = wayOf(was, is);
  if (way !== 'weaker' && way !== 'maybe_weaker') return null;
  const [one, other] = [work.patternOf(was['match']), work.patternOf(is['match'])];
  const meets = one === null || other === null ? 'maybe' : meeting(one, other, work);
  if (meets === 'no') return null;
  const together = was['when'] === null || is['when'] === null || was['when'] === is['when'];
  return meets === 'yes' && together ? way : 'maybe_weaker';
}

/** Whether one before it always decides what it would. */
export function isShadowed([rule, at]: Placed, { rules }: RuleList, work: Work): boolean {
  const about = work.patternOf(rule['match']);
  work.left -= at;
  if (about === null || work.left < 0) return false;
  return rules.slice(0, at).some(({ when, match }) => {
    const by = when === null ? work.patternOf(match) : null;
    return by !== null && isCovered(about, by, work);
  });
}

interface Answer {
  readonly of: Fields;
  /** Some call is known to get it; otherwise it is only not known that none does. */
  readonly isSure: boolean;
}

/** What the other list answers to calls that the rule decides in its own. Once too much was compared, anything. */
function answersTo([rule, at]: Placed, { own, other, partner, work }: Lists): readonly Answer[] {
  const about = work.patternOf(rule['match']);
  work.left -= at + other.rules.length;
  if (about === null || work.left < 0) return effectRanks.map((effect) => ({ of: { effect }, isSure: false }));
  if (isShadowed([rule, at], own, work)) return [];
  // Calls that come to the rule were matched by none before it, so none that is alike matches them in the other list.
  const passed = new Set(own.rules.slice(0, at).map(callsOf));
  const asked = [...other.rules.entries()].flatMap(([index, each]) =>
    index === partner || passed.has(callsOf(each)) ? [] : [each],
  );
  return answersAmong(asked, { about, when: rule['when'], hasPartner: partner !== null }, other.otherwise, work);
}

/** The calls that are asked about: of which tools, and under which condition. */
interface Asked {
  readonly about: ToolPattern;
  readonly when: Fields['when'];
  readonly hasPartner: boolean;
}

function answersAmong(
  rules: readonly Fields[],
  { about, when, hasPartner }: Asked,
  otherwise: Fields,
  work: Work,
): readonly Answer[] {
  // With a partner, the calls are those that only one of the two matches.
  const isAll = when === null && !hasPartner;
  const found: Answer[] = [];
  let isSure = true;
  for (const each of rules) {
    const pattern = work.patternOf(each['match']);
    const meets = pattern === null ? 'maybe' : meeting(pattern, about, work);
    if (meets === 'no') continue;
    const always = each['when'] === null || (!hasPartner && each['when'] === when);
    found.push({ of: each, isSure: isSure && meets === 'yes' && (always || isAll) });
    if (always && pattern !== null && isCovered(about, pattern, work)) return found;
    isSure &&= always || isAll;
  }
  return [...found, { of: otherwise, isSure }];
}

const callsOf = ({ match, when }: Fields): string => JSON.stringify([match, when]);

type Way = Direction | 'same';

function judge(answers: readonly Answer[], way: (answer: Fields) => Way): Direction {
  const ways = answers.map(({ of, isSure }) => ({ is: way(of), isSure }));
  if (ways.some(({ is, isSure }) => is === 'weaker' && isSure)) return 'weaker';
  if (ways.some(({ is }) => is === 'weaker' || is === 'maybe_weaker')) return 'maybe_weaker';
  return ways.length > 0 && ways.every(({ is }) => is === 'stronger') ? 'stronger' : 'other';
}

/**
 * From one answer to another: by effect, and between two that defer by their terms. One term that is weaker is enough.
 */
function wayOf({ effect: was, terms: before }: Fields, { effect: is, terms: after }: Fields): Way {
  const told =
    was === is
      ? diffFields({ terms: before }, { terms: after }, ruleTable)
      : diffFields({ effect: was }, { effect: is }, ruleTable);
  if (told.length === 0) return 'same';
  const has = (direction: Direction): boolean => told.some((each) => each.direction === direction);
  if (has('weaker')) return 'weaker';
  return has('other') ? 'maybe_weaker' : 'stronger';
}

function isCovered(about: ToolPattern, by: ToolPattern, work: Work): boolean {
  if (by.text === '**' || by.text === about.text) return true;
  if (about.isLiteral) return matchesTool(by, about.text);
  if (by.isLiteral) return false;
  work.left -= coverSteps;
  return work.left >= 0 && covers(by, about, coverSteps).covers === 'yes';
}

/** Whether there is a name that both match. */
function meeting(one: ToolPattern, other: ToolPattern, work: Work): 'yes' | 'maybe' | 'no' {
  if (one.isLiteral) return matchesTool(other, one.text) ? 'yes' : 'no';
  if (other.isLiteral) return matchesTool(one, other.text) ? 'yes' : 'no';
  const [a = '', b = ''] = [one, other].map(({ text }) => text.split('*', 1)[0]);
  if (!a.startsWith(b) && !b.startsWith(a)) return 'no';
  return isCovered(one, other, work) || isCovered(other, one, work) ? 'yes' : 'maybe';
}
