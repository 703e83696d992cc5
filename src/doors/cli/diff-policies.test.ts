import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WrittenAgent, WrittenPolicy, WrittenRule } from '../../core/policy/policy.ts';
import { diffPolicies } from './diff-policies.ts';

const rule = (effect: WrittenRule['effect'], match: string, line: number, when: string | null = null): WrittenRule => {
  return { effect, match, when, reason: null, ref: `recourse.yaml:${line}` };
};
const agent = (name: string, rules: readonly WrittenRule[], more: Partial<WrittenAgent> = {}): WrittenAgent => {
  return {
    agent: name,
    ref: 'recourse.yaml:2',
    default: null,
    rules,
    ceiling: null,
    models: null,
    redact: [],
    ...more,
  };
};
const policy = (agents: readonly WrittenAgent[], mode: WrittenPolicy['mode'] = 'enforce'): WrittenPolicy => {
  return { mode, ref: 'recourse.yaml:1', agents };
};

const one = policy([agent('bot', [rule('permit', 'a/*', 4), rule('deny', 'b/*', 5)])]);

const cases: readonly (readonly [says: string, after: WrittenPolicy | null, changes: readonly unknown[]])[] = [
  ['lines that moved are no change', policy([agent('bot', [rule('permit', 'a/*', 9), rule('deny', 'b/*', 12)])]), []],
  [
    'a rule that came is told with its place, one that went without',
    policy([agent('bot', [rule('permit', 'a/*', 4), rule('deny', 'c/*', 7, 'args.x > 1')])]),
    [{ change: 'changed', agent: 'bot', details: ['- deny b/*', '+ deny c/* when args.x > 1 (recourse.yaml:7)'] }],
  ],
  [
    'another order decides otherwise, and is told',
    policy([agent('bot', [rule('deny', 'b/*', 4), rule('permit', 'a/*', 5)])]),
    [{ change: 'changed', agent: 'bot', details: ['the rules stand in another order'] }],
  ],
  [
    'a rule that stands there twice came once',
    policy([agent('bot', [rule('permit', 'a/*', 4), rule('permit', 'a/*', 5), rule('deny', 'b/*', 6)])]),
    [{ change: 'changed', agent: 'bot', details: ['+ permit a/* (recourse.yaml:4)'] }],
  ],
  [
    'agents come and go, and the mode is for all of them',
    policy([agent('new', [], { default: { effect: 'permit', ref: 'recourse.yaml:3' } })], 'audit'),
    [
      { change: 'changed', agent: null, details: ['mode enforce → audit'] },
      { change: 'removed', agent: 'bot', details: [] },
      { change: 'added', agent: 'new', details: ['0 rules, default permit'] },
    ],
  ],
  [
    'ceiling, models, redaction and default are told one by one',
    policy([
      agent('bot', one.agents[0]?.rules ?? [], {
        default: { effect: 'permit', ref: '' },
        ceiling: { reach: 'network', ref: '' },
        models: { allow: ['opus-*'], ref: '' },
        redact: ['args.card'],
      }),
    ]),
    [
      {
        change: 'changed',
        agent: 'bot',
        details: ['default: deny → permit', 'mode: any → network', 'models: any → opus-*', 'redact:  → args.card'],
      },
    ],
  ],
];

for (const [says, after, changes] of cases)
  test(says, () => {
    assert.deepEqual(diffPolicies(one, after), changes);
    assert.deepEqual(diffPolicies(after, after), []);
  });
