/** A call for which nobody has signed in: a ticket asks a person, and once they have, the call goes on by itself. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';

import { httpTool } from '../../../src/index.ts';
import { errorOf, successOf } from '../../support/check-reply.ts';
import { startDeviceIssuer } from '../../support/credentials/device-issuer.ts';
import { eventually } from '../../support/eventually.ts';
import { openGateway } from '../../support/open-gateway.ts';

async function open(t: TestContext, file?: string) {
  const issuer = await startDeviceIssuer(t);
  const start = (at: string | undefined = file) =>
    openGateway(
      t,
      [
        httpTool({
          name: 'bank/pay',
          description: 'pays',
          effect: 'plain',
          method: 'POST',
          url: `${issuer.url}/pay`,
          input: { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] },
        }),
      ],
      {
        ...(at === undefined ? {} : { file: at }),
        credentials: {
          bank: {
            device: { device_url: `${issuer.url}/device`, token_url: `${issuer.url}/token`, client_id: 'client-1' },
            match: ['bank/*'],
            inject: { header: 'authorization' },
          },
        },
      },
    );
  return { issuer, start, gateway: await start() };
}

const pay = { tool: 'bank/pay', args: { amount: 5 } };

test('[C5-signin-4] the reply says authenticate, the ticket says where, and the call goes on once somebody signed in', async (t) => {
  const { issuer, gateway } = await open(t);
  const reply = errorOf(await gateway.call(pay), 'denied');
  assert.deepEqual([reply.code, reply.resolution.type], ['CREDENTIAL_UNAVAILABLE', 'authenticate']);
  errorOf(await gateway.call({ ...pay, args: { amount: 6 } }), 'denied');
  const tickets = await gateway.tickets.list({ state: 'open' });
  assert.deepEqual(
    tickets.map(({ reason, queue }) => [reason, queue]),
    [['auth_expired', 'sign_in']],
  );
  const id = tickets[0]?.ticket_id ?? '';
  const story = await gateway.tickets.show(id);
  assert.equal(story?.sign_in?.verification_uri, `${issuer.url}/enter`);
  assert.ok(story.answers.some(({ answer }) => answer === 'authenticate'));
  const asked = await gateway.tickets.resolve(id, { by: 'ann', answer: 'authenticate' });
  assert.ok(asked.ok && asked.ticket.state === 'open' && asked.ticket.sign_in?.user_code === 'CODE-1');
  issuer.decide('CODE-1', true);
  const outcome = await gateway.tickets.wait(id, { seconds: 60 });
  assert.deepEqual([outcome?.state, outcome?.answer, outcome?.closed_by], ['closed', 'authenticate', 'recourse']);
  assert.ok(outcome?.reply);
  successOf(outcome.reply);
  assert.deepEqual(issuer.done, [{ amount: 5 }]);
  assert.equal(successOf(await gateway.call(pay)).replayed, true);
  assert.equal(issuer.done.length, 1);
  const journal = readFileSync(gateway.file, 'latin1');
  for (const secret of ['plantedAccess', 'plantedRefresh', 'plantedDevice'])
    assert.ok(!journal.includes(secret), secret);
});

test('[C5-signin-5] a restart while somebody signs in goes on with the same code', async (t) => {
  const { issuer, gateway, start } = await open(t);
  errorOf(await gateway.call(pay), 'denied');
  await gateway.close({ drain_seconds: 0 });
  issuer.decide('CODE-1', true);
  const again = await start(gateway.file);
  await eventually('the call goes on', async () => issuer.done.length === 1);
  const [ticket] = await again.tickets.list();
  assert.deepEqual([ticket?.state, ticket?.answer, issuer.authorizations()], ['closed', 'authenticate', 1]);
});

test('[C5-signin-6] an upstream that accepts the token no longer: somebody signs in anew, and the call goes on', async (t) => {
  const { issuer, gateway } = await open(t);
  errorOf(await gateway.call(pay), 'denied');
  issuer.decide('CODE-1', true);
  await eventually('the first call goes on', async () => issuer.done.length === 1);
  issuer.revoke();
  const reply = errorOf(await gateway.call({ ...pay, args: { amount: 7 } }), 'action_error');
  assert.deepEqual([reply.verdict, reply.resolution.type, reply.effect], ['auth_expired', 'escalated', 'none']);
  assert.ok(reply.resolution.type === 'escalated');
  const { ticket_id: id } = reply.resolution;
  assert.equal((await gateway.tickets.show(id))?.sign_in?.user_code, 'CODE-2');
  issuer.decide('CODE-2', true);
  const outcome = await gateway.tickets.wait(id, { seconds: 60 });
  assert.ok(outcome?.reply);
  successOf(outcome.reply);
  assert.deepEqual(issuer.done, [{ amount: 5 }, { amount: 7 }]);
});
