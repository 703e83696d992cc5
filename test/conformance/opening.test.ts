/** CONTRACT section 9: a gateway that cannot start says why and what to do; two processes share one file. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test, type TestContext } from 'node:test';
import type { CallId } from '../../src/core/call/call.ts';
import { createGateway, GatewayError, isRefusal, isSuccess, tool, ToolDefinitionError } from '../../src/index.ts';
import { openGateway as openWithShell } from '../../src/main.ts';
import { handleCall } from '../../src/shell/call/handle-call.ts';
import { takeOver } from '../../src/shell/upkeep/recover.ts';
import { errorOf, successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { folderOf, openGateway } from '../support/open-gateway.ts';
import { startChild } from '../support/start-child.ts';
import { aTool } from '../support/tools.ts';
import { createWorld, executionsIn, toolOf } from '../support/world.ts';

const act = aTool('act', () => 1);

/** Tries to open the file, and checks what every refusal has in common. */
async function refusalOf(file: string): Promise<GatewayError> {
  const refused = await createGateway({ tools: [act], file }).then(
    async (gateway) => {
      await gateway.close();
      return null;
    },
    (error: unknown) => error,
  );
  assert.ok(refused instanceof GatewayError, `a GatewayError, not ${String(refused)}`);
  assert.equal(refused.name, 'GatewayError');
  assert.ok(refused.message.includes(file), `names the file: ${refused.message}`);
  assert.match(refused.message, /: \w+/, 'says what to do');
  assert.doesNotMatch(refused.message, /\n|SQLITE_|errcode|\bat .+:\d+/);
  return refused;
}

async function aStore(t: TestContext, name = 'store.db'): Promise<string> {
  const file = path.join(folderOf(t), name);
  const gateway = await createGateway({ tools: [act], file });
  await gateway.call({ tool: 'act', args: {} } as never);
  await gateway.close();
  return file;
}

describe('a gateway that cannot start', () => {
  test('[C9-start-1] because the folder does not exist says not_writable', async (t) => {
    assert.equal((await refusalOf(path.join(folderOf(t), 'gone', 'store.db'))).reason, 'not_writable');
  });

  test('[C9-start-1] because the folder is not writable says not_writable', async (t) => {
    const folder = path.join(folderOf(t), 'locked');
    mkdirSync(folder);
    const file = path.join(folder, 'store.db');
    chmodSync(folder, 0o555);
    // Nothing is forbidden to root, so somebody else tries.
    chmodSync(folderOf(t), 0o755);
    const identity = process.getuid?.() === 0 ? { uid: 65_534 } : {};
    const canStart = spawnSync(process.execPath, ['--check', import.meta.filename], identity).status === 0;
    if (!canStart) return t.skip('whoever is not root cannot read this project');
    const child = startChild(t, { file, log: file, calls: [], bodies: 'return' }, identity);
    const refused = await child.next('refused');
    assert.deepEqual([refused.name, refused.reason], ['GatewayError', 'not_writable']);
    return assert.ok(refused.message.includes(file));
  });

  test('[C9-start-2] because the file is not a database says not_a_store, and leaves it alone', async (t) => {
    const file = path.join(folderOf(t), 'letter.txt');
    const text = 'Dear Ada, this is not a database.\n'.repeat(100);
    writeFileSync(file, text);
    assert.equal((await refusalOf(file)).reason, 'not_a_store');
    assert.equal(readFileSync(file, 'utf8'), text);
  });

  test('[C9-start-2] because the database is another program’s says not_a_store, and leaves it alone', async (t) => {
    const file = path.join(folderOf(t), 'theirs.db');
    const theirs = new DatabaseSync(file);
    theirs.exec('CREATE TABLE letters (text TEXT)');
    theirs.close();
    const before = readFileSync(file);
    assert.equal((await refusalOf(file)).reason, 'not_a_store');
    assert.deepEqual(readFileSync(file), before);
  });

  test('[C9-start-3] because a newer version wrote the file says newer_schema', async (t) => {
    const file = await aStore(t);
    const database = new DatabaseSync(file);
    database.exec('PRAGMA user_version = 999');
    database.close();
    const refused = await refusalOf(file);
    assert.equal(refused.reason, 'newer_schema');
    assert.match(refused.message, /999.+upgrade/);
  });

  test('[C9-start-4] because the journal was changed says journal_broken and names the record', async (t) => {
    const file = await aStore(t);
    const database = new DatabaseSync(file);
    database.exec(`UPDATE payloads SET bytes = CAST('{"amount":1}' AS BLOB) WHERE id = 1`);
    database.close();
    const refused = await refusalOf(file);
    assert.equal(refused.reason, 'journal_broken');
    assert.match(refused.message, /broken at record 1\/\d+: payload 'args'/);
  });

  test('[C9-start-5] because of its tools says which and why, before it touches the file', async (t) => {
    const file = path.join(folderOf(t), 'store.db');
    const twice = createGateway({ tools: [act, aTool('act', () => 2)], file });
    await assert.rejects(
      twice,
      (error) => error instanceof ToolDefinitionError && error.message.startsWith("tool 'act': its name is taken"),
    );
    assert.throws(
      () => tool({ name: 'pay', description: 'pays', effect: 'keyed', input: {}, run: async () => 1 }),
      /'keyed' without a window/,
    );
    assert.throws(() => statSync(file));
  });

  test(
    '[C9-start-6] a file that only its owner can read is made',
    { skip: process.platform === 'win32' },
    async (t) => {
      const file = await aStore(t);
      assert.equal(statSync(file).mode & 0o777, 0o600);
    },
  );
});

