/**
 * Under which text is a policy hashed? What decides, without places and comments, so that moving a rule to another line
 * changes nothing. Must not hold anything that a decision does not depend on, nor leave anything out that one does.
 */
import { canonicalText } from '../canonical.ts';
import type { Json } from '../json.ts';
import type { AgentPolicy, WrittenAgent, WrittenPolicy, WrittenRule } from './policy.ts';

const writeRule = ({ effect, match, when }: WrittenRule): { readonly [key: string]: Json } => ({
  effect,
  match,
  when: when?.trim() ?? null,
});

/** The order of globs and paths means nothing. */
const writeSet = (items: readonly string[]): readonly string[] => [...new Set(items)].sort();

const writeFrame = ({ default: fallback, ceiling, redact }: WrittenAgent) => ({
  default: fallback?.effect ?? 'deny',
  ceiling: ceiling?.reach ?? null,
  redact: writeSet(redact),
});

function writeAgent(agent: WrittenAgent): Json {
  return {
    ...writeFrame(agent),
    agent: agent.agent,
    models: agent.models === null ? null : writeSet(agent.models.allow),
    // What a rule says is part of what its caller was told.
    rules: agent.rules.map((rule) => ({ ...writeRule(rule), reason: rule.reason })),
  };
}

export const canonicalAgent = (agent: WrittenAgent): string => canonicalText(writeAgent(agent));

export const canonicalPolicy = ({ mode, agents }: WrittenPolicy): string =>
  canonicalText({ mode, agents: Object.fromEntries(agents.map((agent) => [agent.agent, writeAgent(agent)])) });

/** Only what decides about one tool: other rules may come, go and move, and an approval of this one still stands. */
export const canonicalRules = (agent: WrittenAgent, rules: readonly WrittenRule[]): string =>
  canonicalText({ ...writeFrame(agent), agent: agent.agent, rules: rules.map(writeRule) });

export const canonicalFor = (policy: AgentPolicy, tool: string): string => policy.canonicalFor(tool);
