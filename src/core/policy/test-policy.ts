/**
 * Runs the author's test cases against a policy and counts which rules decided. Pure: the time comes from the case, or
 * is fixed.
 */
import { readCondition } from '../cel/read-condition.ts';
import type { ApprovalTerms } from '../approval/approval.ts';
import type { Json } from '../values/json.ts';
import type { AgentPolicy, Judgement, Policy, PolicyTool, RuleCall, RuleEffect, RuleLook } from './policy.ts';
import { compileToolPattern, matchesTool } from './tool-pattern.ts';

export const caseCodes = ['POLICY_DENY', 'POLICY_DEFER', 'MODEL_DENIED'] as const;
export type CaseCode = (typeof caseCodes)[number];

export interface PolicyCase {
  readonly name: string;
  /** `file:line` of the case. */
  readonly ref: string;
  readonly agent: string;
  readonly tool: string;
  readonly args: Json;
  readonly model: string | null;
  readonly session: { readonly seq: number; readonly workflow: string | null };
  readonly state: Json;
  /** Null for `standardNowMs`. */
  readonly nowMs: number | null;
  readonly expect: RuleEffect;
  readonly code: CaseCode | null;
  /** `file:line`, or the line alone, of what should decide; null if that does not matter. */
  readonly rule: string | number | null;
}

/** A test must not depend on the day: where a case names no instant it is noon of 2026-01-01, UTC. */
export const standardNowMs = 1_767_268_800_000;

export interface CaseDecision {
  readonly effect: RuleEffect;
  /** Null for what is permitted. */
  readonly code: CaseCode | null;
  readonly ref: string;
  readonly by: Judgement['by'] | 'models';
  readonly reason: string | null;
  readonly problem: string | null;
  /** Who would be asked; null unless it defers. */
  readonly terms: ApprovalTerms | null;
}

export interface CaseResult {
  readonly test: PolicyCase;
  /** Empty if it decided as it should. */
  readonly wrong: readonly string[];
  readonly decision: CaseDecision;
  /** Every rule for this tool that was looked at, in order. */
  readonly looks: readonly RuleLook[];
  /** A rule for this tool reads `now`, and the case says nothing about it. */
  readonly assumedNow: boolean;
}

export interface RuleCoverage {
  readonly ref: string;
  readonly effect: RuleEffect;
  /** The pattern; null for the default. */
  readonly match: string | null;
  /** How many cases it decided. */
  readonly decided: number;
}

export interface AgentCoverage {
  readonly agent: string;
  readonly rules: readonly RuleCoverage[];
}

export interface PolicyTestReport {
  readonly results: readonly CaseResult[];
  /** One entry for each agent, whether or not a case is about it. */
  readonly coverage: readonly AgentCoverage[];
}

/** What is known of a tool beside its name. */
export interface CaseTool extends PolicyTool {
  readonly host: string | null;
}

export function testPolicy(
  policy: Policy,
  cases: readonly PolicyCase[],
  toolNamed: (name: string) => CaseTool,
  tenant = 'default',
): PolicyTestReport {
  const counts = new Map<string, number>();
  const results = cases.map((test): CaseResult => {
    const agent = policy.agents.get(test.agent);
    if (agent === undefined) return ofNobody(test, policy.written.ref);
    const { judgement, looks } = agent.explain(callOf(test, toolNamed(test.tool), tenant));
    const decision = decisionOf(agent, judgement, test.model);
    // A rule that broke has not shown what it does.
    if (decision.by === 'rule' || decision.by === 'default')
      count(counts, `${test.agent} ${judgement.rule ?? 'default'}`);
    return {
      test,
      wrong: differences(test, decision, agent),
      decision,
      looks: looks.filter(({ result }) => result !== 'other_tool'),
      assumedNow: test.nowMs === null && readsNow(agent, test.tool),
    };
  });
  return { results, coverage: [...policy.agents].map(([name, agent]) => coverageOf(name, agent, counts)) };
}

function callOf(test: PolicyCase, { host, ...tool }: CaseTool, tenant: string): RuleCall {
  const { agent, args, session, state, model } = test;
  return {
    tool,
    args,
    agent: { name: agent },
    principal: { tenant, agent },
    session: { id: session.workflow === null ? null : 'ses_test', ...session },
    state,
    model,
    host,
    nowMs: test.nowMs ?? standardNowMs,
  };
}

/** The model is asked about after the rules: what they deny is denied by them. */
function decisionOf(agent: AgentPolicy, judgement: Judgement, model: string | null): CaseDecision {
  const { effect, ref, by, reason, problem, terms } = judgement;
  const { models } = agent.written;
  if (effect !== 'deny' && models !== null && !agent.permitsModel(model))
    return { effect: 'deny', code: 'MODEL_DENIED', ref: models.ref, by: 'models', ...unsaid };
  const code = ({ permit: null, defer: 'POLICY_DEFER', deny: 'POLICY_DENY' } as const)[effect];
  return { effect, code, ref, by, reason, problem, terms };
}

const unsaid = { reason: null, problem: null, terms: null } as const;

function ofNobody(test: PolicyCase, ref: string): CaseResult {
  const decision = { effect: 'deny', code: 'POLICY_DENY', ref, by: 'default', ...unsaid } as const;
  return { test, wrong: [`there is no agent '${test.agent}'`], decision, looks: [], assumedNow: false };
}

function differences(test: PolicyCase, decision: CaseDecision, agent: AgentPolicy): readonly string[] {
  const { expect, code, rule } = test;
  return [
    ...(expect === decision.effect ? [] : [`${expect} was expected, and it was decided to ${decision.effect}`]),
    ...(code === null || code === decision.code
      ? []
      : [`the code ${code} was expected, and it is ${decision.code ?? 'none'}`]),
    ...(rule === null || isAt(decision.ref, rule)
      ? []
      : [`${shown(rule)} was expected to decide, and it was ${decision.ref}${hint(agent, rule)}`]),
  ];
}

const shown = (rule: string | number): string => (typeof rule === 'number' ? `line ${rule}` : rule);

/** A case may name the file as it is seen from the file's own folder. */
function isAt(ref: string, rule: string | number): boolean {
  if (typeof rule === 'number') return ref.endsWith(`:${rule}`);
  return ref === rule || ref.endsWith(`/${rule}`);
}

function hint({ written }: AgentPolicy, rule: string | number): string {
  const places = [written.ref, written.default?.ref, written.ceiling?.ref, written.models?.ref];
  const refs = [...written.rules.map(({ ref }) => ref), ...places];
  return refs.some((ref) => ref !== undefined && isAt(ref, rule))
    ? ''
    : `; nothing that decides stands at ${shown(rule)}`;
}

function readsNow({ written }: AgentPolicy, tool: string): boolean {
  return written.rules.some(({ match, when }) => {
    if (when === null || !when.includes('now')) return false;
    const compiled = compileToolPattern(match);
    return compiled.ok && matchesTool(compiled.pattern, tool) && readCondition(when)?.reads.has('now') === true;
  });
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function coverageOf(name: string, { written }: AgentPolicy, counts: ReadonlyMap<string, number>): AgentCoverage {
  const decided = (key: string | number) => counts.get(`${name} ${key}`) ?? 0;
  const last = written.default ?? { effect: 'deny' as const, ref: written.ref };
  return {
    agent: name,
    rules: [
      ...written.rules.map(({ ref, effect, match }, index) => ({ ref, effect, match, decided: decided(index) })),
      { ...last, match: null, decided: decided('default') },
    ],
  };
}
