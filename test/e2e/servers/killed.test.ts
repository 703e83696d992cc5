/**
 * An official server dies behind a running gateway: the others serve on, and the dead one serves again once it is back.
 */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { type Answer, type Asking, clients, envelopeOf } from '../../support/servers-clients.ts';
import { startUp } from '../../support/servers-gateway.ts';
import { createHome, everythingOverHttp, killed } from '../../support/servers-real.ts';
import { isAlive } from '../../support/upstream-mcp.ts';

const ada = { name: 'Ada', entityType: 'person', observations: ['was written before the end'] };
const bob = { name: 'Bob', entityType: 'person', observations: ['was never written'] };
const comesBackWithinMs = 60_000;

test('a server that is killed takes nothing with it', async (t) => {
  const home = createHome(t);
  const remote = await everythingOverHttp(t);
  const up = await startUp(t, home.path, {
    tools: {
      everything: { mcp: home.everything },
      remote: { mcp: { url: remote.url } },
      files: { mcp: home.files },
      memory: { mcp: home.memory, tools: { 'read_*': { effect: 'pure' } } },
    },
  });
  const client = await clients['the client of 2025-11-25'](t, up.url);
  await client.listTools();
  const graph = async () => (await client.callTool('memory/read_graph', {}))['structuredContent'];

  await t.test(
    'while it stands still the others answer; killed in the middle of a call, it may have done it',
    async (each) => {
      await client.callTool('memory/create_entities', { entities: [ada] });
      const pid = home.memoryPid();
      process.kill(pid, 'SIGSTOP');
      each.after(() => isAlive(pid) && process.kill(pid, 'SIGKILL'));
      const hanging = client.callTool('memory/create_entities', { entities: [bob] });
      // By the time these are answered, the one before them is long sent.
      await othersAnswer(client, 10);
      process.kill(pid, 'SIGKILL');
      const result = await hanging;
      const reply = envelopeOf(result);
      assert.equal(result['isError'], true);
      assert.deepEqual([reply['error'], reply['error_type']], ['action_error', 'ConnectionLost']);
      assert.equal(reply['effect'], 'unknown');
      assert.equal((reply['resolution'] as Answer)['type'], 'reconcile');
      await othersAnswer(client, 1);
      await backAfter(pid);
      assert.deepEqual(await graph(), { entities: [ada], relations: [] });
    },
  );

  await t.test('killed at rest, its next call waits for it, or has no effect', async (each) => {
    const pid = home.memoryPid();
    const others = keepCalling(each, client);
    process.kill(pid, 'SIGKILL');
    await eventually('the end of the server', async () => !isAlive(pid));
    const atOnce = await client.callTool('memory/read_graph', {});
    if (atOnce['isError'] === true) assertAway(atOnce, 'none');
    await backAfter(pid);
    assert.deepEqual(await graph(), { entities: [ada], relations: [] });
    const { answered, failed } = await others.end();
    assert.deepEqual(failed, []);
    assert.ok(answered > 0);
  });

  await t.test('its tools stay listed, and those of the others', async () => {
    const names = (await client.listTools()).map(({ name }) => String(name).split('__')[0]);
    assert.deepEqual(new Set(names), new Set(['everything', 'remote', 'files', 'memory']));
  });

  await t.test('over HTTP: it forgot its sessions with its life, and is called again all the same', async (each) => {
    await client.callTool('remote/echo', { message: 'before' });
    const others = keepCalling(each, client, 'files/list_allowed_directories', 'everything/echo');
    await killed(remote.child);
    const away = await client.callTool('remote/echo', { message: 'to nobody' });
    assert.equal(away['isError'], true);
    assertAway(away);
    await everythingOverHttp(each, remote.port);
    const reply = await eventually(
      'an answer of the server that is back',
      async () => {
        const { content, isError } = await client.callTool('remote/echo', { message: 'after' });
        return isError === true ? null : content;
      },
      comesBackWithinMs,
    );
    assert.deepEqual(reply, [{ type: 'text', text: 'Echo: after' }]);
    assert.deepEqual((await others.end()).failed, []);
  });

  assert.doesNotMatch(up.said(), /suppressed|bug/);

  async function backAfter(pid: number): Promise<void> {
    const isBack = async () => home.memoryPid() !== pid && (await up.upstream('memory')).state === 'connected';
    await eventually('the memory is served again', isBack, comesBackWithinMs);
  }
});

/** Whether the gateway knew already that nobody is there is a matter of moments; what that means is said either way. */
function assertAway(result: Answer, effect?: 'none'): void {
  const reply = envelopeOf(result);
  const isKnown = reply['error_type'] === 'NotConnected';
  assert.ok(isKnown || reply['error_type'] === 'ConnectionLost', JSON.stringify(reply));
  assert.equal(reply['effect'], effect ?? (isKnown ? 'none' : 'unknown'));
}

async function othersAnswer(client: Asking, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++)
    for (const [tool, args] of [
      ['everything/echo', { message: `round ${round}` }],
      ['remote/get-sum', { a: round, b: 1 }],
      ['files/list_allowed_directories', {}],
    ] as const) {
      const result = await client.callTool(tool, args);
      assert.notEqual(result['isError'], true, JSON.stringify(result));
    }
}

/** Calls one tool after the other until it is told to end, and remembers what did not succeed. */
function keepCalling(t: TestContext, client: Asking, ...tools: readonly string[]) {
  const asked = tools.length > 0 ? tools : ['files/list_allowed_directories', 'everything/echo', 'remote/echo'];
  const failed: Answer[] = [];
  let answered = 0;
  let isOver = false;
  const calling = (async () => {
    while (!isOver) {
      const tool = asked[answered++ % asked.length] ?? '';
      const result = await client.callTool(tool, tool.endsWith('echo') ? { message: 'still here' } : {});
      if (result['isError'] === true) failed.push(result);
    }
  })();
  // A test that failed does not wait for its end.
  calling.catch(() => undefined);
  t.after(() => void (isOver = true));
  return {
    async end() {
      isOver = true;
      await calling;
      return { answered, failed };
    },
  };
}
