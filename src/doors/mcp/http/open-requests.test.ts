import assert from 'node:assert/strict';
import test from 'node:test';
import { createOpenRequests } from './open-requests.ts';

const asks = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'ping' });

test('of two bodies at once that have an id in common one passes', () => {
  const requests = createOpenRequests();
  const arrived = requests.expect([asks(1), asks(2)]);
  assert.ok(arrived !== null);
  assert.equal(requests.expect(asks(2)), null);
  assert.ok(requests.expect(asks('2')) !== null, 'a text is another id');
  requests.open.set(1, undefined);
  arrived();
  assert.equal(requests.expect(asks(1)), null, 'it has no answer yet');
  assert.ok(requests.expect(asks(2)) !== null, 'the SDK did not take it');
});

test('what is no request has no id that could be in use', () => {
  const requests = createOpenRequests();
  requests.open.set(1, undefined);
  const others = [{ jsonrpc: '2.0', id: 1, result: {} }, { method: 'notifications/initialized' }, asks({}), asks(null)];
  for (const body of [...others, others, undefined, null, 'text', []]) assert.ok(requests.expect(body) !== null);
  assert.equal(requests.expect([asks(3), asks(3)]), null, 'a list may have an id twice');
});
