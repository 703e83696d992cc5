/** Each check of the witness is seen to fail once: what is forged here must be noticed, under its own name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Call, CallId, IncarnationId, SessionId } from '../../src/core/call/call.ts';
import type { Reply } from '../../src/core/call/reply.ts';
import type { Transition } from '../../src/ports/store.ts';
import type { Attempt } from '../../src/ports/upstream.ts';
import { aCall } from '../support/builders.ts';
import { checkChains, checkLiveness, checkRecords, forgottenResult } from './final-checks.ts';
import type { MemoryRecord } from './memory-journal.ts';
import { createMemoryState } from './memory-state.ts';
import { openIncarnation } from './memory-store.ts';
import { createRandom } from './random.ts';
import { createReplyWitness } from './reply-witness.ts';
import { createWitness } from './witness.ts';
import { nothingYet } from '../../src/shell/ending/transition.ts';

const me = 'inc_me' as IncarnationId;
const sender = { owner: me, wallMs: -1 };
const state = 'DISPATCHED' as const;
const call = (change: Partial<Call> = {}) =>
  aCall({ tool: 'mail', session: null, state, attempt: 1, owner: me, ...change });
const attempt: Attempt = {
  callId: 'call_1' as CallId,
  attempt: 1,
  tool: 'mail',
  args: { operation: 'o' },
  session: null,
  tenant: 't',
  agent: 'a',
  deadlineAtMs: 0,
  timeoutMs: 1,
  workflowContext: null,
  client: null,
  callTool: () => Promise.reject(new Error('no tools here')),
};
const blank = { token: 't', atMs: 0, ...nothingYet };
const recordsOf = (id: string, ...states: string[]) =>
  states.map(
    (said) =>
      ({ call: id, session: null, kind: 'x', body: JSON.stringify({ state: said }) }) as unknown as MemoryRecord,
  );
const records = (...states: string[]) => recordsOf('call_1', ...states);
const insert = (change: Partial<Call> = {}): Transition => ({
  ...blank,
  call: { kind: 'insert', call: call(change), path: ['PREPARED', state] },
});
const update = (to: Call['state'], change: Partial<Call> = {}): Transition => ({
  ...blank,
  call: {
    kind: 'update',
    call: call({ state: to, ...change }),
    path: [to as 'FAILED'],
    expect: { state, attempt: 1, owner: me, dueAtMs: null },
  },
});
const step = {
  kind: 'step',
  id: 'ses_1' as SessionId,
  advance: true,
  expectSeq: null,
  expectOpen: false,
  workflow: null,
} as const;

function dispatched() {
  const witness = createWitness();
  witness.applied(insert(), records('PREPARED', state), me);
  return witness;
}

type Seen = ReturnType<typeof createWitness>;

const forgeries: readonly (readonly [string, string, (witness: Seen) => void])[] = [
  ['1', 'a second effect', (witness) => [1, 2].forEach(() => witness.executed(attempt, true))],
  [
    '2',
    'FAILED after an effect',
    (witness) => (witness.executed(attempt, true), witness.applied(update('FAILED'), records('FAILED'), me)),
  ],
  [
    '2',
    'an effect after FAILED',
    (witness) => (witness.applied(update('FAILED'), records('FAILED'), me), witness.executed(attempt, true)),
  ],
  [
    '2',
    'SUCCEEDED without effect',
    (witness) => witness.applied({ ...update('SUCCEEDED'), session: step }, records('SUCCEEDED'), me),
  ],
  ['3', 'a send without record', (witness) => witness.sent({ ...attempt, attempt: 2 }, sender)],
  ['4', 'an illegal transition', (witness) => witness.applied(update('EXPIRED'), records('EXPIRED'), me)],
  [
    '4',
    'a terminal state that is left',
    (witness) => ['FAILED', 'IN_DOUBT'].forEach((to) => witness.applied(update(to as 'FAILED'), records(to), me)),
  ],
  ['5', 'a send by another', (witness) => witness.sent(attempt, { ...sender, owner: 'inc_other' })],
  ['5', 'an attempt that is sent twice', (witness) => [1, 2].forEach(() => witness.sent(attempt, sender))],
  [
    '5',
    'an owner who did not commit',
    (witness) => witness.applied(insert({ id: 'call_1' as CallId }), records('PREPARED', state), 'inc_other'),
  ],
  [
    '7',
    'two calls for one key',
    (witness) =>
      ['call_2', 'call_3'].forEach((id) =>
        witness.applied(insert({ id: id as CallId, key: 'k' }), recordsOf(id, 'PREPARED', state), me),
      ),
  ],
  [
    '15',
    'a gap in a session',
    (witness) =>
      witness.applied(
        { ...blank, call: null },
        [{ session: 'ses_1', sessionSeq: 2, kind: 'x', body: '{}' } as unknown as MemoryRecord],
        me,
      ),
  ],
  [
    '15',
    'a sequence that moves without success',
    (witness) => witness.applied({ ...blank, call: null, session: step }, [], me),
  ],
  ['16', 'a change without its record', (witness) => witness.applied(update('FAILED'), records('IN_DOUBT'), me)],
  [
    'effect',
    'an effect after the caller heard of none',
    (witness) => (witness.told('call_1', 'none'), witness.executed(attempt, true)),
  ],
  ['effect', 'a success that never happened', (witness) => witness.told('call_1', 'applied')],
];

for (const [invariant, what, forge] of forgeries)
  test(`the witness notices ${what}, as invariant ${invariant}`, () => {
    const witness = what.startsWith('an owner') || what.startsWith('two calls') ? createWitness() : dispatched();
    forge(witness);
    assert.equal(witness.broken()?.invariant, invariant, witness.broken()?.detail ?? 'it noticed nothing');
  });

test('the witness notices a plain call that is sent twice, and a send in a cancelled session', () => {
  const resent = dispatched();
  resent.applied(update('RETRY_WAIT'), records('RETRY_WAIT'), me);
  const again = { ...call({ attempt: 2 }), state };
  resent.applied(
    {
      ...blank,
      call: {
        kind: 'update',
        call: again,
        path: [state],
        expect: { state: 'RETRY_WAIT', attempt: 1, owner: me, dueAtMs: null },
      },
    },
    records(state),
    me,
  );
  resent.sent(attempt, sender);
  resent.sent({ ...attempt, attempt: 2 }, sender);
  assert.equal(resent.broken()?.invariant, '6');
  const cancelled = createWitness();
  cancelled.applied({ ...blank, call: null, session: { kind: 'cancel', id: 'ses_1' as SessionId } }, [], me);
  cancelled.applied(insert({ session: 'ses_1' as SessionId }), records('PREPARED', state), me);
  assert.equal(cancelled.broken()?.invariant, '20');
});

/** A real call in a real store, settled or not. */
function aStore() {
  const kept = createMemoryState(createRandom(1, 'forgery'));
  const witness = createWitness();
  kept.onApplied = witness.applied;
  const store = openIncarnation(kept, 1_000);
  const draft = (kind: 'prepared' | 'dispatched', said: string) => ({
    kind,
    call: 'call_1' as CallId,
    session: null,
    body: `{"manifest":"m","state":"${said}"}`,
    payloads: [],
  });
  store.commit([
    {
      ...insert({ owner: store.id }),
      token: 'a',
      blobs: [{ hash: 'm', text: '{}' }],
      records: [draft('prepared', 'PREPARED'), draft('dispatched', state)],
    },
  ]);
  assert.equal(witness.broken(), null);
  return { kept, witness };
}

