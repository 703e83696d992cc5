/** The one place that ends a call: next state, reply and transition of an event, and what riders add. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { succeeded, timedOut } from '../../core/call/answer.ts';
import type { Call } from '../../core/call/call.ts';
import type { CallEvent } from '../../core/call/lifecycle.ts';
import type { Notice } from '../../core/call/reply.ts';
import { anAsked, openShell, prepared } from '../../../test/support/an-asked.ts';
import { aTool } from '../../../test/support/tools.ts';
import { conclude, concludeElsewhere } from './conclude.ts';
import { contextHere, type Ending } from './ending.ts';
import { note } from './transition.ts';

const returned: CallEvent = { kind: 'returned', attempt: 1 };
const failed: CallEvent = { kind: 'failed', attempt: 1, effect: 'none' };
const tooLate: CallEvent = { kind: 'returned', attempt: 7 };
const succeeds: Ending = { events: [returned], say: (envelope) => succeeded(envelope, 'paid', []), result: 'paid' };
const fails: Ending = { events: [failed], say: (envelope, effect) => timedOut(envelope, 1_000, effect) };

const notice = { human_message: 'an approver changed the amount' } as Notice;

async function dispatched(t: Parameters<typeof openShell>[0], reportsWithinMs: number | null = null) {
  const { shell } = await openShell(t, [aTool('pay', () => 'paid')]);
  const { call, work } = await prepared(anAsked(shell, { tool: 'pay' }), shell);
  const from: Call = { ...call, state: 'DISPATCHED', attempt: 1 };
  const context = contextHere({ ...work, tool: { ...work.tool, reportsWithinMs }, notices: [notice] }, shell);
  return { shell, from, context, end: (ending: Ending) => conclude(from, ending, context, shell) };
}

test('the last record carries the reply, what is kept beside it, and the facts', async (t) => {
  const { end } = await dispatched(t);
  const beside = { part: 'cause', text: '"because"' };
  const { reply, call, transition } = end({
    ...succeeds,
    payloads: [beside],
    record: ({ effect, next }) => ({ effect, attempt: next.attempt }),
  });
  assert.equal(call.state, 'SUCCEEDED');
  const [settled] = transition.records;
  assert.deepEqual([settled?.kind, transition.records.length], ['settled', 1]);
  assert.deepEqual(JSON.parse(settled?.body ?? ''), { state: 'SUCCEEDED', effect: 'applied', attempt: 1 });
  const [stored, cause] = settled?.payloads ?? [];
  assert.deepEqual([stored?.part, JSON.parse(stored?.text ?? ''), cause], ['reply', reply, beside]);
});

test('of several events only the last record carries the reply', async (t) => {
  const { end, from, context, shell } = await dispatched(t);
  const ending: Ending = { ...fails, events: [{ kind: 'admitted' }, { kind: 'expired' }] };
  const { transition } = conclude({ ...from, state: '(none)', attempt: 0 }, ending, context, shell);
  const parts = transition.records.map(({ kind, payloads }) => [kind, payloads.map(({ part }) => part)]);
  assert.deepEqual(parts, [
    ['prepared', []],
    ['expired', ['reply']],
  ]);
  assert.equal(end(fails).call.state, 'FAILED');
});

test('a call that goes on has no reply on record', async (t) => {
  const { end } = await dispatched(t);
  const { call, transition } = end({ ...fails, events: [{ kind: 'withheld', attempt: 1, atMs: 1 }] });
  assert.deepEqual([call.state, transition.records[0]?.payloads], ['RETRY_WAIT', []]);
});

test('an event that does not move the call leaves only its notes', async (t) => {
  const { end, from } = await dispatched(t, 1_000);
  const notes: Ending['notes'] = ({ next }) => [note('orphaned', next, {})];
  const { call, transition } = end({ ...succeeds, events: [tooLate], notes, parts: { expectSeq: 3 } });
  assert.equal(call.state, from.state);
  assert.ok(transition.session?.kind === 'step');
  assert.deepEqual([transition.call, transition.task, transition.session.expectSeq], [null, null, null]);
  assert.deepEqual(
    transition.records.map(({ kind }) => kind),
    ['orphaned'],
  );
});

const endings: readonly (readonly [string, Ending])[] = [
  ['a success', succeeds],
  ['a failure', fails],
  ['an event that comes too late', { ...succeeds, events: [tooLate] }],
];

for (const [name, ending] of endings)
  test(`the reply of ${name} carries the notices`, async (t) => {
    const { end } = await dispatched(t);
    assert.deepEqual(end(ending).reply.notices, [notice]);
  });

const tasks: readonly (readonly [string, number | null, Ending, boolean])[] = [
  ['a success opens the task of a tool that reports later', 1_000, succeeds, true],
  ['a success opens no task where the work ends with the call', null, succeeds, false],
  ['a failure opens no task', 1_000, fails, false],
  ['an adoption opens no task', 1_000, { ...succeeds, adopts: 'call_earlier' as Call['id'] }, false],
];

for (const [name, within, ending, opens] of tasks)
  test(name, async (t) => {
    const { end, from } = await dispatched(t, within);
    const { task, records } = end(ending).transition;
    assert.deepEqual([task?.kind, task?.call], opens ? ['open', from.id] : [undefined, undefined]);
    assert.equal(
      records.some(({ kind }) => kind === 'task_opened'),
      opens,
    );
  });

test('a call that this process does not run: null if the events do not move it', async (t) => {
  const { shell, call } = await openShell(t, [aTool('pay', () => 'paid')]);
  const { call_id: id } = await call({ tool: 'pay' });
  const stored = await shell.ports.store.call(id as Call['id']);
  assert.ok(stored !== null);
  assert.equal(await concludeElsewhere(stored, fails, shell), null);
  const doubted = { ...stored, state: 'IN_DOUBT' } as const;
  const closed = await concludeElsewhere(doubted, { ...fails, events: [{ kind: 'closed' }] }, shell);
  assert.equal(closed?.call.state, 'CLOSED_UNKNOWN');
});
