/**
 * CONTRACT section 8 for credentials: a distinct secret for every provider and every place, upstreams that repeat what
 * they get, and a search through everything that a gateway and its commands ever wrote.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { bearerOf, listenCredentialApi, queryOf } from '../../support/credentials/credential-api.ts';
import { listenCredentialMcp } from '../../support/credentials/credential-mcp.ts';
import { eventually } from '../../support/eventually.ts';
import { type GovernedUp, startGoverned } from '../../support/governed-up.ts';
import { connectHttp } from '../../support/mcp-connect.ts';
import { assertNowhere, filesBelow, type Written } from '../../support/credentials/planted-secrets.ts';
import { folder, recourse, stateDir } from '../../support/recourse-process.ts';
import { startTokenServer } from '../../support/credentials/token-server.ts';
import { startOwnVault } from '../../support/credentials/vault-server.ts';
import { startReceiver } from '../../support/webhook-receiver.ts';

const planted = {
  env: 'planted-env/secret+0001',
  file: 'planted-file/secret+0002',
  exec: 'planted-exec/secret+0003',
  vault: 'planted-vault/secret+0004',
  rotated: 'planted-rotated/secret+0005',
  child: 'planted-child/secret+0006',
  oauth: 'planted-oauth/secret+0007',
} as const;

const node = JSON.stringify(process.execPath);
const child = JSON.stringify(path.join(import.meta.dirname, '../../support/credentials/credential-child.ts'));
const api = (name: string, url: string) =>
  `  ${name}: { http: { url: "${url}" }, tools: { pay: { request: { method: POST, path: /pay }, retry: { max_attempts: 1, backoff: fixed, base: 1ms } } } }\n`;

async function startWorld(t: TestContext) {
  const keys = folder(t);
  mkdirSync(keys, { recursive: true });
  const fileOf = (name: string, text: string) => {
    const file = path.join(keys, name);
    writeFileSync(file, text);
    return JSON.stringify(file);
  };
  const vault = await startOwnVault(t);
  await vault.put('pay', { key: planted.vault });
  const tokens = await startTokenServer(t, (nth) => `${planted.oauth}-${nth}`);
  const apis = {
    enved: await listenCredentialApi(t, bearerOf),
    filed: await listenCredentialApi(t, queryOf('api_key')),
    vaulted: await listenCredentialApi(t, bearerOf),
  };
  apis.enved.demand(planted.env);
  apis.filed.demand(planted.file);
  apis.vaulted.demand(planted.vault);
  const mcp = await listenCredentialMcp(t, `${planted.oauth}-1`);
  const hook = await startReceiver(t);
  const set = { PLANTED_ENV: planted.env, PLANTED_VAULT: vault.token, PLANTED_CLIENT: 'planted+client&secret' };
  Object.assign(process.env, set);
  t.after(() => Object.keys(set).forEach((name) => delete process.env[name]));
  const yaml = `tools:
${api('enved', apis.enved.url)}${api('filed', apis.filed.url)}${api('vaulted', apis.vaulted.url)}  shop: { mcp: { command: ${node}, args: [${child}] } }
  remote: { mcp: { url: "${mcp.url}/mcp" } }
credentials:
  enved: { env: { name: PLANTED_ENV }, match: [enved/*], inject: { header: Authorization } }
  filed: { file: { path: ${fileOf('filed.key', `${planted.file}\n`)} }, match: [filed/*], inject: { query: api_key } }
  vaulted:
    vault: { address: "${vault.address}", path: secret/data/pay, field: key, token: "\${PLANTED_VAULT}" }
    match: [vaulted/*]
    inject: { header: Authorization, value: "Bearer {secret}" }
    retry_after: 1s
  meta:
    exec: { command: ${node}, args: [${fileOf('exec.cjs', `console.error('${planted.exec}'); console.log('${planted.exec}')`)}] }
    match: [shop/*]
    inject: { meta: shop/key }
  child: { file: { path: ${fileOf('child.key', planted.child)} }, match: [shop/*], inject: { env: CHILD_SECRET } }
  remote:
    oauth: { token_url: "${tokens.url}", client_id: client-1, client_secret: "\${PLANTED_CLIENT}" }
    match: [remote/*]
    inject: { header: Authorization }
agents:
  bot:
    default: permit
    rules: [{ defer: enved/*, when: "args.size() > 0" }]
notify: { ops: { webhook: "${hook.url}", secret: 0123456789abcdef, events: [POLICY_DEFER, ticket_opened] } }
`;
  const up = await startGoverned(t, yaml);
  await up.ready();
  const secrets = [...Object.values(planted), vault.token, 'planted+client&secret', 'planted%2Bclient%26secret'];
  return { up, apis, vault, mcp, hook, secrets, tokens };
}

interface World extends Awaited<ReturnType<typeof startWorld>> {
  readonly said: [string, string][];
}

async function call({ up, said }: World, key: string, tool: string, args: object = {}) {
  const { status, body } = await up.ask('/v1/calls', { key, body: { tool, args } });
  said.push([`${tool} ${status}`, JSON.stringify(body)]);
  return { status, body };
}

test('[C8-credential-1] secrets of every provider and every place are nowhere, whatever happens', async (t) => {
  const world: World = { ...(await startWorld(t)), said: [] };
  const { up, apis, vault, mcp, hook, secrets, said } = world;
  const key = up.keyOf('bot');
  const tools = ['enved/pay', 'filed/pay', 'vaulted/pay', 'shop/echo', 'remote/echo'];
  await eventually(
    'its servers are connected',
    async () => (await call(world, key, 'remote/echo')).status === 200,
    60_000,
  );

  // Successes that repeat the secret, and a failure of a server that does.
  for (const tool of tools) assert.equal((await call(world, key, tool)).status, 200, said.at(-1)?.[1]);
  assert.equal((await call(world, key, 'shop/fail')).status, 502);
  // A retry, and a resend with a rotated secret.
  apis.filed.failNext(1);
  await call(world, key, 'filed/pay', { n: 2 });
  await vault.put('pay', { key: planted.rotated });
  apis.vaulted.demand(planted.rotated);
  assert.equal((await call(world, key, 'vaulted/pay', { n: 2 })).status, 200, said.at(-1)?.[1]);
  assert.equal(apis.vaulted.done(), 2);
  // Refusals that repeat it, with a ticket; an approval; a provider that is down.
  apis.enved.demand('something else');
  mcp.demand('something else');
  for (const tool of ['enved/pay', 'remote/echo']) await call(world, key, tool);
  assert.equal((await call(world, key, 'enved/pay', { n: 3 })).status, 202);
  await askOverMcp(t, world, key);
  await lookAround(world, key);
  await eventually('people were told', async () => hook.got.length >= 2, 60_000);
  await up.stop();
  const written: Written = [
    ...filesBelow([up.home, stateDir]),
    ['what it printed', up.said()],
    ['webhooks', JSON.stringify(hook.got)],
    ...said,
  ];
  assert.ok(written.some(([name]) => name.endsWith('.db')) && said.length > 20, 'there is something to search');
  assertNowhere(secrets, written);
});

/** A provider that is down, and what a client over MCP is told. */
async function askOverMcp(t: TestContext, world: World, key: string): Promise<void> {
  const { up, vault, said } = world;
  vault.fail(500);
  const { call_id: _, ...evaluated } = (await up.ask('/v1/evaluate', { key, body: { tool: 'vaulted/pay', args: {} } }))
    .body;
  said.push(['evaluate', JSON.stringify(evaluated)]);
  const client = await connectHttp(t, new URL(`${up.url}/mcp`), '2025-11-25', { key });
  const listed = await client.client.listTools();
  said.push(['tools/list', JSON.stringify(listed)]);
  const called = await client.client.callTool({ name: 'shop__echo', arguments: {} });
  said.push(['tools/call', JSON.stringify(called)]);
}

