/** Who sends the messages? One of the processes that have them, whether or not it owns the store. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { openApprovals } from '../../../test/support/open-approvals.ts';
import { refunds } from '../../../test/support/refunds.ts';
import { createCountingTool } from '../../../test/support/tools.ts';
import { startReceiver } from '../../../test/support/webhook-receiver.ts';
import type { Webhook } from '../../adapters/notify/webhook/webhook.ts';
import { openNotices } from './open-notices.ts';
import type { LastingGateway } from './keep-open.ts';

test('one of them sends, a forwarder too; when it ends another goes on, and nothing is told twice', async (t) => {
  const { definition } = createCountingTool('payments/refund');
  const open = () => openApprovals(t, [definition], { agents: [refunds()] });
  const [owner, forwarder] = [await open(), await open()];
  assert.deepEqual([owner.gateway.role, forwarder.gateway.role], ['owner', 'forwarder']);
  const receiver = await startReceiver(t);
  const hook: Webhook = {
    via: 'webhook',
    name: 'ops',
    url: receiver.url,
    secret: null,
    events: ['POLICY_DEFER'],
    format: 'json',
    link: null,
    batchMs: 0,
    limit: null,
  };
  const start = ({ gateway, shell }: typeof owner) => {
    const lasting = { current: () => ({ gateway, shell }) } as unknown as LastingGateway;
    return openNotices(
      { subscribers: [hook], store: owner.file, onTrouble: assert.fail, notifierOf: () => assert.fail() },
      lasting,
    );
  };
  const ask = async (amount: number) => void (await owner.call({ tool: 'payments/refund', args: { amount } }));
  const told = (count: number) => eventually(`${count} messages`, async () => receiver.got.length >= count);

  const first = await start(forwarder);
  await ask(1);
  await told(1);
  const second = await start(owner);
  await ask(2);
  await told(2);
  await first.close();
  await ask(3);
  await told(3);
  await second.close();
  assert.equal(new Set(receiver.ids()).size, 3);
  assert.equal(receiver.got.length, 3);
});
