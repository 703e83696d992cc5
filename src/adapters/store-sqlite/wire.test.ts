/** Does every kind of request come out of the worker's end as it went in? */
import assert from 'node:assert/strict';
import { test } from 'node:test';

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
} from '../../../test/conformance/store-fixtures.ts';
import type { SessionId } from '../../core/call.ts';
import type { WriteRequest } from './batch.ts';
import { flatten, restore } from './wire.ts';

const id = 'ses_1' as SessionId;
const call = aCall({ session: id, turn: 't', key: 'k', owner, attempt: 3, tainted: true, dueAtMs: null });
const key = { tenant: 'a', agent: 'b', key: 'c', fingerprint: 'd', callId: call.id, expiresAtMs: 5 };
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
    settle: [{ tenant: 'a', account: 'b', release: 1, charge: 2 }],
    blobs: [{ hash: 'h', text: 't' }],
  }),
  { erase: call.id, reason: 'asked', atMs: 1 },
];

for (const [index, request] of requests.entries())
  test(`request ${index} crosses unchanged`, () => {
    assert.deepEqual(restore(structuredClone(flatten(request))), request);
  });
