/**
 * What leaves the gateway: no line of a file, no value that redact names in a failure of a server, and where keys are
 * for whoever has none.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { startGoverned } from '../support/governed-up.ts';
import { folder, recourse, storeIn } from '../support/recourse-process.ts';
import { rules, smallServer } from '../support/small-server.ts';

const node = JSON.stringify(process.execPath);

test('INVARIANT: GET /v1/status quotes no line of a file, and tells other tenants nothing of the configuration', async (t) => {
  const yaml = `runtime: { store: recourse.db }
tools:
  files: { mcp: { command: ${node}, args: ["-e", "0", "."], env: { API_KEY: "literal-s3cret" } } }
agents: { bot: { default: permit } }
`;
  const up = await startGoverned(t, yaml, [], folder(t));
  await up.ready();
  const { readFileSync } = await import('node:fs');
  const admin = readFileSync(join(up.home, 'recourse.db.token'), 'utf8').trim();
  const viewer = up.keyOf('vera', ['--role', 'viewer']);
  const stranger = up.keyOf('otto', ['--role', 'viewer', '--tenant', 'acme']);
  for (const key of [admin, viewer, stranger]) {
    const { status, body } = await up.ask('/v1/status', { key });
    assert.equal(status, 200);
    assert.ok(!JSON.stringify(body).includes('literal-s3cret'), JSON.stringify(body));
  }
  const warnings = (await up.ask('/v1/status', { key: viewer })).body['warnings'] as Record<string, unknown>[];
  assert.match(String(warnings[0]?.['message']), /can reach the operator's key/);
  assert.deepEqual(Object.keys(warnings[0] ?? {}).sort(), ['column', 'file', 'fix', 'line', 'message']);
  const other = (await up.ask('/v1/status', { key: stranger })).body;
  assert.deepEqual(other['warnings'], []);
  assert.ok(!JSON.stringify(other).includes(up.home), JSON.stringify(other));
  const shown = recourse(['status', '--url', up.url], { cwd: up.home });
  assert.match(shown.stdout, /recourse\.yaml:3 the server 'files' can reach/);
  assert.ok(!shown.stdout.includes('literal-s3cret'));
});

test('INVARIANT: what was forced, what drifted and what is wrong with a server is told to no other tenant', async (t) => {
  const home = folder(t);
  const away = `  gone:\n    mcp: { command: ${node}, args: ["-e", "process.exit(1)"] }\n`;
  const yaml = `agents:\n${rules('bot', ['permit: small/**', 'deny: small/echo'])}tools:\n${smallServer()}${away}`;
  writeFileSync(join(home, 'recourse.lock'), '{ "version": 1, "servers": { "small": { "tools": {} } } }\n');
  const up = await startGoverned(t, yaml, ['--force'], home);
  await up.ready();
  const seenBy = async (key: string) => {
    const { forced, drift, upstreams } = (await up.ask('/v1/status', { key })).body;
    const problems = (upstreams as { problem: string | null }[]).filter(({ problem }) => problem !== null);
    return [forced as unknown[], drift as unknown[], problems].map(({ length }) => length > 0);
  };
  await eventually('the operator sees all of it', async () => !(await seenBy(up.operatorKey())).includes(false));
  const stranger = up.keyOf('otto', ['--role', 'viewer', '--tenant', 'acme']);
  assert.deepEqual(await seenBy(stranger), [false, false, false]);
});

/** Fails in every way a server can, and quotes what it was sent. */
const failing = `
  import { createInterface } from 'node:readline';
  const say = (id, rest) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...rest }) + '\\n');
  const tool = (name, more = {}) => ({ name, inputSchema: { type: 'object' }, ...more });
  const promised = { outputSchema: { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] } };
  const quoting = (args) => 'refused: card ' + args.card + ' of ann@example.com';
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, method, params } = JSON.parse(line);
    if (method === 'initialize') say(id, { result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'failing', version: '1' } } });
    if (method === 'tools/list') say(id, { result: { tools: [tool('is_error'), tool('rpc_error'), tool('malformed', promised), tool('free')] } });
    if (method !== 'tools/call') continue;
    const args = params.arguments;
    const structuredContent = { email: 'ann@example.com', total: 'many' };
    if (params.name === 'is_error') say(id, { result: { isError: true, content: [{ type: 'text', text: quoting(args) }], structuredContent } });
    if (params.name === 'rpc_error') say(id, { error: { code: -32000, message: quoting(args), data: { email: 'ann@example.com' } } });
    if (params.name === 'malformed') say(id, { result: { content: [{ type: 'text', text: 'ok' }], structuredContent } });
    if (params.name === 'free') say(id, { result: { isError: true, content: [{ type: 'text', text: 'the secret is free-text-secret' }] } });
  }
`;

