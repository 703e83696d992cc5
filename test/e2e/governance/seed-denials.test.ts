/** The payloads of seed 002 for POLICY_DENY and DAEMON_NOT_READY, through every door of the real process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, httpTransport, ToolDeniedError } from '../../../src/client/index.ts';
import { isRefusal } from '../../../src/index.ts';
import { aPolicy, anAgent } from '../../support/a-policy.ts';
import { eventually } from '../../support/eventually.ts';
import { everything, hanging, type GovernedUp, startGoverned } from '../../support/governed-up.ts';
import { connectHttp, revisions } from '../../support/mcp-connect.ts';
import { openGateway } from '../../support/open-gateway.ts';
import { aTool } from '../../support/tools.ts';

const policy = `agents:
  bot:
    rules:
      - permit: everything/echo
      - deny: everything/get-sum
`;

/** The rule stands on this line of the file. */
const denyLine = everything.split('\n').length + 4;
const sum = { a: 1, b: 2 };

/** The seed's members, with the names of this file and tool. */
const blocked = {
  code: 'POLICY_DENY',
  rule_ref: `recourse.yaml:${denyLine}`,
  human_message: 'denied: everything/get-sum blocked by policy',
  resolution: { type: 'rule_block', rule_id: `recourse.yaml:${denyLine}` },
};
const unlisted = (ref: string, tool: string) => ({
  code: 'POLICY_DENY',
  rule_ref: ref,
  human_message: `denied: ${tool} is not in the allow list`,
  resolution: { type: 'rule_block', rule_id: ref },
});

function seedMembers(reply: Readonly<Record<string, unknown>>) {
  const { code, rule_ref, human_message, resolution } = reply;
  return { code, ...(rule_ref === undefined ? {} : { rule_ref }), human_message, resolution };
}

async function deniedBy(up: GovernedUp, key: string, tool: string): Promise<ToolDeniedError> {
  const client = createClient({ transport: httpTransport({ url: up.url, key }), maxWaits: 0 });
  const caught: unknown = await client.call(tool, sum).catch((error: unknown) => error);
  assert.ok(caught instanceof ToolDeniedError, String(caught));
  return caught;
}

test('POLICY_DENY by a rule and by the default: HTTP, MCP in both revisions, client', async (t) => {
  const up = await startGoverned(t, `${everything}${policy}`);
  await up.ready();
  const key = up.keyOf('bot');
  const http = await up.ask('/v1/calls', { key, body: { tool: 'everything/get-sum', args: sum } });
  assert.equal(http.status, 403);
  assert.deepEqual(seedMembers(http.body), blocked);
  const agentLine = `recourse.yaml:${everything.split('\n').length + 1}`;
  const other = await up.ask('/v1/calls', { key, body: { tool: 'everything/get-env', args: {} } });
  assert.deepEqual(seedMembers(other.body), unlisted(agentLine, 'everything/get-env'));

  for (const revision of revisions) {
    const { client, call } = await connectHttp(t, new URL(`${up.url}/mcp`), revision, { key });
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['everything__echo', 'await_ticket', 'complete'],
      'what can never be permitted is not listed',
    );
    const { reply, isError } = await call('everything/get-sum', sum);
    assert.ok(isError && isRefusal(reply));
    assert.deepEqual(seedMembers(reply as never), blocked);
  }

  const denied = await deniedBy(up, key, 'everything/get-sum');
  assert.deepEqual(
    [denied.code, denied.humanMessage, denied.ruleRef, denied.resolution],
    [blocked.code, blocked.human_message, blocked.rule_ref, { type: 'rule_block', ruleId: blocked.rule_ref }],
  );
  const stranger = await connectHttp(t, new URL(`${up.url}/mcp`), '2026-07-28', {}).catch((error: unknown) => error);
  assert.match(String(stranger), /401|key of an agent/, 'nobody comes in without a key');
  assert.equal(await up.stop(), 0);
});

test('POLICY_DENY: library', async (t) => {
  const gateway = await openGateway(t, [aTool('stripe/payouts', () => ({}))], {
    policy: aPolicy([anAgent('local', [['deny', 'stripe/payouts']])]),
  });
  const reply = await gateway.call({ tool: 'stripe/payouts' });
  assert.deepEqual(seedMembers(reply as never), {
    code: 'POLICY_DENY',
    rule_ref: 'recourse.yaml:10',
    human_message: 'denied: stripe/payouts blocked by policy',
    resolution: { type: 'rule_block', rule_id: 'recourse.yaml:10' },
  });
});

const notReady = {
  code: 'DAEMON_NOT_READY',
  human_message: 'denied: daemon is initializing, retry in a moment',
  resolution: { type: 'retry_after', retry_after_seconds: 2 },
};

test('DAEMON_NOT_READY from the first moment: HTTP, MCP, client', async (t) => {
  const up = await startGoverned(t, `${hanging}${policy}`);
  const key = 'rk_0000000000000000_00000000000000000000000000000000000000000000';
  const http = await up.ask('/v1/calls', { key, body: { tool: 'x', args: {} } });
  assert.equal(http.status, 503);
  assert.deepEqual(seedMembers(http.body), notReady);
  const message = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'x', arguments: {} } };
  const mcp = await up.ask('/mcp', { key, body: message });
  const result = mcp.body['result'] as {
    readonly isError?: boolean;
    readonly structuredContent: Record<string, unknown>;
    readonly content: readonly { readonly text: string }[];
  };
  assert.deepEqual([mcp.body['id'], result.isError], [7, true]);
  assert.match(result.content[0]?.text ?? '', /^denied: daemon is initializing, retry in a moment\. /);
  assert.deepEqual(seedMembers(result.structuredContent), notReady);
  const denied = await deniedBy(up, key, 'x');
  assert.deepEqual(
    [denied.code, denied.humanMessage, denied.resolution],
    [notReady.code, notReady.human_message, { type: 'retry_after', retryAfterSeconds: 2 }],
  );
  await eventually(
    'it says why it takes so long',
    async () => /still starting after 5 s, waiting for 'hanging'; /.test(up.said()),
    15_000,
  );
  assert.equal(await up.stop(), 0);
});

test('DAEMON_NOT_READY: library, which nobody can ask before it is ready, and says that it is closed', async (t) => {
  const gateway = await openGateway(t, [aTool('pay', () => ({}))]);
  await gateway.close();
  const closed = { ...notReady, human_message: 'denied: daemon is closed, ask again once it is open' };
  assert.deepEqual(seedMembers((await gateway.call({ tool: 'pay' })) as never), closed);
});

test('a client waits out the start by itself', async (t) => {
  const up = await startGoverned(t, `${everything}${policy}`);
  // The keys can be made before anything runs.
  const client = createClient({ transport: httpTransport({ url: up.url, key: up.keyOf('bot') }), maxWaits: 20 });
  const value = await client.call<{ content: unknown }>('everything/echo', { message: 'hi' });
  assert.deepEqual(value.content, [{ type: 'text', text: 'Echo: hi' }]);
});
