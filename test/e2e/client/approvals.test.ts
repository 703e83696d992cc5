/**
 * The client and approvals, over real HTTP and in the same process: it waits for a person, and what they decided is
 * what it gets.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import {
  CallError,
  type Client,
  createClient,
  httpTransport,
  inProcessTransport,
  ToolDeniedError,
} from '../../../src/client/index.ts';
import { createGateway } from '../../../src/index.ts';
import { aPolicy, anAgent } from '../../support/a-policy.ts';
import { eventually } from '../../support/eventually.ts';
import { folder } from '../../support/recourse-process.ts';
import { aTool } from '../../support/tools.ts';
import { openHttp } from '../http/open-http.ts';

interface World {
  readonly client: Client;
  readonly ran: readonly unknown[];
  /** The ids that are pending. */
  pending(): Promise<readonly string[]>;
  approve(id: string, args?: unknown): Promise<void>;
  deny(id: string, reason: string): Promise<void>;
}

function refundInto(ran: unknown[]) {
  const refund = aTool('refund', (args) => {
    ran.push(args);
    return { refunded: true };
  });
  return { refund, policy: aPolicy([anAgent('bot', [['defer', 'refund']])]) };
}

async function overHttp(t: TestContext): Promise<World> {
  const ran: unknown[] = [];
  const { refund, policy } = refundInto(ran);
  const { ask, url, keys } = await openHttp(t, { tools: [refund], policy });
  const key = keys.approver;
  return {
    client: createClient({ transport: httpTransport({ url: url.href, key: keys.agent }) }),
    ran,
    async pending() {
      const { body } = await ask('GET', '/v1/approvals?state=pending', { key });
      return (body['approvals'] as { approval_id: string }[]).map((each) => each.approval_id);
    },
    async approve(id, args) {
      const body = args === undefined ? {} : { args };
      assert.equal((await ask('POST', `/v1/approvals/${id}/approve`, { key, body })).status, 200);
    },
    async deny(id, reason) {
      assert.equal((await ask('POST', `/v1/approvals/${id}/deny`, { key, body: { reason } })).status, 200);
    },
  };
}

async function inProcess(t: TestContext): Promise<World> {
  const ran: unknown[] = [];
  const { refund, policy } = refundInto(ran);
  const gateway = await createGateway({ tools: [refund], policy, file: path.join(folder(t), 'recourse.db') });
  t.after(() => gateway.close({ drain_seconds: 0 }));
  const { approvals } = gateway;
  const by = 'abel';
  return {
    client: createClient({ transport: inProcessTransport(gateway, { agent: 'bot' }) }),
    ran,
    pending: async () => (await approvals.list({ state: 'pending' })).map((each) => each.approval_id),
    async approve(id, args) {
      const own = await approvals.approve(id, { by: 'bot' });
      assert.ok(!own.ok && own.problem === 'own_request', 'who asked may not approve');
      await assert.rejects(approvals.approve(id, { by: 'the user of bot' }), /must name the person/);
      const said = await approvals.approve(id, args === undefined ? { by } : { by, args: args as never });
      assert.ok(said.ok, JSON.stringify(said));
    },
    async deny(id, reason) {
      assert.ok((await approvals.deny(id, { by, reason })).ok);
    },
  };
}

for (const [name, open] of [
  ['over HTTP', overHttp],
  ['in the same process', inProcess],
] as const)
  describe(name, () => {
    test('a call waits for a person, runs once as they approved it, and gives its value', async (t) => {
      const { client, ran, pending, approve } = await open(t);
      const call = client.send('refund', { amount: 1 }, { onDefer: 'wait' });
      const id = await eventually('it is held', async () => (await pending())[0] ?? null);
      await approve(id, { amount: 2 });
      const reply = await call;
      assert.deepEqual([reply.result, ran], [{ refunded: true }, [{ amount: 2 }]]);
      assert.deepEqual(
        reply.notices?.map(({ code }) => code),
        ['APPROVAL_EDITED'],
      );
      assert.equal((await client.approvals.read(id)).state, 'used');
    });

    test('a denial ends the wait with who denied it and why', async (t) => {
      const { client, ran, pending, deny } = await open(t);
      const call = client.call('refund', { amount: 1 }, { onDefer: 'wait' }).catch((error: unknown) => error);
      const id = await eventually('it is held', async () => (await pending())[0] ?? null);
      await deny(id, 'not this one');
      const error = await call;
      assert.ok(error instanceof ToolDeniedError && error.code === 'POLICY_DENY');
      assert.match(error.humanMessage, /denied by abel: not this one/);
      assert.deepEqual(ran, []);
    });

    test('[S002-client-2] without waiting the agent has the id, looks by itself, and cannot complete meanwhile', async (t) => {
      const { client, approve } = await open(t);
      const error: unknown = await client.call('refund', { amount: 1 }).catch((thrown: unknown) => thrown);
      assert.ok(error instanceof ToolDeniedError && error.approvalId !== null);
      const id = error.approvalId;
      assert.equal((await client.approvals.wait(id, { seconds: 0.05 })).state, 'pending');
      const blocked: unknown = await client.complete().catch((thrown: unknown) => thrown);
      assert.ok(blocked instanceof ToolDeniedError && blocked.code === 'COMPLETION_BLOCKED');
      assert.deepEqual(blocked.resolution, { type: 'pending_approvals', approvalIds: [id] });
      const waiting = client.approvals.wait(id, { seconds: 60 });
      await approve(id);
      assert.equal((await waiting).state, 'granted');
      assert.deepEqual(await client.call('refund', { amount: 1 }), { refunded: true });
      assert.equal((await client.complete()).done, true);
      const unknown: unknown = await client.approvals.read('apr_of_nobody').catch((thrown: unknown) => thrown);
      assert.ok(unknown instanceof CallError, String(unknown));
    });
  });
