/** CONTRACT sections 1, 4, 6 and 9 for credentials: what is fetched, sent, refused, and sent again. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { z } from 'zod';
import { type CredentialOptions, httpTool, type Tool } from '../../../src/index.ts';
import { anAgent, aPolicy } from '../../support/a-policy.ts';
import { errorOf, successOf } from '../../support/check-reply.ts';
import {
  bearerOf,
  type CredentialApi,
  listenCredentialApi,
  queryOf,
} from '../../support/credentials/credential-api.ts';
import { eventually } from '../../support/eventually.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { folderOf, openGateway, type OpenedGateway, type OpenOptions } from '../../support/open-gateway.ts';
import { withReader } from '../../support/read-journal.ts';
import { aTool } from '../../support/tools.ts';
import { startOwnVault } from '../../support/credentials/vault-server.ts';

const secret = 'plantedSecretOne';

const payTool = (url: string, effect: 'plain' | 'pure' = 'plain', name = 'pay'): Tool =>
  httpTool({
    name,
    description: 'Pays.',
    input: z.object({ n: z.number().optional() }),
    effect,
    method: 'POST',
    url: `${url}/pay`,
  }) as Tool;

async function open(t: TestContext, more: OpenOptions = {}, secretOf = bearerOf, effect: 'plain' | 'pure' = 'plain') {
  const api = await listenCredentialApi(t, secretOf);
  const vault = await startOwnVault(t);
  await vault.put('stripe', { api_key: secret });
  api.demand(secret);
  const stripe: CredentialOptions = {
    vault: { address: vault.address, path: 'secret/data/stripe', field: 'api_key', token: vault.token },
    match: ['pay'],
    inject: { header: 'Authorization' },
  };
  const tools = [payTool(api.url, effect), payTool(api.url, 'pure', 'free'), aTool('look', () => ({ seen: true }))];
  const gateway = await openGateway(t, tools, { credentials: { stripe }, ...more });
  return { api, vault, gateway, stripe };
}

const sends = (api: CredentialApi) => api.heard.length;

describe('a call of a tool that has a credential', () => {
  test('[C1-credential-2] carries the secret in a header, and its arguments and records do not', async (t) => {
    const { api, gateway } = await open(t);
    const reply = successOf(await gateway.call({ tool: 'pay' }));
    assert.equal(api.heard[0]?.headers.authorization, `Bearer ${secret}`);
    assert.equal(api.heard[0]?.body, '{}');
    assert.doesNotMatch(JSON.stringify([reply, await gateway.records(reply.call_id)]), /plantedSecret/);
    assert.match(JSON.stringify(reply.result), /\[redacted\]/);
  });

  test('[C1-credential-2] carries it in the query, in a form of its own', async (t) => {
    const { stripe } = await open(t);
    const api = await listenCredentialApi(t, queryOf('api_key'));
    api.demand(`key ${secret}`);
    const credentials = { stripe: { ...stripe, inject: { query: 'api_key', value: 'key {secret}' } } };
    const gateway = await openGateway(t, [payTool(api.url)], { credentials, file: path.join(folderOf(t), 'two.db') });
    successOf(await gateway.call({ tool: 'pay' }));
    assert.equal(api.heard[0]?.url, `/pay?api_key=key+${secret}`);
  });

  test('[C1-credential-3] is the only one that fetches; its id and lifetime are on record', async (t) => {
    const { vault, gateway, api } = await open(t);
    successOf(await gateway.call({ tool: 'look' }));
    errorOf(await gateway.call({ tool: 'free' }), 'action_error');
    assert.deepEqual([vault.heard.length, api.heard[0]?.headers.authorization], [0, undefined]);
    const reply = successOf(await gateway.call({ tool: 'pay' }));
    await Promise.all([gateway.call({ tool: 'pay' }), gateway.call({ tool: 'pay' })]);
    assert.equal(vault.heard.length, 1);
    const prepared = (await gateway.records(reply.call_id)).find(({ kind }) => kind === 'prepared');
    const { facts } = JSON.parse(prepared?.body ?? '{}') as {
      facts: { credentials: { id: string }[]; gates: string[] };
    };
    const [fact] = facts.credentials;
    assert.match(fact?.id ?? '', /^crd_[0-9a-f]{20}$/);
    assert.deepEqual({ ...fact, id: '' }, { name: 'stripe', provider: 'vault', id: '', expires_at_ms: null });
    assert.equal(facts.gates.at(-1), 'credential');
  });

  test('[C1-credential-3] is only one of an agent that it is for', async (t) => {
    const { stripe, api, vault } = await open(t);
    const credentials = { stripe: { ...stripe, agents: ['payer'] } };
    const gateway = await openGateway(t, [payTool(api.url)], { credentials, file: path.join(folderOf(t), 'two.db') });
    errorOf(await gateway.call({ tool: 'pay' }, { agent: 'other' }), 'action_error');
    assert.equal(vault.heard.length, 0);
    successOf(await gateway.call({ tool: 'pay' }, { agent: 'payer' }));
  });
});

describe('a provider that fails', () => {
  test('[C4-credential-1] [S002-credential-1] refuses the call field by field, sends nothing, and recovers', async (t) => {
    const clock = createManualClock();
    const { vault, gateway, api } = await open(t, { clock });
    vault.fail(503);
    const reply = errorOf(await gateway.call({ tool: 'pay' }), 'denied');
    const { call_id: _, session: __, ...fields } = reply;
    const sentence = 'vault provider returned: sealed or in maintenance';
    assert.deepEqual(fields, {
      error: 'denied',
      requested: 'pay',
      class: 'Governance',
      code: 'CREDENTIAL_UNAVAILABLE',
      message: sentence,
      human_message: sentence,
      provider: 'vault',
      effect: 'none',
      resolution: { type: 'retry_after', retry_after_seconds: 30 },
      valid_next_actions: ['pay', 'free', 'look'],
    });
    assert.deepEqual([sends(api), (await gateway.stored(reply.call_id)).state], [0, 'DENIED']);
    const [state] = gateway.status().credentials ?? [];
    assert.deepEqual([state?.state, state?.reason], ['failing', 'sealed or in maintenance']);
    vault.fail(null);
    clock.forward(30_000);
    successOf(await gateway.call({ tool: 'pay' }));
    assert.equal(gateway.status().credentials?.[0]?.state, 'ok');
  });

  test('[C4-credential-1] is named with what the connection says, and nothing of its address', async (t) => {
    const { vault, gateway } = await open(t);
    await vault.stop();
    const reply = errorOf(await gateway.call({ tool: 'pay' }), 'denied');
    assert.equal(reply.message, 'vault provider returned: connection refused');
  });

  test('[C6-credential-1] leaves an approved call waiting, and its approval is used when the secret is there', async (t) => {
    const clock = createManualClock();
    const policy = aPolicy([anAgent('local', [['defer', 'pay']])]);
    const { vault, gateway, api } = await open(t, { clock, policy });
    vault.fail(500);
    const held = errorOf(await gateway.call({ tool: 'pay' }), 'denied');
    assert.equal(held.code, 'POLICY_DEFER');
    const { resolution } = held;
    assert.ok(resolution.type === 'pending_approval');
    const decided = await gateway.approvals.approve(resolution.approval_id, { by: 'ana' });
    assert.ok(decided.ok, JSON.stringify(decided));
    const refused = errorOf(await gateway.call({ tool: 'pay' }), 'denied');
    assert.equal(refused.code, 'CREDENTIAL_UNAVAILABLE');
    assert.equal((await gateway.stored(held.call_id)).state, 'AWAITING_APPROVAL');
    vault.fail(null);
    clock.forward(30_000);
    const reply = successOf(await gateway.call({ tool: 'pay' }));
    assert.deepEqual([reply.call_id, api.done()], [held.call_id, 1]);
  });

  test('[C6-credential-2] ends a resend, with its own code and what is known of the effect', async (t) => {
    const clock = createManualClock();
    const { vault, stripe, api } = await open(t);
    const { vault: where } = stripe as Extract<CredentialOptions, { vault: unknown }>;
    const leased = { ...stripe, vault: { ...where, path: 'database/creds/reader', field: 'password' } };
    const credentials = { leased: leased as CredentialOptions };
    const gateway = await openGateway(t, [payTool(api.url), aTool('look', () => ({ seen: true }))], {
      credentials,
      clock,
      file: path.join(folderOf(t), 'two.db'),
    });
    api.demand('plantedLeasePassword1');
    api.failNext(1, 429, { 'retry-after': '120' });
    const running = gateway.call({ tool: 'pay', deadline_seconds: 600 });
    const waiting = () => recordedKinds(gateway);
    await until(async () => (await waiting()).includes('attempt_scheduled'));
    // The record can be read before its writer has heard of it and waits. Commits are in order: this call is later.
    successOf(await gateway.call({ tool: 'look' }));
    vault.fail(500);
    clock.forward(120_000);
    const reply = errorOf(await running, 'action_error');
    assert.deepEqual(
      [reply.error, reply.code, reply.effect, reply.resolution],
      ['action_error', 'CREDENTIAL_UNAVAILABLE', 'none', { type: 'retry_after', retry_after_seconds: 30 }],
    );
    assert.deepEqual([sends(api), (await gateway.stored(reply.call_id)).state], [1, 'FAILED']);
  });
});

describe('an upstream that does not accept the secret', () => {
  test('[C9-credential-1] gets the call once more with the new one, and it happens once', async (t) => {
    const { vault, gateway, api } = await open(t);
    successOf(await gateway.call({ tool: 'pay' }));
    await vault.put('stripe', { api_key: 'plantedSecretTwo' });
    api.demand('plantedSecretTwo');
    const reply = successOf(await gateway.call({ tool: 'pay', args: { n: 2 } }));
    assert.deepEqual([sends(api), api.done()], [3, 2]);
    const records = await gateway.records(reply.call_id);
    const scheduled = records.find(({ kind }) => kind === 'attempt_scheduled');
    assert.equal((JSON.parse(scheduled?.body ?? '{}') as { why?: string }).why, 'the credential was refreshed');
    assert.doesNotMatch(JSON.stringify([reply, records]), /plantedSecret/);
  });

  test('[C9-credential-1] gets it no second time with the same one, however many are refused, and the provider is spared', async (t) => {
    const { vault, gateway, api } = await open(t);
    api.demand('somethingElse');
    const replies = await Promise.all(Array.from({ length: 5 }, (_, n) => gateway.call({ tool: 'pay', args: { n } })));
    assert.deepEqual(new Set(replies.map((reply) => errorOf(reply, 'action_error').code)), new Set(['Forbidden']));
    assert.deepEqual([sends(api), api.done(), vault.heard.length], [5, 0, 2]);
  });

  test('[C9-credential-1] gets it no third time, and a person is asked', async (t) => {
    const { vault, gateway, api } = await open(t);
    successOf(await gateway.call({ tool: 'pay' }));
    await vault.put('stripe', { api_key: 'plantedSecretTwo' });
    api.demand('somethingElse');
    const reply = errorOf(await gateway.call({ tool: 'pay', args: { n: 2 } }), 'action_error');
    assert.deepEqual([reply.code, reply.effect, sends(api)], ['Forbidden', 'none', 3]);
    assert.equal(reply.resolution.type, 'escalated');
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  await eventually('it holds', holds, 60_000);
}

/** The kinds of all records of the only call. */
const recordedKinds = (gateway: OpenedGateway): Promise<readonly string[]> =>
  withReader(gateway.file, async (reader) => (await reader.entries(null, 100)).map(({ kind }) => kind));
