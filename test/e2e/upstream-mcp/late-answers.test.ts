/**
 * The answer of a server that comes after the time of its call: it ends the doubt, as a body that comes back late does.
 */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { createGateway, isRefusal, isSuccess, type ServerOptions } from '../../../src/index.ts';
import type { CallId } from '../../../src/core/call/call.ts';
import { eventually } from '../../support/eventually.ts';
import { withReader } from '../../support/read-journal.ts';
import { folder, root } from '../../support/recourse-process.ts';

const program = path.join(root, 'test/support/late-child.ts');
const paid = { result: { content: [{ type: 'text', text: 'paid' }] } };
const ways = ['stdio', 'body', 'stream'] as const;

type Reach = Partial<ServerOptions>;

async function reach(t: TestContext, way: (typeof ways)[number], home: string, how: string): Promise<Reach> {
  if (way === 'stdio') return { command: process.execPath, args: [program, home, way, how] } as Reach;
  const child = fork(program, [home, way, how]);
  t.after(() => child.kill('SIGKILL'));
  const [port] = (await once(child, 'message')) as [number];
  return { url: `http://127.0.0.1:${port}/mcp` } as Reach;
}

async function open(t: TestContext, way: (typeof ways)[number], how = '', more: Partial<ServerOptions> = {}) {
  const home = folder(t);
  const file = path.join(home, 'recourse.db');
  const server = {
    name: 'bank',
    timeout_seconds: 0.5,
    annotations: 'trust',
    ...(await reach(t, way, home, how)),
    ...more,
  };
  const gateway = await createGateway({
    servers: [server as ServerOptions],
    file,
    onNotice: () => undefined,
  });
  t.after(() => gateway.close({ drain_seconds: 0 }));
  const log = () => (existsSync(path.join(home, 'log')) ? readFileSync(path.join(home, 'log'), 'utf8') : '');
  const answers = (said: object) => {
    // Whole when it is there: the server looks for it all the time.
    writeFileSync(path.join(home, 'next'), JSON.stringify(said));
    renameSync(path.join(home, 'next'), path.join(home, 'answer'));
  };
  return { gateway, log, answers, file };
}

for (const way of ways) {
  test(`a result that comes late makes a call in doubt a success, by ${way}`, async (t) => {
    const { gateway, log, answers } = await open(t, way);
    const reply = await gateway.handle({ tool: 'bank/pay', args: {}, key: 'k' });
    assert.ok(isRefusal(reply) && reply.error === 'action_timeout', JSON.stringify(reply));
    assert.equal(reply.effect, 'unknown');
    await eventually('it is called', async () => log() !== '');
    assert.equal(log(), 'called pay\n', 'it was not told to stop');
    answers(paid);
    const settled = await eventually('a success', async () => {
      const now = await gateway.reply(reply.call_id);
      return now !== null && isSuccess(now) ? now : null;
    });
    assert.deepEqual(settled.result, paid.result);
    const again = await gateway.handle({ tool: 'bank/pay', args: {}, key: 'k' });
    assert.ok(isSuccess(again) && again.replayed === true, JSON.stringify(again));
    assert.equal(log(), 'called pay\n', 'and it was called once');
  });

  test(`a failure that comes late ends the doubt only if it proves something, by ${way}`, async (t) => {
    const failed = { result: { content: [{ type: 'text', text: 'no' }], isError: true } };
    const proving = await open(t, way, '', { on_error: 'none' });
    const first = await proving.gateway.handle({ tool: 'bank/pay', args: {} });
    proving.answers(failed);
    await eventually('the doubt ends', async () => {
      const now = await proving.gateway.reply(first.call_id);
      return now !== null && isRefusal(now) && now.effect === 'none' && now.error === 'action_error';
    });

    const { gateway, answers, file } = await open(t, way);
    const { call_id: id } = await gateway.handle({ tool: 'bank/pay', args: {} });
    answers(failed);
    await eventually('the late answer is on record', async () => {
      const records = await withReader(file, (reader) => reader.recordsOf(id as CallId));
      return records.filter(({ kind }) => kind === 'orphaned').length === 2;
    });
    const now = await gateway.reply(id);
    assert.ok(now !== null && isRefusal(now) && now.effect === 'unknown', JSON.stringify(now));
  });

  test(`a read is withdrawn at once, by ${way}`, async (t) => {
    const { gateway, log } = await open(t, way);
    const reply = await gateway.handle({ tool: 'bank/look', args: {} });
    assert.ok(isRefusal(reply) && reply.error === 'action_timeout' && reply.effect === 'none', JSON.stringify(reply));
    await eventually('it was told', async () => /cancelled|hung up/.test(log()));
  });
}

test('a call that its caller cancelled: the server is told, and what it answers all the same ends the doubt, once', async (t) => {
  const { gateway, log, answers } = await open(t, 'stdio', 'stubborn', { timeout_seconds: 60 });
  const stop = new AbortController();
  const replying = gateway.handle({ tool: 'bank/pay', args: {} }, { signal: stop.signal });
  await eventually('it is called', async () => log() === 'called pay\n');
  stop.abort();
  const reply = await replying;
  assert.ok(isRefusal(reply) && reply.error === 'cancelled' && reply.effect === 'unknown', JSON.stringify(reply));
  await eventually('it was told', async () => log().includes('cancelled'));
  answers(paid);
  const settled = await eventually('a success', async () => {
    const now = await gateway.reply(reply.call_id);
    return now !== null && isSuccess(now) ? now : null;
  });
  assert.deepEqual(settled.result, paid.result, 'the first answer counts, the second has nobody to go to');
});