describe('a second process on the same file', () => {
  const open = async (t: TestContext) => {
    const log = path.join(folderOf(t), 'world.log');
    const owner = await openGateway(
      t,
      createWorld(log, () => 'done by the owner'),
      { limits: { sweepEveryMs: 20 } },
    );
    return { owner, log, orders: { file: owner.file, log, calls: [] } };
  };

  test('[C6-process-1] forwards its writes, and both see one record', async (t) => {
    const { owner, log, orders } = await open(t);
    assert.equal(owner.role, 'owner');
    const child = startChild(t, { ...orders, bodies: 'return' });
    assert.equal((await child.next('opened')).role, 'forwarder');
    const reply = successOf(await child.ask({ tool: toolOf('plain'), args: { n: 1 } }));
    assert.equal(reply.result, 'done by the child');
    assert.deepEqual(await owner.reply(reply.call_id), reply);
    successOf(await owner.call({ tool: toolOf('plain'), args: { n: 2 } }));
    assert.equal(executionsIn(log).length, 2);
    await child.end();
  });

  test('[C6-process-2] shares the keys: what one has run the other replays', async (t) => {
    const { owner, log, orders } = await open(t);
    const child = startChild(t, { ...orders, bodies: 'return' });
    await child.next('opened');
    const asked = { tool: toolOf('plain'), args: { n: 1 }, key: 'k' };
    const first = successOf(await child.ask(asked));
    assert.deepEqual(await owner.call(asked), { ...first, replayed: true });
    const other = { ...asked, key: 'j' };
    const second = successOf(await owner.call(other));
    assert.deepEqual(await child.ask(other), { ...second, replayed: true });
    assert.equal(executionsIn(log).length, 2);
    await child.end();
  });

  test('[C6-process-2] shares the keys also while a call runs: who waits gets its result', async (t) => {
    const { owner, log, orders } = await open(t);
    const child = startChild(t, { ...orders, bodies: 'hang' });
    await child.next('opened');
    const asked = { tool: toolOf('plain'), args: { n: 1 }, key: 'k' };
    void child.ask({ ...asked, deadline_seconds: 2 }).catch(() => undefined);
    const { execution } = await child.next('began');
    assert.equal(errorOf(await owner.call(asked), 'action_in_flight').in_flight_call_id, execution.call_id);
    const reply = errorOf(await owner.call({ ...asked, wait_seconds: 20 }), 'action_timeout');
    assert.deepEqual([reply.replayed, reply.call_id, reply.effect], [true, execution.call_id, 'unknown']);
    assert.equal(executionsIn(log).length, 1);
  });

  test('[C6-process-3] that is killed in the middle of calls leaves them to the owner, who settles them', async (t) => {
    const { owner, log, orders } = await open(t);
    const child = startChild(t, { ...orders, bodies: 'hang' });
    await child.next('opened');
    for (const effect of ['plain', 'keyed'] as const)
      void child.ask({ tool: toolOf(effect), args: { n: 1 } }).catch(() => undefined);
    const began = [await child.next('began', 1), await child.next('began', 2)].map(({ execution }) => execution);
    await child.kill();
    const [plain, keyed] = ['plain', 'keyed'].map(
      (effect) => began.find((each) => each.tool === `${effect}_act`)?.call_id ?? '',
    );
    await eventually('the doubt', async () => (await owner.stored(plain ?? '')).state === 'IN_DOUBT');
    const ended = await eventually('the second attempt', async () => {
      const reply = await owner.reply(keyed ?? '');
      return reply !== null && isSuccess(reply) && reply;
    });
    assert.equal(ended.result, 'done by the owner');
    assert.equal(executionsIn(log).filter(({ call_id: callId }) => callId === plain).length, 1);
  });

  test('[C6-process-4] runs nothing while there is no owner, and goes on as soon as there is a new one', async (t) => {
    const { owner, log, orders } = await open(t);
    const child = startChild(t, { ...orders, bodies: 'return', limits: { storeRetryMs: [5], sweepEveryMs: 20 } });
    await child.next('opened');
    const asked = { tool: toolOf('plain'), args: { n: 1 } };
    successOf(await child.ask(asked));
    await owner.close();
    const refused = await child.ask(asked);
    assert.ok(isRefusal(refused) && refused.code === 'StoreUnavailable', JSON.stringify(refused));
    assert.equal(executionsIn(log).length, 1);
    await openGateway(
      t,
      createWorld(log, () => 'done by the new owner'),
    );
    const goesOn = async () => {
      const reply = await child.ask(asked);
      // Until what it could not record is on record, an equal write is told to wait.
      return isRefusal(reply) && reply.code === 'StoreUnavailable' ? false : successOf(reply);
    };
    assert.equal((await eventually('its turn', goesOn)).result, 'done by the child');
    await child.next('noticed', ({ notice }) => notice.kind === 'store_recovered');
    assert.equal(executionsIn(log).length, 2);
    await child.end();
  });

  for (const key of [null, 'k'])
    test(`[C6-process-5] that could not send a call ${key === null ? 'without' : 'with'} a key says so, although another put it in doubt`, async (t) => {
      let runs = 0;
      const act = aTool('act', () => (runs += 1));
      const file = path.join(folderOf(t), 'recourse.db');
      const opened = await openWithShell({
        tools: [act],
        file,
        onNotice: () => undefined,
        limits: { storeRetryMs: [1] },
      });
      t.after(() => opened.gateway.close());
      const { store } = opened.shell.ports;
      successOf(await opened.gateway.handle({ tool: 'act', args: { n: 0 } }));
      // An owner that stood still records what it finds in its buffer, hears that the link has ended, and settles its
      // calls.
      let lost = 0;
      const commit: typeof store.commit = async (transitions) => {
        const results = await store.commit(transitions);
        const [transition] = transitions;
        if (transition?.call?.kind !== 'insert' || lost++ > 0) return results;
        const sent = await store.call(transition.call.call.id);
        assert.equal(await takeOver(sent ?? assert.fail(), opened.shell), 'IN_DOUBT');
        return [{ kind: 'unavailable', fault: 'owner_gone', message: 'lost' }];
      };
      const shell = { ...opened.shell, ports: { ...opened.shell.ports, store: { ...store, commit } } };
      const request = { tool: 'act', args: { n: 1 }, ...(key === null ? {} : { key }) };
      const reply = await handleCall(request, { tenant: 'default', agent: 'local' }, {}, shell);
      assert.equal(errorOf(reply, 'action_error').effect, 'none');
      assert.equal((await store.call(reply.call_id as CallId))?.state, 'FAILED');
      assert.equal(runs, 1);
    });
});
