/** CONTRACT section 9: what a server promised of its results is held against them, and a write that breaks it is in doubt. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { isSuccess } from '../../src/index.ts';
import { errorOf } from '../support/check-reply.ts';
import { openGateway } from '../support/open-gateway.ts';

const program = path.join(import.meta.dirname, '../support/upstream-child.ts');

test('[C9-response-1] a result that its own output schema does not allow is no success', async (t) => {
  const server = { name: 'shop', command: process.execPath, args: [program, 'promising'] };
  const gateway = await openGateway(t, [], {
    servers: [{ ...server, tools: { look: { effect: 'pure' } } }],
    serverTools: ['shop/sell', 'shop/look'],
  });
  const kept = await gateway.call({ tool: 'shop/sell', args: { structuredContent: { price: 3 } } });
  assert.ok(isSuccess(kept), JSON.stringify(kept));
  assert.deepEqual(kept.result, { content: [], structuredContent: { price: 3 } });

  for (const given of [{ structuredContent: { price: 'three' } }, {}]) {
    const sold = errorOf(await gateway.call({ tool: 'shop/sell', args: given }), 'action_error');
    const { class: kind, code, verdict, effect, resolution } = sold;
    assert.deepEqual(
      [kind, code, verdict, effect, resolution.type],
      ['ToolTerminal', 'OutputMalformed', 'schema_mismatch', 'unknown', 'reconcile'],
    );
    assert.equal((await gateway.stored(sold.call_id)).state, 'IN_DOUBT');
    assert.match(sold.error_message ?? '', /^the result of 'shop\/sell' does not match its output schema: /);
    const looked = errorOf(await gateway.call({ tool: 'shop/look', args: given }), 'action_error');
    assert.deepEqual([looked.code, looked.effect], ['OutputMalformed', 'none']);
    assert.equal((await gateway.stored(looked.call_id)).state, 'FAILED');
  }
});
