/** Finds rules whose condition is never true, proven by contradictions inside it or with a schema. */
import { matchesTool } from '../tool-pattern.ts';
import type { Callable } from './callable.ts';
import type { Conflict } from './contradict.ts';
import { knownValues } from './known-values.ts';
import type { PolicyFinding } from './policy-analysis.ts';
import type { ProofWork } from './proof-work.ts';
import { conditionOf, type ReadRule } from './read-rules.ts';

export function findNeverMatching(
  agent: string,
  rules: readonly ReadRule[],
  callables: readonly Callable[] | null,
  work: ProofWork,
): readonly PolicyFinding[] {
  return rules.flatMap((rule): PolicyFinding[] => {
    if (rule.written.when === null || rule.always === 'true') return [];
    if (rule.always === 'broken') return [foundBroken(agent, rule)];
    const conflicts = conflictsOf(agent, rule, callables, work);
    return conflicts === null ? [] : [found(agent, rule, conflicts)];
  });
}

function conflictsOf(
  agent: string,
  rule: ReadRule,
  callables: readonly Callable[] | null,
  work: ProofWork,
): readonly Conflict[] | null {
  const condition = conditionOf(rule);
  if (condition === null) return null;
  const ask = (callable: Callable | null) =>
    work.impossible([{ condition, holds: true }], knownValues(agent, callable), rule.written.ref);
  const always = ask(null);
  if (always !== null || callables === null) return always;
  const matching = callables.filter(({ tool }) => matchesTool(rule.pattern, tool.name));
  const answers = matching.map(ask);
  // For every tool that it matches, or it is not proven at all.
  return answers.length === 0 || answers.includes(null) ? null : answers.flatMap((each) => each ?? []);
}

function found(agent: string, { index, written, always }: ReadRule, conflicts: readonly Conflict[]): PolicyFinding {
  const unique = [...new Map(conflicts.map((each) => [sayConflict(each), each])).values()];
  const mayBreak = always === 'depends';
  return {
    kind: 'never_matches',
    severity: 'error',
    agent,
    rule: index,
    refs: [written.ref],
    message: `${written.effect} ${written.match} never matches: its condition is never true${mayBreak ? ', it can only break' : ''}`,
    fix: 'correct the condition, or delete the rule',
    counterexample: {
      kind: 'conflict',
      says: unique.map(sayConflict).join('; '),
      groups: unique.map(({ texts }) => texts),
    },
    mayBreak,
  };
}

function foundBroken(agent: string, { index, written }: ReadRule): PolicyFinding {
  return {
    kind: 'never_matches',
    severity: 'error',
    agent,
    rule: index,
    refs: [written.ref],
    message: `${written.effect} ${written.match} never matches: its condition breaks on every call, and so denies it`,
    fix: 'correct the condition, or write a rule that denies',
    counterexample: { kind: 'conflict', says: `\`${written.when}\` has no value`, groups: [[written.when ?? '']] },
    mayBreak: true,
  };
}

function sayConflict({ texts, known }: Conflict): string {
  const said = texts.map((text) => `\`${text}\``);
  if (known !== null) return `${said.join(' and ')} cannot be: ${known}`;
  return said.length === 1 ? `${said[0]} is never true` : `${said.join(' and ')} exclude each other`;
}
