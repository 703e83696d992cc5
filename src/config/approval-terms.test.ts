import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileConfigPolicy } from './compile-config-policy.ts';
import { readConfig } from './read-config.ts';

/** With the checks of the whole policy. */
function checkedIn(text: string) {
  const read = readConfig(text, 'f', { env: {}, lock: null });
  compileConfigPolicy(read, null);
  const say = ({ line, column, message }: { line: number; column: number; message: string }) =>
    `${line}:${column} ${message}`;
  return { problems: read.allProblems().map(say), warnings: read.allWarnings().map(say) };
}

const wrong: readonly (readonly [what: string, agent: string, problem: string])[] = [
  [
    'a number of people of a rule that permits',
    'rules: [{ permit: x, needs: 2 }]',
    "2:29 'needs' has no meaning with permit",
  ],
  [
    'a client that may approve what is denied',
    'rules: [{ deny: x, client_may_approve: true }]',
    "2:27 'client_may_approve' has no meaning with deny",
  ],
  ['nobody who must approve', 'rules: [{ defer: x, needs: 0 }]', '2:35 0 stands here'],
  ['a client that may perhaps approve', 'rules: [{ defer: x, client_may_approve: maybe }]', '2:48 "maybe" stands here'],
  ['a completion that asks for nothing', 'completion: {}', '2:8 this completion asks for nothing'],
  [
    'a completion that counts and asks for nothing',
    'completion: { when: "true", condition: "true" }',
    "2:22 'when' has no meaning without require",
  ],
  ['a completion that requires a pattern', 'completion: { require: ["shop/*"] }', '2:32 "shop/*" is not usable here'],
];

for (const [what, agent, problem] of wrong) {
  test(`${what} is told`, () => {
    const { problems } = checkedIn(`agents:\n  a: { ${agent} }\n`);
    assert.deepEqual(problems, [problem]);
  });
}

test('what is wrong with who approves is told where it is written: in the rule, at its agent, or at the default', () => {
  const { problems, warnings } = checkedIn(`runtime: { limits: { approval_wait_ms: 90000 } }
agents:
  a:
    approvers: [finance, staf]
    default: defer
    rules:
      - { defer: x, approvers: [finance, nobody] }
      - defer: [y, z]
        approvers: [finance]
        expires: 80s
        needs: 3
      - { defer: v }
  b: { default: defer }
  c: { approvers: [staf] }
roles: { finance: [ann, bob], staff: [], nobody: [cyd, ""] }
`);
  assert.deepEqual(problems, [
    "4:26 there is no role 'staf' under roles: nobody could approve",
    '11:9 3 people must approve, and as finance only 2 could: ann, bob',
    '15:38 an empty list stands here',
    '15:56 "" stands here',
  ]);
  assert.deepEqual(warnings, [
    '10:9 this expires after 80s, and a client waits 90s for an approval',
    '13:8 what is deferred for b names no approvers: every key of role approver or admin may approve',
    '14:8 approvers: nothing is deferred for this agent',
  ]);
});

test('what is wrong with the conditions of a completion is told inside of them', () => {
  const { problems } = checkedIn(`agents:
  a:
    completion:
      require: [x]
      when: args.a > 1
      condition: |
        session.seq > 0 &&
          session.sek > 1
`);
  assert.deepEqual(problems, [
    "5:13 'when' of completion is wrong: there is no variable args here; there are agent, principal, session, state, now",
    "8:19 'condition' of completion is wrong: there is no field sek; did you mean seq?",
  ]);
});
