import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMessage } from './parse-message.ts';

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
