/**
 * Lossless means that a number which cannot be kept is refused: another order must not be refunded, nor answered for.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { aTool } from '../../support/builders.ts';
import { serveHttp } from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';
import { introduce } from '../../support/mcp-raw.ts';

const large = '9007199254740993';
const ran: unknown[] = [];
const refund = { ...aTool({ name: 'refund' }), run: (args: unknown) => (ran.push(args), { done: true }) };

const asked = (args: string, more: object) => {
  const params = { name: 'refund', arguments: 'ARGS', ...more };
  const { headers, message } = introduce({ id: 1, method: 'tools/call', params });
  return { method: 'POST', headers, body: JSON.stringify(message).replace('"ARGS"', args) };
};

test('an integer that is not kept exactly is refused where it stands, whichever way the call takes', async (t) => {
  const { door } = await openDoor(t, { tools: [refund] });
  const { url } = await serveHttp(t, door);
  // Answers beside a call make it one that the SDK reads.
  for (const more of [{}, { inputResponses: {} }])
    for (const args of [`{"order":[${large}]}`, JSON.stringify(`{"order":[${large}]}`)]) {
      const text = await (await fetch(url, asked(args, more))).text();
      assert.match(text, /validation_failed/);
      assert.match(text, /\/args\/order\/0/);
      assert.match(text, /send an integer above 9007199254740991 as a string/);
    }
  assert.deepEqual(ran, []);
  const kept = [{ order: large }, { order: 9_007_199_254_740_991 }];
  for (const args of kept) await fetch(url, asked(JSON.stringify(args), {}));
  assert.deepEqual(ran, kept);
});
