/**
 * Each check of the witness of workflows is seen to fail once: what is forged here must be noticed, under its own name.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallId, SessionId } from '../../src/core/call/call.ts';
import type { CallState } from '../../src/core/taxonomy.ts';
import type { Session, SessionChange, Transition, WorkflowChange } from '../../src/ports/store.ts';
import { noChange, nothingYet } from '../../src/shell/ending/transition.ts';
import { aCall } from '../support/builders.ts';
import { hashing, type MemoryRecord } from './memory-journal.ts';
import { createWorkflowWitness } from './workflow-witness.ts';

const id = 'ses_1' as SessionId;
const [one, two] = ['call_1' as CallId, 'call_2' as CallId];
const blank = { token: 't', atMs: 0, ...nothingYet };
const snapshotOf = (count: number) => ({ text: JSON.stringify({ context: { count } }), dueAtMs: null });

/** A witness, the states of calls as it is told them, and what it noticed. */
function createForgery() {
  const states = new Map<string, CallState>();
  const noticed: string[] = [];
  const witness = createWorkflowWitness(
    (invariant) => noticed.push(invariant),
    (call) => states.get(call) ?? '(none)',
  );
  const session = { id, seq: 0, workflow: {} } as Session;
  witness.applied(
    { ...blank, call: null, session: { kind: 'open', session, snapshot: snapshotOf(0), fences: [] } },
    [],
  );
  const step = (
    workflow: Partial<WorkflowChange>,
    call: Transition['call'] = null,
    records: readonly MemoryRecord[] = [],
  ) => {
    const advance = workflow.snapshot !== null && workflow.snapshot !== undefined;
    const base = { kind: 'step', id, advance, expectSeq: null, expectOpen: false } as const;
    const change: SessionChange = { ...base, workflow: { ...noChange, ...workflow } };
    witness.applied({ ...blank, call, session: change }, records);
  };
  const take = (call: CallId) => {
    states.set(call, 'DISPATCHED');
    step({ turn: 'take', call, operation: 'o' });
  };
  return { witness, states, noticed, step, take };
}

const recordOf = (kind: string, body: object, call: string, reply: object | null = null) =>
  ({
    kind,
    body: JSON.stringify(body),
    call,
    parts: reply === null ? [] : ['reply'],
    payloads: reply === null ? [] : [{ bytes: hashing.utf8(JSON.stringify(reply)) }],
  }) as unknown as MemoryRecord;

const success = (state: 'DISPATCHED' | 'IN_DOUBT'): Transition['call'] => ({
  kind: 'update',
  call: aCall({ id: one, state: 'SUCCEEDED' }),
  path: ['SUCCEEDED'],
  expect: { state, attempt: 1, owner: null, dueAtMs: null },
});
const settled = [recordOf('settled', {}, one, { action: 'x' })];

type Forgery = ReturnType<typeof createForgery>;

const forgeries: readonly (readonly [what: string, invariant: string, forge: (forgery: Forgery) => void])[] = [
  ['a turn that is taken twice', 'turn', ({ take }) => (take(one), take(two))],
  [
    'a reset while a step runs',
    'turn',
    ({ take, step }) => (
      take(one),
      step({ turn: 'free', snapshot: snapshotOf(0) }, null, [recordOf('session_reset', {}, '')])
    ),
  ],
  [
    'a turn that is given back too early',
    'turn',
    ({ take, step }) => (take(one), step({ turn: 'release', call: one })),
  ],
  [
    'a call that ended and keeps the turn',
    'turn',
    ({ take, step, states }) => (take(one), states.set(one, 'FAILED'), step({})),
  ],
  ['a step that is sent without the turn', 'turn', ({ take, witness }) => (take(one), witness.sent(id, two))],
  [
    'a session that is resumed where it does not stand',
    'state',
    ({ witness }) => {
      const base = { kind: 'step', id, advance: false, expectSeq: 0, expectOpen: true } as const;
      const change = { ...base, workflow: noChange };
      witness.applied({ ...blank, call: null, session: change }, [recordOf('session_resumed', { step: 1 }, '')]);
    },
  ],
  ['a state that moves without a success', 'state', ({ step }) => step({ snapshot: snapshotOf(1) })],
  [
    'a success that moves nothing',
    'state',
    ({ take, states, step }) => (
      take(one),
      states.set(one, 'SUCCEEDED'),
      step({ turn: 'release', call: one }, success('DISPATCHED'), settled)
    ),
  ],
  [
    'a doubt that moves the state when it ends',
    'state',
    ({ step }) => step({ snapshot: snapshotOf(1) }, success('IN_DOUBT'), settled),
  ],
  [
    'a state that counts two for one',
    'state',
    ({ step }) => step({ snapshot: snapshotOf(2) }, success('DISPATCHED'), settled),
  ],
  [
    'a result that is adopted twice',
    'adopt',
    ({ witness, states }) => (
      states.set(one, 'SUCCEEDED'),
      witness.foresee([recordOf('adopted', { from: one }, two)]),
      witness.foresee([recordOf('adopted', { from: one }, 'call_3')])
    ),
  ],
  [
    'a doubt that is adopted',
    'adopt',
    ({ witness, states }) => (states.set(one, 'IN_DOUBT'), witness.foresee([recordOf('adopted', { from: one }, two)])),
  ],
];

for (const [what, invariant, forge] of forgeries)
  test(`the witness notices ${what}, as invariant ${invariant}`, () => {
    const forgery = createForgery();
    assert.deepEqual(forgery.noticed, []);
    forge(forgery);
    assert.equal(forgery.noticed[0], invariant);
  });

test('the witness has nothing to say of an honest step', () => {
  const { take, states, step, witness, noticed } = createForgery();
  take(one);
  witness.sent(id, one);
  states.set(one, 'SUCCEEDED');
  step({ turn: 'release', call: one, snapshot: snapshotOf(1) }, success('DISPATCHED'), settled);
  step({ turn: 'free', snapshot: snapshotOf(0) }, null, [recordOf('session_reset', {}, '')]);
  assert.deepEqual([noticed, witness.movesOf(id), witness.countOf(id)], [[], 2, 0]);
});
