/**
 * Webhooks of the real process: told what the API shows, signed, in Slack's form, killed and started again, and never
 * in the way.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { verifyWebhook } from '../../../src/client/webhooks.ts';
import { eventually } from '../../support/eventually.ts';
import { everything, startGoverned } from '../../support/governed-up.ts';
import { bin } from '../../support/recourse-process.ts';
import { type Receiver, startReceiver } from '../../support/webhook-receiver.ts';

const secret = 'sixteen characters or more';

const agents = `agents:
  bot:
    redact: ["args.b"]
    rules:
      - permit: everything/echo
      - defer: everything/get-sum
        reason: sums <move> money
`;

const notify = (hooks: Readonly<Record<string, string>>) =>
  `notify:\n${Object.entries(hooks)
    .map(([name, written]) => `  ${name}: { ${written} }\n`)
    .join('')}`;

const hookTo = ({ url }: Receiver, more = '') =>
  `webhook: "${url}", secret: "${secret}", events: [POLICY_DEFER]${more}`;

const arrived = (receiver: Receiver, count: number) =>
  eventually(`${count} messages`, async () => receiver.got.length >= count);

test('webhooks of recourse up', { timeout: 240_000 }, async (t) => {
  const [ops, slack, hanging] = [await startReceiver(t), await startReceiver(t), await startReceiver(t)];
  hanging.answer(() => 'hang');
  const hooks = notify({
    ops: hookTo(ops, ', link: "https://console.example/approvals/{approval_id}"'),
    chat: hookTo(slack, ', format: slack, link: "https://console.example/{approval_id}"'),
    hanging: hookTo(hanging),
  });
  const up = await startGoverned(t, `${everything}${agents}${hooks}`);
  await up.ready();
  const bot = up.keyOf('bot');
  const sum = (a: number) => up.ask('/v1/calls', { key: bot, body: { tool: 'everything/get-sum', args: { a, b: 2 } } });
  const asked = await sum(1);
  assert.equal(asked.body['code'], 'POLICY_DEFER', JSON.stringify(asked.body));
  const { approval_id: id } = asked.body['resolution'] as { readonly approval_id: string };

  await t.test('the message carries the approval as the API shows it, masked, and verifies', async () => {
    await arrived(ops, 1);
    const [{ headers, body, message } = assert.fail()] = ops.got;
    const shown = await up.ask(`/v1/approvals/${id}`, { key: up.operatorKey() });
    assert.deepEqual(message.approval, shown.body);
    assert.deepEqual(message.approval?.args, { a: 1, b: '[redacted]' });
    assert.deepEqual(
      [message.kind, message.tenant, message.agent, message.tool, message.call_id, message.link],
      [
        'approval_opened',
        'default',
        'bot',
        'everything/get-sum',
        asked.body['call_id'],
        `https://console.example/approvals/${id}`,
      ],
    );
    assert.equal((await verifyWebhook({ headers, body, secret })).ok, true);
  });

  await t.test('Slack gets blocks, with what others wrote escaped', async () => {
    await arrived(slack, 1);
    const { body } = slack.got[0] ?? assert.fail();
    assert.match(body, /sums &lt;move&gt; money/);
    assert.match(body, new RegExp(`"url":"https://console.example/${id}"`));
  });

  await t.test('a receiver that hangs delays neither a call nor another hook', async () => {
    await arrived(hanging, 1);
    const decided = await up.ask(`/v1/approvals/${id}/approve`, { key: up.operatorKey(), body: {} });
    assert.equal(decided.status, 200, JSON.stringify(decided.body));
    const ran = await sum(1);
    assert.equal(ran.status, 200, JSON.stringify(ran.body));
    await arrived(ops, 3);
    assert.deepEqual(
      ops.got.map(({ message }) => message.kind),
      ['approval_opened', 'approval_approved', 'approval_used'],
    );
    assert.equal(hanging.got.length, 1);
  });

  await t.test('what happened while it was dead, and what it died over, is told by the next', async () => {
    ops.answer(() => {
      void up.stop('SIGKILL');
      return 'hang';
    });
    // The process may be gone before it has answered.
    await sum(2).catch(() => undefined);
    await arrived(ops, 4);
    await up.stop('SIGKILL');
    ops.answer(() => 200);
    const again = spawn(process.execPath, [bin, 'up', '--listen', '127.0.0.1:0'], { cwd: up.home, stdio: 'ignore' });
    t.after(() => again.kill('SIGKILL'));
    await arrived(ops, 5);
    assert.equal(ops.ids()[4], ops.ids()[3], 'under the same id');
    const ended = once(again, 'exit');
    again.kill('SIGINT');
    assert.deepEqual(await ended, [0, null], 'a hook that hangs does not keep it from ending');
    assert.equal(ops.got.length, 5);
  });

  await t.test('nothing that it said names an address or a secret', () => {
    assert.doesNotMatch(up.said(), /hidden-in-the-query|sixteen characters/);
  });
});
