import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { argumentsOf, readToolCall, requestText } from './read-tool-call.ts';

test('whatever arrives is read without an exception', () => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (value) => {
      for (const params of [
        value,
        { name: value },
        { name: 'step', arguments: value },
        { name: 'step', _meta: value },
      ]) {
        const call = readToolCall(params);
        argumentsOf(call);
        requestText(call);
        if (call.name !== null) assert.equal(call.gotName, null);
      }
    }),
  );
});

test('what stands in the place of a name is told, and nothing if nothing does', () => {
  assert.equal(readToolCall({ name: 7 }).gotName, '7');
  assert.equal(readToolCall({ name: 'null' }).gotName, null);
  for (const params of [{}, { name: null }, undefined, 'step']) assert.equal(readToolCall(params).gotName, null);
});

test('arguments may be an object, its JSON text, or missing', () => {
  const argumentsFrom = (args: unknown) => argumentsOf(readToolCall({ name: 'step', arguments: args }));
  assert.deepEqual(argumentsFrom({ action: 'pay' }), { action: 'pay' });
  assert.deepEqual(argumentsFrom('{"action":"pay"}'), { action: 'pay' });
  assert.deepEqual(argumentsFrom(undefined), {});
  assert.deepEqual(argumentsFrom(null), {});
  for (const garbage of ['pay', '[1]', [1], 7, true]) assert.equal(argumentsFrom(garbage), null);
});

test('what _meta says about the call is read under our own prefix only', () => {
  const _meta = { 'recourse/key': 'k', 'recourse/session': 'ses_1', 'recourse/other': 1, key: 'no', progressToken: 3 };
  assert.deepEqual(readToolCall({ name: 'step', _meta }).controls, { key: 'k', session: 'ses_1' });
});

test('equal requests have equal texts, whatever the order of their members', () => {
  const text = (params: unknown) => requestText(readToolCall(params));
  assert.equal(text({ name: 'a', arguments: { x: 1, y: 2 } }), text({ arguments: { y: 2, x: 1 }, name: 'a' }));
  assert.notEqual(text({ name: 'a', arguments: { x: 1 } }), text({ name: 'a', arguments: { x: 2 } }));
  assert.notEqual(text({ name: 'a' }), text({ name: 'a', _meta: { 'recourse/session': 'ses_2' } }));
});
