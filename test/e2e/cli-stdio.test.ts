/**
 * `recourse stdio` as MCP clients start it: every server and workflow of recourse.yaml on one connection, by the rules.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { isRefusal, isSuccess } from '../../src/index.ts';
import { barProject, connectCommand, isAlive } from '../support/cli-project.ts';
import { eventually } from '../support/eventually.ts';
import { startGoverned } from '../support/governed-up.ts';
import { bin, folder, objectsIn, recourse } from '../support/recourse-process.ts';
import { rules, smallServer } from '../support/small-server.ts';

const workflows = `workflows:
  door:
    actions: { open: {}, shut: {} }
    initial: closed
    states: { closed: { on: { open: opened } }, opened: { on: { shut: closed } } }
  bar:
    actions: { serve: { tool: small/pid } }
    initial: idle
    states: { idle: { on: { serve: idle } } }
`;
const yaml = `tools:\n${smallServer()}${smallServer('second')}${workflows}agents:\n${rules('bot', [
  'deny: small/fails',
  'permit: "**"',
])}`;

function project(t: TestContext): string {
  const home = folder(t);
  writeFileSync(path.join(home, 'recourse.yaml'), yaml);
  return home;
}

test(
  'all servers and workflows are served to one client, from any folder, and nothing else is written',
  { timeout: 120_000 },
  async (t) => {
    const home = project(t);
    const words = ['stdio', '--config', path.join(home, 'recourse.yaml'), '--agent', 'bot'];
    const served = await connectCommand(t, words, { cwd: folder(t) });
    await served.saying(/^recourse: serving every server and workflow on \/.*, as its owner\n/m);
    const { tools } = await served.client.listTools();
    const names = tools.map(({ name }) => name);
    for (const name of names) assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/);
    assert.equal(new Set(names).size, names.length);
    const ofWorkflows = ['step', 'reset_session', 'fork_session', 'next', 'history', 'complete'];
    for (const workflow of ['door', 'bar'])
      for (const tool of ofWorkflows) assert.ok(names.includes(`${workflow}__${tool}`), `${workflow}__${tool}`);
    for (const name of ['small__pid', 'second__pid', 'complete']) assert.ok(names.includes(name), name);
    assert.ok(!names.includes('small__fails'), 'what can never be permitted is not listed');

    const { content } = await served.client.callTool({ name: 'small__pid', arguments: {} });
    assert.match(JSON.stringify(content), /"text"/);
    const denied = await served.call('small/fails', {});
    assert.ok(isRefusal(denied) && denied.code === 'POLICY_DENY', JSON.stringify(denied));

    const opened = await served.call('door__step', { action: 'open' });
    assert.ok(isSuccess(opened), JSON.stringify(opened));
    assert.deepEqual(opened.valid_next_actions, ['shut']);
    const poured = await served.call('bar__step', { action: 'serve' });
    assert.ok(isSuccess(poured) && poured.session !== opened.session, JSON.stringify(poured));
    const shut = await served.call('door/step', { action: 'shut' });
    assert.ok(isSuccess(shut) && shut.session === opened.session, 'each workflow has a session of its own');
    const wrong = await served.call('door__step', { action: 'shut' });
    assert.ok(isRefusal(wrong) && wrong.error === 'invalid_transition');
    const next = await served.client.callTool({ name: 'door__next', arguments: {} });
    assert.match(JSON.stringify(next.structuredContent), /"valid_next_actions":\["open"\]/);

    await served.client.close();
    assert.deepEqual(served.errors, []);
    await eventually('it has ended', async () => !isAlive(served.pid));
    const sessions = objectsIn(recourse(['sessions', 'ls', '--json'], { cwd: home }).stdout);
    assert.deepEqual(sessions.map((each) => [each['workflow'], each['agent']]).toSorted(), [
      ['bar', 'bot'],
      ['door', 'bot'],
    ]);
  },
);

test('what a module prints while it is loaded does not reach the client', (t) => {
  const { home, file } = barProject(t);
  writeFileSync(path.join(home, 'recourse.yaml'), 'workflows:\n  bar: ./bar.ts\n');
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const input = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`;
  // Clients pass over a line that is no message, or end: what is written is looked at itself.
  const { stdout, stderr } = spawnSync(process.execPath, [bin, 'stdio', '--file', file], {
    cwd: home,
    input,
    encoding: 'utf8',
  });
  assert.match(stderr, /the module prints/);
  assert.doesNotMatch(stdout, /prints/);
  for (const message of objectsIn(stdout)) assert.equal(message['jsonrpc'], '2.0', stdout);
});

test('--mode tools offers each action by the name it is listed under', { timeout: 120_000 }, async (t) => {
  const home = project(t);
  const served = await connectCommand(t, ['stdio', '--agent', 'bot', '--mode', 'tools'], { cwd: home });
  const names = (await served.client.listTools()).tools.map(({ name }) => name);
  assert.ok(
    names.includes('door__open') && names.includes('bar__serve') && !names.includes('door__step'),
    names.join(),
  );
  const opened = await served.call('door__open', {});
  assert.ok(isSuccess(opened), JSON.stringify(opened));
  assert.deepEqual(opened.valid_next_actions, ['door__shut']);
  const wrong = await served.call('door__open', {});
  assert.ok(isRefusal(wrong));
  assert.deepEqual(wrong.resolution, { type: 'choose_action', actions: ['door__shut'] });
  const form = "action 'open' is not reachable from current state. Valid actions now: ['door__shut'].";
  assert.equal(wrong.message, form);
  await served.call('door__open', {});
  const again = await served.call('door__open', {});
  const hint = "Do not send it again like this: call one of valid_next_actions, such as 'door__shut'.";
  assert.ok(isRefusal(again));
  assert.equal(again.message, `${form} Refused 3 times in a row. ${hint}`);
});

test(
  'beside a gateway that runs it forwards to it; an agent that is not declared may call nothing',
  { timeout: 120_000 },
  async (t) => {
    const home = project(t);
    const up = await startGoverned(t, yaml, [], home);
    await up.ready();
    const served = await connectCommand(t, ['stdio', '--agent', 'bot'], { cwd: home });
    await served.saying(/as its forwarder/);
    const opened = await served.call('door__step', { action: 'open' });
    assert.ok(isSuccess(opened), JSON.stringify(opened));
    const seen = await up.ask(`/v1/sessions/${opened.session}`, { key: up.keyOf('bot') });
    assert.deepEqual([seen.status, seen.body['valid_next_actions']], [200, ['shut']]);

    const stranger = await connectCommand(t, ['stdio', '--agent', 'stranger'], { cwd: home });
    await stranger.saying(/the agent 'stranger' is not declared, and may call nothing: name another with --agent/);
    const refused = await stranger.call('small__pid', {});
    assert.ok(isRefusal(refused) && refused.code === 'POLICY_DENY', JSON.stringify(refused));
    assert.equal(await up.stop(), 0);
  },
);

test(
  'without --agent the only agent of the file calls; of several one must be named',
  { timeout: 120_000 },
  async (t) => {
    const home = project(t);
    const served = await connectCommand(t, ['stdio'], { cwd: home });
    const ran = await served.call('door__step', { action: 'open' });
    assert.ok(isSuccess(ran), JSON.stringify(ran));
    await served.client.close();
    await eventually('it has ended', async () => !isAlive(served.pid));
    const [session] = objectsIn(recourse(['sessions', 'ls', '--json'], { cwd: home }).stdout);
    assert.equal(session?.['agent'], 'bot');

    writeFileSync(path.join(home, 'recourse.yaml'), `${yaml}${rules('helper', ['permit: small/pid'])}`);
    const { status, stdout, stderr } = recourse(['stdio'], { cwd: home });
    assert.deepEqual([status, stdout], [1, '']);
    assert.equal(stderr, 'recourse: several agents are declared: say with --agent which of them calls: bot, helper\n');
  },
);
