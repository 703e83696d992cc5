/** A gateway of the same process that was closed never opens again: whoever asks it hears that at once. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { createClient, inProcessTransport, ToolDeniedError } from '../../../src/client/index.ts';
import { createGateway } from '../../../src/index.ts';
import { folder } from '../../support/recourse-process.ts';
import { aTool } from '../../support/tools.ts';

test('a client of a closed gateway waits for nothing, and hears that another one must be created', async (t) => {
  const gateway = await createGateway({
    tools: [aTool('pay', () => ({}))],
    file: path.join(folder(t), 'recourse.db'),
  });
  t.after(() => gateway.close({ drain_seconds: 0 }));
  let waits = 0;
  const pause = async () => void waits++;
  const client = createClient({ transport: { ...inProcessTransport(gateway, { agent: 'bot' }), pause } });
  await client.call('pay');
  assert.equal(gateway.status().store, 'available');
  await gateway.close();
  assert.deepEqual([gateway.status().ready, gateway.status().store], [false, 'unavailable']);
  for (const ask of [() => client.call('pay'), () => client.complete()])
    await assert.rejects(ask, (error) => {
      assert.ok(error instanceof ToolDeniedError);
      assert.deepEqual([error.code, error.effect, error.resolution.type], ['DAEMON_NOT_READY', 'none', 'retry_after']);
      assert.match(error.message, /^denied: the gateway is closed, create another one$/);
      return true;
    });
  assert.equal(waits, 0);
});
