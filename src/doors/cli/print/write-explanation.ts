/** Writes an explanation: the decision, each gate with what it saw, why and what would change it, then the rules. */
import type { Explanation, Rung } from '../../../core/gates/explain.ts';
import type { RuleLook } from '../../../core/policy/policy.ts';
import { isObject } from '../../../core/values/json.ts';
import { quoteWord } from '../../../core/values/quote.ts';
import { harmless, type Paint, type Style } from '../terminal.ts';

const marks: Readonly<Record<Rung['answer'], readonly [sign: string, style: Style]>> = {
  passed: ['✓', 'green'],
  refused: ['✗', 'red'],
  held: ['‖', 'yellow'],
  softened: ['~', 'yellow'],
  not_asked: ['·', 'dim'],
  absent: ['–', 'dim'],
};

const says = { not_asked: 'not asked', absent: 'absent: nothing is configured for it' } as const;
const width = 'credential'.length;
const indent = ' '.repeat(width + 6);

export function writeExplanation({ agent, tool, decision, rungs, rules, reply }: Explanation, paint: Paint): string {
  const who = `${harmless(agent)} → ${harmless(tool)}`;
  const softened = rungs.some(({ answer }) => answer === 'softened');
  const head = {
    run: paint('green', `✓ ${who}: it would run${softened ? ', because audit mode lets it pass' : ''}`),
    refuse: paint('red', `✗ ${who}: it would be refused${reply === null ? '' : `, ${reply.code}`}`),
    hold: paint('yellow', `‖ ${who}: it would be held${reply === null ? '' : `, ${reply.code}`}`),
  }[decision];
  return [
    `${head}\n`,
    reply === null ? '' : `  ${harmless(reply.message)}\n`,
    `\n${paint('bold', 'Gates')}\n`,
    ...rungs.map((rung) => writeRung(rung, paint)),
    ...writeRules(rules, paint),
  ].join('');
}

function writeRung({ gate, answer, saw, why, change }: Rung, paint: Paint): string {
  const [sign, style] = marks[answer];
  const seen = answer === 'not_asked' || answer === 'absent' ? [says[answer]] : seenLines(saw);
  return [
    `  ${paint(style, sign)} ${gate.padEnd(width)}  ${paint('dim', harmless(seen[0] ?? ''))}`.trimEnd(),
    ...seen.slice(1).map((line) => `${indent}${paint('dim', harmless(line))}`),
    ...(why === null ? [] : [`${indent}${paint('bold', 'why')}     ${harmless(why)}`]),
    ...(change === null ? [] : [`${indent}${paint('bold', 'change')}  ${harmless(change)}`]),
    '',
  ].join('\n');
}

/** Limits and budgets have a line each; everything else shares the first one. */
function seenLines(saw: Rung['saw']): readonly string[] {
  const { limits, budgets, ...rest } = saw;
  const facts = Object.entries(rest)
    .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name} ${quoteWord(value)}`);
  const quotas = [...itemsOf(limits).map(limitLine), ...itemsOf(budgets).map(budgetLine)];
  return [...(facts.length === 0 ? [] : [facts.join(' · ')]), ...quotas];
}

type Item = Readonly<Record<string, unknown>>;

const itemsOf = (list: unknown): readonly Item[] => (Array.isArray(list) ? list.filter(isObject) : []);

/** `stripe/* 10/minute: 0 left, frees in 6 s (recourse.yaml:9)`. */
function limitLine({ match, rate, left, frees_in_seconds: wait, ref }: Item): string {
  const frees = typeof wait === 'number' && wait > 0 ? `, frees in ${wait} s` : '';
  return `${String(match)} ${String(rate)}: ${String(left)} left${frees} (${String(ref)})`;
}

/** `daily $500.00: $400.00 spent, $0.00 held, $100.00 left, resets 2026-05-18T00:00:00Z (recourse.yaml:11)`. */
function budgetLine({ budget, max, spent, held, left, resets_at: at, ref }: Item): string {
  const resets = typeof at === 'string' ? `, resets ${at}` : ', never resets';
  const used =
    spent === undefined ? 'not looked at' : `${String(spent)} spent, ${String(held)} held, ${String(left)} left`;
  return `${String(budget)} ${String(max)}: ${used}${spent === undefined ? '' : resets} (${String(ref)})`;
}

const results: Readonly<Record<RuleLook['result'], readonly [says: string, style: Style]>> = {
  matched: ['matched: it decides', 'green'],
  condition_false: ['its condition is not true', 'dim'],
  broken: ['its condition cannot be evaluated, so it denies', 'red'],
  other_tool: ['about other tools', 'dim'],
};

/** Rules for other tools are only counted: there may be thousands. */
function writeRules(rules: readonly RuleLook[], paint: Paint): readonly string[] {
  if (rules.length === 0) return [];
  const looked = rules.filter(({ result }) => result !== 'other_tool');
  const others = rules.length - looked.length;
  const widest = Math.max(0, ...looked.map(({ ref }) => ref.length));
  return [
    `\n${paint('bold', 'Rules')}\n`,
    ...looked.map(({ ref, result, problem }) => {
      const [text, style] = results[result];
      const why = problem === null ? '' : ` (${harmless(problem)})`;
      return `  ${harmless(ref).padEnd(widest)}  ${paint(style, text)}${why}\n`;
    }),
    ...(looked.some(({ result }) => result !== 'condition_false') ? [] : ['  no rule matches\n']),
    ...(others === 0 ? [] : [paint('dim', `  ${others} more ${others === 1 ? 'is' : 'are'} about other tools\n`)]),
  ];
}
