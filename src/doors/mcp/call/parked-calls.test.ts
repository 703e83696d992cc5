import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually } from '../../../../test/support/eventually.ts';
import { createConnection } from '../connection.ts';
import { createParkedCalls } from './parked-calls.ts';
import { defaultMcpDoorLimits, type McpDoorLimits } from '../parts.ts';
import { createWaitingCall } from './waiting-call.ts';

const ann = { tenant: 'default', agent: 'ann' };
const bob = { tenant: 'default', agent: 'bob' };

function parking(limits: Partial<McpDoorLimits> = {}) {
  const parked = createParkedCalls({ ...defaultMcpDoorLimits, ...limits });
  const park = (connection = createConnection(ann, true)) => {
    const call = createWaitingCall(4);
    const state = parked.park({ connection, request: 'pay', call });
    assert.ok(state !== null);
    return { call, state };
  };
  return { parked, park };
}

test('a state is good once', () => {
  const { parked, park } = parking();
  const { state, call } = park();
  assert.equal(parked.claim(state, createConnection(ann, true), 'pay')?.call, call);
  assert.equal(parked.claim(state, createConnection(ann, true), 'pay'), null);
});

test('a state that is forged, foreign or for another request is none, and stays good for its owner', () => {
  const { parked, park } = parking();
  const { state } = park();
  const attempts: readonly (readonly [unknown, ReturnType<typeof createConnection>, string])[] = [
    [`${state}x`, createConnection(ann, true), 'pay'],
    ['', createConnection(ann, true), 'pay'],
    [7, createConnection(ann, true), 'pay'],
    [{ state }, createConnection(ann, true), 'pay'],
    [state, createConnection(bob, true), 'pay'],
    [state, createConnection({ ...ann, tenant: 'other' }, true), 'pay'],
    [state, createConnection(ann, false), 'pay'],
    [state, createConnection(ann, true), 'cancel'],
  ];
  for (const [given, connection, request] of attempts) assert.equal(parked.claim(given, connection, request), null);
  assert.notEqual(parked.claim(state, createConnection(ann, true), 'pay'), null);
});

test('a state of a connection is good on that connection only', () => {
  const { parked, park } = parking();
  const connection = createConnection(ann, false);
  const { state } = park(connection);
  assert.equal(parked.claim(state, createConnection(ann, false), 'pay'), null);
  assert.notEqual(parked.claim(state, connection, 'pay'), null);
});

test('a client that does not come back in time has left', async () => {
  const { parked, park } = parking({ parkedForMs: 5 });
  const { state, call } = park();
  await eventually('it counts as gone', async () => call.requester.left.aborted);
  assert.equal(parked.claim(state, createConnection(ann, true), 'pay'), null);
});

test('a claimed call is not taken for gone later', async () => {
  const { parked, park } = parking({ parkedForMs: 5 });
  const { state, call } = park();
  parked.claim(state, createConnection(ann, true), 'pay');
  const other = park();
  await eventually('a later one expires', async () => other.call.requester.left.aborted);
  assert.equal(call.requester.left.aborted, false);
});

test('no more calls wait than the limit allows', () => {
  const { parked, park } = parking({ maxParkedCalls: 2 });
  const { state } = park();
  park();
  const another = { connection: createConnection(ann, true), request: 'pay', call: createWaitingCall(4) };
  assert.equal(parked.park(another), null);
  parked.claim(state, createConnection(ann, true), 'pay');
  assert.notEqual(parked.park(another), null);
});

test('whoever closes a connection leaves its calls, and only those', () => {
  const { parked, park } = parking();
  const connection = createConnection(ann, false);
  const gone = park(connection);
  const stays = park();
  parked.leaveOf(connection);
  assert.deepEqual([gone.call.requester.left.aborted, stays.call.requester.left.aborted], [true, false]);
  parked.close();
  assert.equal(stays.call.requester.left.aborted, true);
  assert.equal(parked.size(), 0);
});
