/** CONTRACT section 6: attaching where several processes share a store, and one of them is gone. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { describe, test } from 'node:test';
import { nodeIds } from '../../src/adapters/system-node/ids.ts';
import { openSqliteStore } from '../../src/adapters/store-sqlite/open-store.ts';
import type { CallId } from '../../src/core/call.ts';
import { isSuccess, type Reply } from '../../src/index.ts';
import { successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { openGateway } from '../support/open-gateway.ts';
import { aTool } from '../support/tools.ts';
import { aCall, inserting, marking, mustCommit, replyOf, updating } from './store-fixtures.ts';

describe('a process beside the owner', () => {
  test('[C6-attach-18] that is gone with a reply which it had not written leaves the place to the next, at once', async (t) => {
    let runs = 0;
    const owner = await openGateway(t, [aTool('pay', () => `paid by the owner, ${(runs += 1)}`)]);
    const child = fork(path.join(import.meta.dirname, '../support/unwritten-child.ts'), [owner.file]);
    t.after(() => child.kill('SIGKILL'));
    const [{ role, reply }] = (await once(child, 'message')) as [{ role: string; reply: Reply }];
    assert.ok(role === 'forwarder' && isSuccess(reply), JSON.stringify(reply));
    assert.equal((await owner.stored(reply.call_id)).requesterLeftAtMs, null, 'its client is there');
    child.kill('SIGKILL');
    await eventually('its end', async () => (await owner.stored(reply.call_id)).requesterLeftAtMs !== null);
    const again = successOf(await owner.call({ tool: 'pay' }));
    assert.deepEqual([again.call_id, again.result, again.replayed], [reply.call_id, 'paid by the child', true]);
    assert.equal(runs, 0);
    assert.equal(successOf(await owner.call({ tool: 'pay' })).result, 'paid by the owner, 1');
  });

  test('[C6-attach-15] whose intent waits for an owner looks again when there is one: who left meanwhile has their place', async (t) => {
    const first = await openGateway(t, [aTool('pay', () => 'paid')]);
    const { file } = first;
    let runs = 0;
    const beside = await openGateway(t, [aTool('pay', () => `paid beside, ${(runs += 1)}`)], { file });
    assert.equal(beside.role, 'forwarder');
    const known = await first.stored(successOf(await first.call({ tool: 'pay' })).call_id);
    await first.close();

    const asked = beside.call({ tool: 'pay' });
    // The next owner finds a success that was never handed over, and that its requester is gone.
    const opened = await openSqliteStore({ file, recovers: true });
    assert.ok(opened.kind === 'opened' && opened.role === 'owner');
    const { store } = opened;
    const { session, fingerprint, tenant, agent, tool } = known;
    const id = nodeIds.ordered('call_', Date.now()) as CallId;
    const call = aCall({ id, session, fingerprint, tenant, agent, tool, state: 'DISPATCHED', attempt: 1 });
    await mustCommit(store, inserting(call, ['PREPARED', 'DISPATCHED']));
    const happened = { action: 'pay', result: 'paid by another', state: null, valid_next_actions: ['pay'] };
    const text = JSON.stringify({ ...happened, call_id: call.id, session });
    await mustCommit(store, updating(call, { state: 'SUCCEEDED', dueAtMs: null }, { payloads: replyOf(text) }));
    await mustCommit(store, marking(call.id, 'left'));
    store.recovered();
    const reply = successOf(await asked);
    assert.deepEqual([reply.call_id, reply.result, reply.replayed], [call.id, 'paid by another', true]);
    assert.equal(runs, 0);
    await store.close();
  });
});
