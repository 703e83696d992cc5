/** CONTRACT section 6: attaching where several processes share a store, and one of them is gone. */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { nodeIds } from '../../src/adapters/system-node/ids.ts';
import { openSqliteStore } from '../../src/adapters/store-sqlite/open-store.ts';
import type { CallId } from '../../src/core/call/call.ts';
import { isSuccess, type Reply } from '../../src/index.ts';
import { openGateway as openWithShell } from '../../src/main.ts';
import { handleCall } from '../../src/shell/call/handle-call.ts';
import { errorOf, successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { folderOf, openGateway } from '../support/open-gateway.ts';
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

  const pays = () => {
    let runs = 0;
    return { tool: aTool('pay', () => `paid here, ${(runs += 1)}`), runs: () => runs };
  };

  /** A call that a child has sent, without a key. */
  async function startChild(t: TestContext, file: string): Promise<ChildProcess> {
    const child = fork(path.join(import.meta.dirname, '../support/leaving-child.ts'), [file]);
    t.after(() => child.kill('SIGKILL'));
    const [{ kind }] = (await once(child, 'message')) as [{ kind: string }];
    assert.equal(kind, 'booked');
    return child;
  }

  for (const asker of ['the owner', 'a third process'] as const) {
    test(`[C6-attach-20] whose client left is asked before ${asker} records an equal write`, async (t) => {
      const pay = pays();
      const owner = await openGateway(t, [pay.tool]);
      const beside = asker === 'the owner' ? owner : await openGateway(t, [pay.tool], { file: owner.file });
      const child = await startChild(t, owner.file);
      // While it stands still it hears neither that its client left nor the question.
      child.kill('SIGSTOP');
      child.send('leave');
      const again = beside.call({ tool: 'pay' });
      child.kill('SIGCONT');
      child.send('finish');
      const reply = successOf(await again);
      assert.deepEqual([reply.result, reply.replayed, pay.runs()], ['paid by the child', true, 0]);
    });

    test(`[C6-attach-20] that was just killed does not let ${asker} send an equal write`, async (t) => {
      const pay = pays();
      const owner = await openGateway(t, [pay.tool]);
      const beside = asker === 'the owner' ? owner : await openGateway(t, [pay.tool], { file: owner.file });
      const child = await startChild(t, owner.file);
      child.kill('SIGKILL');
      errorOf(await beside.call({ tool: 'pay' }), 'fenced');
      assert.equal(pay.runs(), 0);
    });

    test(`[C6-attach-20] whose client is there leaves an equal write of ${asker} to run`, async (t) => {
      const pay = pays();
      const owner = await openGateway(t, [pay.tool]);
      const beside = asker === 'the owner' ? owner : await openGateway(t, [pay.tool], { file: owner.file });
      await startChild(t, owner.file);
      assert.equal(successOf(await beside.call({ tool: 'pay' })).result, 'paid here, 1');
    });
  }

  test('[C6-attach-20] asks the owner, whose client left, before it records an equal write', async (t) => {
    const pay = pays();
    const finished = Promise.withResolvers<string>();
    const began = Promise.withResolvers<void>();
    const hanging = aTool('pay', () => {
      began.resolve();
      return finished.promise;
    });
    const file = path.join(folderOf(t), 'recourse.db');
    const { gateway, shell } = await openWithShell({ tools: [hanging], file, onNotice: () => undefined });
    t.after(() => gateway.close());
    const beside = await openGateway(t, [pay.tool], { file });
    const left = new AbortController();
    const who = { tenant: 'default', agent: 'local' };
    const written = new Promise<boolean>(() => undefined);
    void handleCall({ tool: 'pay', args: {} }, who, { left: left.signal, written }, shell);
    await began.promise;
    left.abort();
    const again = beside.call({ tool: 'pay' });
    finished.resolve('paid by the owner');
    const reply = successOf(await again);
    assert.deepEqual([reply.result, reply.replayed, pay.runs()], ['paid by the owner', true, 0]);
  });

  test('[C6-attach-20] that took the place of a requester and is gone leaves it to the next', async (t) => {
    const finished = Promise.withResolvers<string>();
    let runs = 0;
    const pay = aTool('pay', () => {
      runs += 1;
      return finished.promise;
    });
    const file = path.join(folderOf(t), 'recourse.db');
    const { gateway, shell } = await openWithShell({ tools: [pay], file, onNotice: () => undefined });
    t.after(() => gateway.close());
    const { store } = shell.ports;
    const left = new AbortController();
    const who = { tenant: 'default', agent: 'local' };
    const written = new Promise<boolean>(() => undefined);
    const first = handleCall({ tool: 'pay', args: {} }, who, { left: left.signal, written }, shell);
    await eventually('the payment', async () => runs === 1);
    left.abort();
    const { call_id: id } = await first;
    const has = async (kind: string) => (await store.recordsOf(id as CallId)).some((record) => record.kind === kind);
    const child = fork(path.join(import.meta.dirname, '../support/unwritten-child.ts'), [file]);
    t.after(() => child.kill('SIGKILL'));
    await eventually('the place to be taken', () => has('attached'));
    child.kill('SIGKILL');
    finished.resolve('paid once');
    await eventually('its end', () => has('settled'));
    const again = successOf(await gateway.handle({ tool: 'pay', args: {} }));
    assert.deepEqual([again.result, again.replayed, runs], ['paid once', true, 1]);
  });
});