async function lookAround({ up, said }: World, key: string): Promise<void> {
  const operator = up.operatorKey();
  for (const at of ['/v1/status', '/v1/calls', '/v1/tools', '/v1/policy', '/v1/tickets'])
    said.push([at, JSON.stringify(await up.ask(at, { key: at === '/v1/tools' ? key : operator }))]);
  const metrics = await fetch(`${up.url}/metrics`, { headers: { authorization: `Bearer ${operator}` } });
  said.push(['/metrics', await metrics.text()]);
  const { calls } = (await up.ask('/v1/calls', { key: operator })).body as { calls: { call_id: string }[] };
  for (const { call_id: id } of calls)
    said.push([id, JSON.stringify(await up.ask(`/v1/calls/${id}`, { key: operator }))]);
  for (const words of commandsFor(up, calls[0]?.call_id ?? '')) {
    const { stdout, stderr } = recourse(words, { cwd: up.home });
    said.push([words.join(' '), `${stdout}${stderr}`]);
  }
  const status = said.find(([name]) => name.startsWith('status --url'))?.[1] ?? '';
  assert.match(status, /vaulted: vault, (?:ok|failing) since/);
}

const commandsFor = ({ url }: GovernedUp, id: string): readonly (readonly string[])[] => [
  ['status', '--url', url],
  ['status', '--json', '--url', url],
  ['calls', 'ls', '--json'],
  ['calls', 'show', id],
  ['calls', 'show', id, '--json'],
  ['explain', 'vaulted/pay', '{}', '--agent', 'bot', '--url', url],
  ['approvals', 'ls', '--url', url],
  ['tickets', 'ls', '--url', url],
  ['audit', 'verify'],
  ['audit', 'tail', '--json'],
  ['check'],
  ['check', '--json'],
];
