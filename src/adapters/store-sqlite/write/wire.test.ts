/** Requests and outcomes cross between the threads unchanged. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { anApproval, approving, becoming, openingOf } from '../../../../test/conformance/approval-fixtures.ts';
import {
  aCall,
  aSession,
  aTransition,
  inserting,
  marking,
  opening,
  owner,
  replyOf,
  stepping,
  updating,
} from '../../../../test/conformance/store-fixtures.ts';
import {
  aTicket,
  closingTicket,
  mootTicket,
  openingTicket,
  ticketing,
} from '../../../../test/conformance/recovery/ticket-fixtures.ts';
import type { SessionId } from '../../../core/call/call.ts';
import type { WriteRequest } from './batch.ts';
import { flatten, type Outcome, readOutcome, restore, writeOutcome } from './wire.ts';

const id = 'ses_1' as SessionId;
const call = aCall({ session: id, turn: 't', key: 'k', owner, attempt: 3, tainted: true, dueAtMs: null });
const key = { tenant: 'a', agent: 'b', key: 'c', fingerprint: 'd', callId: call.id, keepMs: 5 };
const requests: readonly WriteRequest[] = [
  aTransition(),
  inserting(call, ['PREPARED', 'DISPATCHED'], { key, session: stepping(id), payloads: replyOf() }),
  updating(call, { state: 'DISPATCHED', dueAtMs: 7 }, { session: stepping(id, { advance: true, expectSeq: 2 }) }),
  marking(call.id, 'left', 2),
  opening(aSession({ standing: true })),
  aTransition({ session: { kind: 'cancel', id } }),
  aTransition({ session: { kind: 'cancel_turn', id, turn: 't' } }),
  aTransition({
    reserve: [{ tenant: 'a', account: 'b', amount: 1, limit: 2 }],
    settle: [{ call: call.id, spent: [{ account: 'b', amount: 2 }] }],
    tokens: [{ tenant: 'a', bucket: 'b', intervalMicros: 1, burst: 2, isForced: false }],
    accounts: [{ kind: 'allow', tenant: 'a', account: 'b', amount: 3 }],
    blobs: [{ hash: 'h', text: 't' }],
  }),
  aTransition({ session: { kind: 'complete', id, expectEntries: 4 } }),
  approving([becoming(anApproval({ edit: { by: 'ada', argsText: null, subject: 's' } }), { state: 'granted' })]),
  openingOf(anApproval(), 7),
  aTransition({ task: { kind: 'open', call: call.id, dueAtMs: 9 } }),
  aTransition({ task: { kind: 'close', call: call.id, as: 'overdue' } }),
  ticketing(openingTicket(aTicket()), closingTicket(aTicket()), mootTicket(aTicket())),
  aTransition({ session: { ...stepping(id), fence: { kind: 'raised', call: call.id, operation: 'op' } } }),
  aTransition({
    call: { kind: 'mark', id: call.id, requester: null, repeats: 0, due: { expectAtMs: 1, atMs: null } },
  }),
  aTransition({ call: { kind: 'mark', id: call.id, requester: null, repeats: 0, stop: true } }),
  { erase: call.id, reason: 'asked', atMs: 1 },
];

for (const [index, request] of requests.entries())
  test(`request ${index} crosses unchanged`, () => {
    assert.deepEqual(restore(structuredClone(flatten(request))), request);
  });

const plain = aSession({ standing: true, seq: 3, entries: 9, state: 'stopped' });
const outcomes: readonly (readonly [string, Outcome])[] = [
  ['nothing', { results: [], sessions: [] }],
  ['nobody knows what changed', { results: [], sessions: null }],
  [
    'what was committed, with its place and without one',
    {
      results: [
        { kind: 'committed', seq: 0, position: null },
        { kind: 'committed', seq: 7, position: { epoch: 2, seq: 2 ** 40 } },
      ],
      sessions: [plain, aSession()],
    },
  ],
  [
    'what was not',
    {
      results: [
        { kind: 'conflict', on: 'session', found: plain },
        { kind: 'conflict', on: 'illegal', problem: 'x' },
        { kind: 'conflict', on: 'approval', found: anApproval() },
        { kind: 'conflict', on: 'ticket', found: aTicket() },
        { kind: 'conflict', on: 'task', found: { call: call.id, dueAtMs: 1, state: 'open' } },
        { kind: 'unavailable', fault: 'io', message: 'y' },
      ],
      sessions: [],
    },
  ],
];

for (const [what, outcome] of outcomes)
  test(`an outcome crosses back unchanged: ${what}`, () => {
    assert.deepEqual(readOutcome(structuredClone(writeOutcome(outcome))), outcome);
  });
