import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { aTool } from '../../../../test/support/builders.ts';
import type { ActionEntry } from '../../../core/workflow/workflow.ts';
import {
  argumentsOf,
  misplacedSession,
  parseMessage,
  readToolCall,
  requestText,
  takesSessionArgument,
} from './read-tool-call.ts';

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

const session = 'ses_0d8358be_rbht410w23rfsfrjt6jmwmb1jn';
const text = { type: 'string' };

type What = 'taken' | 'refused' | 'an input';

const schemas: readonly (readonly [string, ActionEntry['inputSchema'], What])[] = [
  ['no schema', null, 'taken'],
  ['no properties', { type: 'object' }, 'taken'],
  ['no properties, and none allowed', { type: 'object', additionalProperties: false }, 'taken'],
  ['other inputs', { type: 'object', properties: { drink: {} } }, 'taken'],
  ['other inputs, and more allowed', { properties: { drink: {} }, additionalProperties: {} }, 'taken'],
  ['a session of its own', { type: 'object', properties: { session: {} } }, 'an input'],
  ['a session that it only requires', { properties: { a: {} }, required: ['session'] }, 'an input'],
  ['any names', { type: 'object', additionalProperties: text }, 'refused'],
  ['parts of others', { type: 'object', properties: {}, allOf: [] }, 'refused'],
  ['parts of others, one with a session', { allOf: [{ properties: { session: text } }] }, 'an input'],
  ['a reference', { properties: {}, $ref: '#/$defs/x', $defs: { x: { properties: { a: {} } } } }, 'refused'],
  ['a reference to a session', { $ref: '#/$defs/x', $defs: { x: { required: ['session'] } } }, 'an input'],
  ['inputs named by a pattern', { properties: {}, patternProperties: { '^s': {} } }, 'refused'],
];

for (const [what, inputSchema, expected] of schemas)
  test(`of an action with ${what}, a handle among the arguments is ${expected}`, () => {
    const action = { ...aTool(), inputSchema } as ActionEntry;
    assert.equal(takesSessionArgument(action), expected === 'taken');
    assert.equal(misplacedSession(action, { session }), expected === 'refused' ? session : null);
    for (const other of ['espresso', 7, null, {}]) assert.equal(misplacedSession(action, { session: other }), null);
  });

test('the arguments of a call have their integers as they were sent, in a list as well; the rest is plain JSON', () => {
  const large = '9007199254740993';
  const call = (args: string) =>
    `{"id":${large},"method":"tools/call","params":{"_meta":{"t":${large}},"arguments":${args}}}`;
  const asked = JSON.parse(call('{}')) as { readonly params: object };
  const exact = { ...asked, params: { ...asked.params, arguments: { order: BigInt(large) } } };
  assert.deepEqual(parseMessage(call(`{"order":${large}}`)), exact);
  assert.deepEqual(parseMessage(`[${call('{}')},${call(`{"order":${large}}`)}]`), [asked, exact]);
  for (const text of [`{"id":${large},"method":"ping"}`, `{"params":[${large}]}`, large, 'null'])
    assert.deepEqual(parseMessage(text), JSON.parse(text));
  assert.throws(() => parseMessage('{'), SyntaxError);
});
