/** Policies as tests need them: rules as a list, each at a line of its own, and what a denial looks like. */
import assert from 'node:assert/strict';
import { compilePolicy } from '../../src/core/policy/compile-policy.ts';
import type { Policy, WrittenAgent, WrittenRule } from '../../src/core/policy/policy.ts';
import { errorOf } from './check-reply.ts';

export type Said = readonly [effect: WrittenRule['effect'], match: string, more?: { when?: string; reason?: string }];

/** The rule on line n of the list stands at `recourse.yaml:n`, counted from 10. */
export function anAgent(agent: string, said: readonly Said[], more: Partial<WrittenAgent> = {}): WrittenAgent {
  const rules = said.map(([effect, match, { when = null, reason = null } = {}], index) => ({
    effect,
    match,
    when,
    reason,
    ref: `recourse.yaml:${10 + index}`,
  }));
  const nothing = { default: null, ceiling: null, models: null, redact: [] };
  return { agent, ref: 'recourse.yaml:5', rules, ...nothing, ...more };
}

export function aPolicy(agents: readonly WrittenAgent[], mode: 'enforce' | 'audit' = 'enforce'): Policy {
  const compiled = compilePolicy({ mode, ref: 'recourse.yaml:4', agents }, null);
  assert.ok(compiled.ok, JSON.stringify(compiled));
  return compiled.policy;
}

export function denialOf(reply: unknown) {
  const denied = errorOf(reply as never, 'denied');
  assert.equal(denied.effect, 'none');
  assert.deepEqual(denied.resolution, { type: 'rule_block', rule_id: denied.rule_ref });
  return denied;
}
