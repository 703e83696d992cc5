import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileCompletion } from './compile-completion.ts';
import type { CompletionCall, PolicyProblem, WrittenCompletion } from './policy.ts';

const session: CompletionCall = {
  agent: { name: 'clerk' },
  principal: { tenant: 'acme', agent: 'clerk' },
  session: { id: 'ses_1', seq: 3, workflow: 'desk' },
  state: { value: 'open', context: { total: 5 } },
  nowMs: 1_798_761_600_000, // 2027-01-01T00:00:00Z
};

function compiled(change: Partial<WrittenCompletion>) {
  const problems: Omit<PolicyProblem, 'agent'>[] = [];
  const written = { require: ['pay', 'close'], when: null, condition: null, ref: 'f:1', ...change };
  return { rule: compileCompletion(written, (problem) => problems.push(problem)), problems };
}

const conditions: readonly (readonly [condition: string, is: boolean | null])[] = [
  ['true', true],
  ['false', false],
  ["agent.name == 'clerk' && principal.tenant == 'acme' && session.workflow == 'desk'", true],
  ['session.seq > 2 && state.context.total == 5', true],
  ["state.value == 'closed'", false],
  ["now < timestamp('2027-01-01T00:00:00Z')", false],
  // What cannot be evaluated, also where another part would have settled it.
  ['state.context.paid', null],
  ['state.context.paid || true', null],
  ['state.context.total', null],
];

for (const [condition, is] of conditions) {
  test(`${condition}: ${is === null ? 'cannot be told, so it does not hold and requires everything' : is}`, () => {
    const { rule: asked, problems } = compiled({ condition });
    assert.deepEqual(problems, []);
    assert.equal(asked.holds(session), is === true);
    assert.deepEqual(compiled({ when: condition }).rule.required(session), is === false ? [] : ['pay', 'close']);
  });
}

test('without conditions everything is required, and nothing else must hold', () => {
  const { rule } = compiled({});
  assert.deepEqual([rule.required(session), rule.holds(session)], [['pay', 'close'], true]);
});

test('a session without a workflow has no state to look into', () => {
  assert.equal(compiled({ condition: "state.value == 'open'" }).rule.holds({ ...session, state: null }), false);
  assert.equal(compiled({ condition: 'state == null' }).rule.holds({ ...session, state: null }), true);
});

test('what is wrong is told, with the part it is about and its place in it; what there is to look at is no call', () => {
  const wrong = compiled({ when: 'session.seq >', condition: 'args.a > 1' });
  assert.deepEqual(
    wrong.problems.map(({ field, index, at }) => [field, index, at]),
    [
      ['completion', 0, { line: 1, column: 14 }],
      ['completion', 1, { line: 1, column: 1 }],
    ],
  );
  assert.match(wrong.problems[1]?.message ?? '', /^'condition' of completion is wrong: there is no variable args/);
  // Nothing runs on what is wrong; if something did, it would not be done.
  assert.deepEqual([wrong.rule.required(session), wrong.rule.holds(session)], [['pay', 'close'], false]);
  for (const condition of ['1 + 1', '"yes"', '']) assert.equal(compiled({ condition }).problems.length, 1, condition);
});
