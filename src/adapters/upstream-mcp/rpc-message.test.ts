import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAnswer } from './rpc-message.ts';

test('the result of a call has its integers as they were sent; everything else of a message is plain JSON', () => {
  const large = '1152921504606846977';
  const answer = `{"id":1,"result":{"content":[],"structuredContent":{"n":${large}}}}`;
  const exact = { id: 1, result: { content: [], structuredContent: { n: BigInt(large) } } };
  const listing = `{"id":2,"result":{"tools":[{"inputSchema":{"maximum":${large}}}]}}`;
  const note = `{"method":"notifications/progress","params":{"progressToken":${large}}}`;
  assert.deepEqual(parseAnswer(answer), exact);
  assert.deepEqual(parseAnswer(`[${listing},${answer}]`), [JSON.parse(listing), exact]);
  for (const text of [listing, note, '{"id":3,"result":{"content":[]}}', '1234567890123456789', 'null'])
    assert.deepEqual(parseAnswer(text), JSON.parse(text));
  assert.throws(() => parseAnswer('{'), SyntaxError);
});
