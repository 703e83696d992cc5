/**
 * Judges a call by the rules of one agent: first the ceiling, then the first matching rule, then the default. A rule
 * whose condition cannot be evaluated denies. Answers that do not depend on the call are built once.
 */
import { type ApprovalTerms, defaultTerms } from '../approval/approval.ts';
import { canonicalAgent, canonicalRules } from './canonical-policy.ts';
import {
  type AgentEgress,
  type AgentPolicy,
  type CompletionRule,
  type Judgement,
  type PolicyTool,
  type Reach,
  reaches,
  type RuleCall,
  type RuleLook,
  type WrittenAgent,
  type WrittenRule,
} from './policy.ts';
import type { PolicyLimits } from './policy-limits.ts';
import type { Mask } from './redact-paths.ts';
import { type CompiledRule, createRuleIndex } from './rule-index.ts';
import { matchesTool, type ToolPattern } from './tool-pattern.ts';

export interface AgentParts {
  readonly written: WrittenAgent;
  readonly rules: readonly CompiledRule[];
  /** Null for any. */
  readonly models: readonly ToolPattern[] | null;
  readonly mask: Mask;
  readonly completion: CompletionRule | null;
  readonly quotas: Pick<AgentPolicy, 'limitsFor' | 'budgetsFor'>;
  readonly egress: AgentEgress | null;
}

export function createAgentPolicy(
  { written, rules, models, mask, completion, quotas, egress }: AgentParts,
  limits: PolicyLimits,
): AgentPolicy {
  const candidatesFor = createRuleIndex(rules, limits.maxKeptTools);
  const answers = rules.map(answerOf);
  const fallback = fallbackOf(written);
  const beyond = beyondOf(written);
  const isBeyond = ({ reach }: PolicyTool) => written.ceiling !== null && !reachesWithin(reach, written.ceiling.reach);

  const judge = (call: RuleCall): Judgement => {
    if (beyond !== null && isBeyond(call.tool)) return beyond;
    for (const rule of candidatesFor(call.tool.name)) {
      const held = rule.holds === null ? true : rule.holds(call);
      if (held === false) continue;
      return held === true ? (answers[rule.index] as Judgement) : broken(rule, held.problem);
    }
    return fallback;
  };

  const explain: AgentPolicy['explain'] = (call) => {
    const judgement = judge(call);
    if (judgement.by === 'ceiling') return { judgement, looks: [] };
    const candidates = new Set(candidatesFor(call.tool.name).map(({ index }) => index));
    const last = judgement.rule ?? rules.length - 1;
    const looks: RuleLook[] = [];
    // The one that decided is always listed, the others as far as there is room.
    for (let index = 0; index < last && looks.length < limits.maxLooks - 1; index++)
      looks.push(lookAt(index, candidates.has(index) ? 'condition_false' : 'other_tool'));
    if (judgement.rule !== null)
      looks.push({ ...lookAt(last, judgement.by === 'rule' ? 'matched' : 'broken'), problem: judgement.problem });
    else if (last >= 0) looks.push(lookAt(last, candidates.has(last) ? 'condition_false' : 'other_tool'));
    return { judgement, looks };
  };
  const lookAt = (index: number, result: RuleLook['result']): RuleLook => ({
    rule: index,
    ref: rules[index]?.written.ref ?? written.ref,
    result,
    problem: null,
  });

  return {
    written,
    judge,
    explain,
    couldPermit(tool, exactly) {
      if (isBeyond(tool)) return false;
      for (const { written: rule, holds, ofTool, pattern } of candidatesFor(tool.name)) {
        const held = holds === null ? true : ofTool ? holds(anyCallOf(tool, written.agent)) : 'depends';
        if (held === false) continue;
        // What is the same for every call has decided; one that breaks denies them all.
        const permits = rule.effect !== 'deny' && (exactly === undefined || pattern.isLiteral);
        if (held !== 'depends') return held === true && permits;
        if (permits) return true;
      }
      return exactly === undefined && fallback.effect !== 'deny';
    },
    // Whoever names no model cannot be told from one that is not permitted; only "any" lets it pass.
    permitsModel: (model) =>
      models === null ||
      models.some((pattern) => (model === null ? pattern.text === '**' : matchesTool(pattern, model))),
    mask,
    canonical: canonicalAgent(written),
    canonicalFor: (tool) =>
      canonicalRules(
        written,
        candidatesFor(tool).map((rule) => rule.written),
      ),
    completion,
    limitsFor: quotas.limitsFor,
    budgetsFor: quotas.budgetsFor,
    egress,
  };
}

/** Every call of the tool looks like this to a condition that reads nothing else of it. */
const anyCallOf = (tool: PolicyTool, name: string): RuleCall => ({
  tool,
  args: null,
  agent: { name },
  principal: { tenant: '', agent: name },
  session: { id: null, seq: 0, workflow: null },
  state: null,
  model: null,
  host: null,
  nowMs: 0,
});

/** A reach that is not known is beyond every ceiling. */
function reachesWithin(reach: Reach, ceiling: Reach): boolean {
  const rank = reaches.indexOf(reach);
  return rank >= 0 && rank <= reaches.indexOf(ceiling);
}

/** INVARIANT: what defers always says how it is to be asked for. */
const termsOf = ({ effect, terms }: Pick<WrittenRule, 'effect' | 'terms'>): ApprovalTerms | null =>
  effect === 'defer' ? (terms ?? defaultTerms) : null;

const answerOf = ({ written, index }: CompiledRule): Judgement => ({
  effect: written.effect,
  ref: written.ref,
  by: 'rule',
  reason: written.reason,
  rule: index,
  problem: null,
  terms: termsOf(written),
});

const broken = ({ written, index }: CompiledRule, problem: string): Judgement => ({
  effect: 'deny',
  ref: written.ref,
  by: 'broken_rule',
  reason: null,
  rule: index,
  problem,
  terms: null,
});

const fallbackOf = ({ default: fallback, ref }: WrittenAgent): Judgement => ({
  effect: fallback?.effect ?? 'deny',
  ref: fallback?.ref ?? ref,
  by: 'default',
  reason: null,
  rule: null,
  problem: null,
  terms: fallback === null ? null : termsOf(fallback),
});

/** Its reason is the reach that the session may not pass. */
const beyondOf = ({ ceiling }: WrittenAgent): Judgement | null =>
  ceiling === null
    ? null
    : {
        effect: 'deny',
        ref: ceiling.ref,
        by: 'ceiling',
        reason: ceiling.reach,
        rule: null,
        problem: null,
        terms: null,
      };
