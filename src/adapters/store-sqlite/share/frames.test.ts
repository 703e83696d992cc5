/** Frames arrive whole however the stream cuts them, and anything else is rejected. */
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
  stepping,
  updating,
} from '../../../../test/conformance/store-fixtures.ts';
import type { Approval } from '../../../core/approval/approval.ts';
import { createFrameReader, encodeFrame, maxFrameBytes } from './frames.ts';
import { areRequests } from './request-shape.ts';

const frame = (value: unknown) => encodeFrame(JSON.stringify(value)) as Buffer;

test('frames are read whole, whatever pieces they come in', () => {
  const values = [{ a: 1 }, 'grüß dich', [], 'x'.repeat(5_000)];
  const stream = Buffer.concat(values.map(frame));
  for (const size of [1, 2, 3, 7, 64, 4_096, stream.length]) {
    const got: unknown[] = [];
    const read = createFrameReader((value) => got.push(value) > 0);
    for (let at = 0; at < stream.length; at += size) assert.ok(read(stream.subarray(at, at + size)));
    assert.deepEqual(got, values, `pieces of ${size}`);
  }
});

test('garbage, a length beyond the limit and an unwanted value end the reading', () => {
  const reading = () => createFrameReader((value) => value !== 'unwanted');
  assert.equal(reading()(Buffer.from('GET / HTTP/1.1\r\n\r\n')), false);
  assert.equal(reading()(Buffer.from([0, 0, 0, 2, 0x7b, 0x7b])), false);
  const long = Buffer.alloc(4);
  long.writeUInt32BE(maxFrameBytes + 1);
  assert.equal(reading()(long), false);
  assert.equal(reading()(frame('unwanted')), false);
  assert.equal(reading()(frame('wanted')), true);
});

test('a text beyond the limit makes no frame', () => {
  assert.equal(encodeFrame('x'.repeat(maxFrameBytes + 1)), null);
});

const { terms } = anApproval();
const wrongApprovals: readonly object[] = [
  ...Object.keys(anApproval()).map((name) => ({ [name]: undefined })),
  { state: 'constructor' },
  { terms: { ...terms, onApprove: 'later' } },
  { terms: { ...terms, roles: [7] } },
  { votes: [{ by: 'ada', atMs: 'now', saw: 'x' }] },
  { edit: { by: 'ada', argsText: {}, subject: 's' } },
  { decided: { by: 'ada', atMs: 1 } },
];

test('requests of the right shape pass, and one wrong field stops them', () => {
  const call = aCall();
  const decided = { by: 'ada', atMs: 1, reason: null };
  const mark = { kind: 'mark', id: call.id, requester: null, repeats: 0 } as const;
  const good = [
    inserting(call, undefined, { payloads: [{ part: 'args', text: '{}' }] }),
    updating(call, { state: 'DISPATCHED' }),
    marking(call.id, 'left'),
    opening(aSession()),
    openingOf(anApproval()),
    approving([becoming(anApproval(), { edit: { by: 'ada', argsText: null, subject: 's' }, decided })]),
    aTransition({ task: { kind: 'open', call: call.id, dueAtMs: 1 } }),
    aTransition({ task: { kind: 'close', call: call.id, as: 'overdue' } }),
    aTransition({ session: { kind: 'complete', id: aSession().id, expectEntries: 1 } }),
    aTransition({ session: { ...stepping(aSession().id), fence: { kind: 'lifted', call: call.id } } }),
    aTransition({ call: { ...mark, due: { expectAtMs: null, atMs: 5 } } }),
    { erase: call.id, reason: 'asked', atMs: 1 },
  ];
  assert.ok(areRequests(good));
  const [first] = good;
  const bad: unknown[] = [
    null,
    {},
    [null],
    [{}],
    [{ ...first, atMs: 'now' }],
    [{ ...first, atMs: 1.5 }],
    [{ ...first, records: {} }],
    [{ ...first, records: [{ kind: 'toString' }] }],
    [{ ...first, call: { kind: 'insert', call: { ...call, state: 'constructor' }, path: ['PREPARED'] } }],
    [{ ...first, call: { kind: 'drop table', call } }],
    [{ ...first, session: { kind: 'step' } }],
    [{ ...first, session: { kind: 'complete', id: 'ses_1' } }],
    [{ ...first, approvals: null }],
    [{ ...first, tickets: undefined }],
    [{ ...first, call: { ...mark, due: { atMs: 5 } } }],
    [{ ...first, session: { ...stepping(aSession().id), fence: { kind: 'raised', call: call.id } } }],
    [{ ...first, task: undefined }],
    [{ ...first, task: { kind: 'close', call: 'c', as: 'open' } }],
    [{ ...first, task: { kind: 'open', call: 'c', dueAtMs: 0.5 } }],
    [{ erase: 7, reason: '', atMs: 1 }],
    ...wrongApprovals.map((over) => [openingOf({ ...anApproval(), ...over } as Approval)]),
    [approving([{ approval: anApproval(), expect: 0.5, maxPending: null }])],
  ];
  for (const requests of bad) assert.equal(areRequests(requests), false, JSON.stringify(requests));
});
