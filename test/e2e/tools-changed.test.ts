/**
 * A server that comes late is no loss: whoever listed the tools before hears that there are others now, over stdio and
 * HTTP.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { Client } from '@modelcontextprotocol/client';
import { isSuccess } from '../../src/index.ts';
import { connectCommand } from '../support/cli-project.ts';
import { eventually } from '../support/eventually.ts';
import { startGoverned } from '../support/governed-up.ts';
import { connectHttp, revisions } from '../support/mcp-connect.ts';
import { folder } from '../support/recourse-process.ts';
import { gatedServer, lateServer, rules, smallServer } from '../support/small-server.ts';

const projectWith = (gate: string): string =>
  `tools:\n${smallServer('quick')}${gatedServer(gate, 'late')}agents:\n${rules('bot', ['permit: "**"'])}`;

const listed = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

test('over stdio a client hears of a server that connects late', { timeout: 120_000 }, async (t) => {
  const home = folder(t);
  const gate = path.join(home, 'gate');
  writeFileSync(path.join(home, 'recourse.yaml'), projectWith(gate));
  const { client } = await connectCommand(t, ['stdio'], { cwd: home });
  assert.deepEqual(client.getServerCapabilities(), { tools: { listChanged: true } });
  const heard = Promise.withResolvers<void>();
  client.setNotificationHandler('notifications/tools/list_changed', () => heard.resolve());
  const before = await listed(client);
  assert.ok(before.includes('quick__pid') && !before.includes('late__pid'), before.join());
  writeFileSync(gate, '');
  await heard.promise;
  assert.ok((await listed(client)).includes('late__pid'));
});

/** A workflow needs its tools, so the gateway does not open before its server is there. */
const bound = `workflows:
  bar:
    actions: { serve: { tool: late/pid } }
    initial: idle
    states: { idle: { on: { serve: idle } } }
`;

for (const mode of ['legacy', 'auto'] as const)
  test(
    `a client is greeted before its servers are there, and what it asks then waits for them: ${mode}`,
    { timeout: 120_000 },
    async (t) => {
      const home = folder(t);
      const gate = path.join(home, 'gate');
      const yaml = `tools:\n${smallServer('quick')}${lateServer(gate, 'late')}${bound}agents:\n${rules('bot', ['permit: "**"'])}`;
      writeFileSync(path.join(home, 'recourse.yaml'), yaml);
      const { client, call, saying } = await connectCommand(t, ['stdio'], { cwd: home, mode });
      assert.match(client.getInstructions() ?? '', /The workflow 'bar' is walked with the tool `bar__step`/);
      if (mode === 'legacy') await client.ping();
      const listing = listed(client);
      const asked = call('bar__step', { action: 'serve' });
      writeFileSync(gate, '');
      const names = await listing;
      for (const name of ['quick__pid', 'late__pid', 'bar__step']) assert.ok(names.includes(name), names.join());
      const served = await asked;
      assert.ok(isSuccess(served), JSON.stringify(served));
      await saying(/serving every server and workflow/);
    },
  );

for (const revision of revisions)
  test(`over HTTP a client that listens hears of it, in ${revision}`, { timeout: 120_000 }, async (t) => {
    const home = folder(t);
    const gate = path.join(home, 'gate');
    const up = await startGoverned(t, projectWith(gate), [], home);
    await up.ready();
    let changes = 0;
    const onChanged = () => void (changes += 1);
    const { client } = await connectHttp(t, new URL(`${up.url}/mcp`), revision, {
      key: up.keyOf('bot'),
      listChanged: { tools: { autoRefresh: false, onChanged } },
    });
    assert.ok(!(await listed(client)).includes('late__pid'));
    writeFileSync(gate, '');
    await eventually('the list is another one', async () => changes > 0);
    assert.ok((await listed(client)).includes('late__pid'));
    assert.equal(await up.stop(), 0);
  });
