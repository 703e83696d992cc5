/**
 * Counts how often each rule of a policy has decided. Reads decisions as they are on record; those of another policy,
 * and those of rules that this one does not have, are counted apart. Pure.
 */
import { isObject } from '../../values/json.ts';
import type { RuleEffect, WrittenPolicy, WrittenRule } from '../policy.ts';

/** A decision on record, as far as rules are concerned. */
export interface CountedDecision {
  readonly kind: 'prepared' | 'refused' | 'held';
  readonly agent: string;
  readonly atMs: number;
  /** How often it was decided. */
  readonly times: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface RuleCount {
  readonly agent: string;
  readonly ref: string;
  /** `default`: what decides if no rule matches. */
  readonly part: 'rule' | 'default';
  readonly effect: RuleEffect;
  /** The patterns of the line, joined by commas. */
  readonly match: string;
  ran: number;
  denied: number;
  deferred: number;
  /** It ran, because the policy is only audited. */
  softened: number;
  lastAtMs: number | null;
}

export interface Coverage {
  readonly rules: readonly RuleCount[];
  /** Decisions under this policy that none of its rules made: other gates refused, or a person. */
  other: number;
  /** Decisions under another policy. */
  elsewhere: number;
}

/** On the wire. */
export interface CoverageView {
  /** The hash of the policy in force; null without one. */
  readonly policy: string | null;
  /** The time of the oldest and of the newest decision that was read; null if there is none. */
  readonly since: string | null;
  readonly until: string | null;
  /** How many were read. */
  readonly decisions: number;
  /** False if there are older ones that were not read. */
  readonly complete: boolean;
  /** Under this policy, but decided by no rule of it: other gates, people. */
  readonly other: number;
  /** Decided under another policy; not counted for any rule. */
  readonly elsewhere: number;
  readonly rules: readonly (Omit<RuleCount, 'lastAtMs'> & { readonly last_at: string | null })[];
}

export function emptyCoverage(policy: WrittenPolicy): Coverage {
  const none = { ran: 0, denied: 0, deferred: 0, softened: 0, lastAtMs: null };
  const rules = policy.agents.flatMap((agent): readonly RuleCount[] => [
    ...byLine(agent.rules).map((rule) => ({ agent: agent.agent, part: 'rule' as const, ...rule, ...none })),
    {
      agent: agent.agent,
      ref: agent.default?.ref ?? agent.ref,
      part: 'default',
      effect: agent.default?.effect ?? 'deny',
      match: '*',
      ...none,
    },
  ]);
  return { rules, other: 0, elsewhere: 0 };
}

/** A rule with several patterns is several rules of one line; on record is the line. */
function byLine(rules: readonly WrittenRule[]): readonly Pick<RuleCount, 'ref' | 'effect' | 'match'>[] {
  const lines = new Map<string, { ref: string; effect: RuleEffect; match: string }>();
  for (const { ref, effect, match } of rules) {
    const known = lines.get(`${effect} ${ref}`);
    if (known === undefined) lines.set(`${effect} ${ref}`, { ref, effect, match });
    else known.match += `, ${match}`;
  }
  return [...lines.values()];
}

/** `hash`: of the policy that the coverage is about. */
export function countDecision(coverage: Coverage, decision: CountedDecision, hash: string): void {
  const { body, times } = decision;
  if (body['policy'] !== hash) {
    coverage.elsewhere += times;
    return;
  }
  const found = ruleOf(coverage, decision);
  if (found === null) {
    coverage.other += times;
    return;
  }
  const { rule, how } = found;
  rule[how] += times;
  rule.lastAtMs = Math.max(rule.lastAtMs ?? 0, decision.atMs);
}

type How = 'ran' | 'denied' | 'deferred' | 'softened';
const hows = { prepared: 'ran', refused: 'denied', held: 'deferred' } as const;

function ruleOf(
  { rules }: Coverage,
  { kind, agent, body }: CountedDecision,
): { readonly rule: RuleCount; readonly how: How } | null {
  const softened = kind === 'prepared' ? softenedRule(body['softened']) : null;
  const ref = softened ?? body['rule'];
  // What a person denied, or what ran out, was not decided by the rule that asked for it.
  if (typeof ref !== 'string' || (kind === 'refused' && body['gate'] !== 'policy')) return null;
  const rule = rules.find((each) => each.agent === agent && each.ref === ref);
  return rule === undefined ? null : { rule, how: softened === null ? hows[kind] : 'softened' };
}

/** The rule that would have decided if the policy were enforced. */
function softenedRule(softened: unknown): string | null {
  if (!Array.isArray(softened)) return null;
  const [first] = softened.filter((each) => isObject(each) && each['gate'] === 'policy');
  const ref: unknown = isObject(first) ? first['rule'] : null;
  return typeof ref === 'string' ? ref : null;
}