const spoilings: readonly (readonly [string, string, (store: ReturnType<typeof aStore>) => void])[] = [
  ['13', 'a call that is gone', ({ kept }) => void kept.calls.clear()],
  ['16', 'a record that is gone', ({ kept }) => void kept.recordsByCall.get('call_1')?.pop()],
  ['17', 'a changed byte', ({ kept }) => kept.chains[0]?.records[1]?.header.set([7], 40)],
  ['18', 'a manifest that nobody kept', ({ kept }) => void kept.blobs.clear()],
  ['19', 'a call that never ends', () => undefined],
];

for (const [invariant, what, spoil] of spoilings)
  test(`at rest the rig notices ${what}, as invariant ${invariant}`, () => {
    const store = aStore();
    spoil(store);
    checkRecords(store.kept, store.witness);
    checkChains(store.kept, store.witness);
    checkLiveness(store.kept, [], store.witness);
    assert.equal(store.witness.broken()?.invariant, invariant, store.witness.broken()?.detail);
  });

test('the rig notices replies of the wrong shape, off the record, or not as recorded, and results that were forgotten', () => {
  const success = {
    action: 'mail',
    result: {},
    state: null,
    valid_next_actions: [],
    call_id: 'call_1',
    session: null,
    seq: 0,
  };
  const hear = (reply: object) => {
    const { kept, witness } = aStore();
    witness.executed({ ...attempt }, true);
    createReplyWitness(kept, witness).hear(reply as Reply, true);
    return witness.broken()?.invariant;
  };
  assert.equal(hear({ ...success, sequence: 1 }), 'schema');
  assert.equal(hear(success), '13');
  const told = aStore();
  told.witness.executed(attempt, true);
  const settled = {
    kind: 'settled',
    call: 'call_1' as CallId,
    session: null,
    body: '{"state":"SUCCEEDED"}',
    payloads: [{ part: 'reply', text: JSON.stringify({ ...success, seq: undefined }) }],
  } as const;
  const owner = told.kept.calls.get('call_1')?.call.owner ?? null;
  const change = {
    kind: 'update',
    call: call({ state: 'SUCCEEDED', owner }),
    path: ['SUCCEEDED'],
    expect: { state, attempt: 1, owner, dueAtMs: null },
  } as const;
  openIncarnation(told.kept, 2_000).commit([{ ...blank, token: 'b', call: change, records: [settled] }]);
  const replies = createReplyWitness(told.kept, told.witness);
  replies.hear(success as Reply, true);
  assert.notEqual(told.witness.broken()?.invariant, '14');
  const other = createWitness();
  other.executed(attempt, true);
  createReplyWitness(told.kept, other).hear({ ...success, result: { other: true } } as Reply, true);
  assert.equal(other.broken()?.invariant, '14');
  const { kept, witness } = aStore();
  const row = kept.calls.get('call_1');
  assert.ok(row !== undefined);
  kept.calls.set('call_1', { ...row, call: { ...row.call, state: 'IN_DOUBT' } });
  witness.applied(update('IN_DOUBT'), records('IN_DOUBT'), me);
  assert.ok(forgottenResult([{ callId: 'call_1', attempt: 1, life: { alive: true } }], kept, witness) !== undefined);
});
