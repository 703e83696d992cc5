/**
 * Policies for tests, in short: `permit stripe/* if args.amount < 5`, each rule on a line of its own from
 * recourse.yaml:10 on.
 */
import assert from 'node:assert/strict';
import { compilePolicy } from '../../src/core/policy/compile-policy.ts';
import type {
  Policy,
  RuleCall,
  RuleEffect,
  ToolShape,
  WrittenAgent,
  WrittenRule,
} from '../../src/core/policy/policy.ts';

const firstLine = 10;

export const refOfRule = (index: number): string => `recourse.yaml:${firstLine + index}`;

export function writtenRule(text: string, index: number): WrittenRule {
  const [, effect, match = '', when] = /^(permit|defer|deny) (\S+)(?: if (.+))?$/s.exec(text) ?? [];
  assert.ok(effect !== undefined, text);
  return { effect: effect as RuleEffect, match, when: when ?? null, reason: null, ref: refOfRule(index) };
}

export function writtenAgent(rules: readonly string[], more: Partial<WrittenAgent> = {}): WrittenAgent {
  return {
    agent: 'clerk',
    ref: 'recourse.yaml:8',
    default: null,
    rules: rules.map(writtenRule),
    ceiling: null,
    models: null,
    redact: [],
    ...more,
  };
}

export function policyOf(agents: readonly WrittenAgent[], shapes: readonly ToolShape[] | null = null): Policy {
  const compiled = compilePolicy({ mode: 'enforce', ref: 'recourse.yaml:7', agents }, shapes);
  assert.ok(compiled.ok, JSON.stringify(compiled));
  return compiled.policy;
}

/** A call as rules see it. */
export function ruleCall(name: string, more: Partial<RuleCall> = {}): RuleCall {
  return {
    tool: { name, effect: 'plain', reach: 'network', annotations: {} },
    args: {},
    agent: { name: 'clerk' },
    principal: { tenant: 'default', agent: 'clerk' },
    session: { id: null, seq: 0, workflow: null },
    state: null,
    model: null,
    host: null,
    nowMs: 0,
    ...more,
  };
}