test('redact holds for every way in which a server fails, in the reply and on record', async (t) => {
  const home = folder(t);
  writeFileSync(join(home, 'failing.mjs'), failing);
  const agent = (redact: string) => `{ default: permit, redact: [${redact}] }`;
  const yaml = `tools:
  shop: { mcp: { command: ${node}, args: [failing.mjs] } }
agents:
  bot: ${agent('args.card, result.**.email')}
  blind: ${agent('args.card, "result.content.*.text"')}
  strict: ${agent('args.card, "result.structuredContent.users.*.email", "result.content.*.text"')}
  open: ${agent('args.card')}
`;
  const up = await startGoverned(t, yaml, [], home);
  await up.ready();
  const secrets = ['4111-1111', 'ann@example.com', 'free-text-secret'];
  const failureOf = async (key: string, tool: string) => {
    const { body } = await up.ask('/v1/calls', { key, body: { tool: `shop/${tool}`, args: { card: '4111-1111' } } });
    assert.equal(body['error'], 'action_error', JSON.stringify(body));
    return body;
  };
  const fails = async (key: string, tool: string) => {
    const body = await failureOf(key, tool);
    const shown = recourse(['calls', 'show', String(body['call_id']), '--json'], { cwd: home }).stdout;
    for (const each of secrets) {
      assert.ok(!JSON.stringify(body).includes(each), `${tool} answers ${each}`);
      assert.ok(!shown.includes(each), `${tool} records ${each}`);
    }
    return String(body['error_message']);
  };
  const bot = up.keyOf('bot');
  assert.equal(await fails(bot, 'is_error'), 'refused: card [redacted] of [redacted]');
  // An error of JSON-RPC has no form that the paths of results could be about: nothing of its words is shown.
  assert.equal(await fails(bot, 'rpc_error'), '[redacted]');
  assert.equal(await fails(up.keyOf('strict'), 'rpc_error'), '[redacted]');
  await fails(bot, 'malformed');
  assert.equal(await fails(up.keyOf('blind'), 'free'), '[redacted]');
  const { error_message: said } = await failureOf(up.keyOf('open'), 'rpc_error');
  assert.equal(said, 'refused: card [redacted] of ann@example.com');
});

test('whoever is turned away hears where keys come from: over the wire without a path, on the machine with it', async (t) => {
  const up = await startGoverned(t, 'agents: { bot: { default: permit } }\n');
  await up.ready();
  const wrong = `rk_0000000000000000_${'a'.repeat(43)}`;
  const answers = await Promise.all([
    fetch(`${up.url}/v1/calls`),
    fetch(`${up.url}/v1/calls`, { headers: { authorization: `Bearer ${wrong}` } }),
    fetch(`${up.url}/v1/calls`, { headers: { authorization: 'Basic x' } }),
    fetch(`${up.url}/mcp`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }),
  ]);
  for (const answer of answers) {
    assert.equal(answer.status, 401);
    const text = await answer.text();
    assert.match(text, /recourse agents add <name> makes one/);
    assert.ok(!text.includes(storeIn(up.home)) && !text.includes(up.home), text);
  }
  writeFileSync(
    join(up.home, 'recourse.yaml'),
    `runtime: { listen: "${new URL(up.url).host}" }\nagents: { bot: { default: permit } }\n`,
  );
  const told = recourse(['approvals', 'ls', '--key', wrong], { cwd: up.home });
  assert.equal(told.status, 1);
  assert.ok(
    told.stderr.includes(`the key was that of --key; the operator's is in '${storeIn(up.home)}.token'`),
    told.stderr,
  );
  const call = recourse(['call', 'x/y'], { cwd: up.home, env: { RECOURSE_KEY: wrong } });
  assert.match(call.stderr, /recourse agents add <name> makes one/);
});

test('a key that is not good is turned away in the same words over HTTP and MCP', async (t) => {
  const up = await startGoverned(t, 'agents: { bot: { default: permit } }\n');
  await up.ready();
  const wordsAt = async (place: string, authorization: string) => {
    const headers = { authorization, 'content-type': 'application/json' };
    const answer = await fetch(`${up.url}${place}`, { method: 'POST', headers, body: '{}' });
    const { detail, error } = (await answer.json()) as { detail?: string; error?: { message: string } };
    return [answer.status, detail ?? error?.message];
  };
  for (const [sent, words] of [
    [`Bearer rk_0000000000000000_${'a'.repeat(43)}`, /^the key is not known, has expired or was revoked; /],
    ['Basic x', /^the header Authorization must be: Bearer <key>; /],
  ] as const) {
    const [status, said] = await wordsAt('/mcp', sent);
    assert.match(String(said), words);
    assert.deepEqual([status, said], await wordsAt('/v1/calls', sent));
  }
  const [status, said] = await wordsAt('/mcp', `Bearer ${up.operatorKey()}`);
  assert.equal(status, 401);
  assert.match(String(said), /^the key of an agent is needed/);
});
