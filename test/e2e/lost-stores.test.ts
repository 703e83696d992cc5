/**
 * A store that is deleted, emptied or replaced is noticed: by the gateway that has it open, and by the one that starts
 * beside what is left.
 */
import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createGateway, GatewayError, type OperatorNotice } from '../../src/index.ts';
import { errorOf, successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { startGoverned } from '../support/governed-up.ts';
import { folderOf } from '../support/open-gateway.ts';
import { bin, folder, recourse, startGateway, exitOf } from '../support/recourse-process.ts';
import { smallServer } from '../support/small-server.ts';
import { createCountingTool } from '../support/tools.ts';

const asked = { tool: 'pay', args: { amount: 5 }, key: 'order-17' };

async function openPaid(t: TestContext) {
  const file = path.join(folderOf(t), 'store', 'recourse.db');
  mkdirSync(path.dirname(file));
  const pay = createCountingTool('pay');
  const notices: OperatorNotice[] = [];
  const limits = { storeRetryMs: [5, 5], sweepEveryMs: 20 };
  const open = async (more: object = {}) => {
    const onNotice = (notice: OperatorNotice) => void notices.push(notice);
    const gateway = await createGateway({ tools: [pay.definition], file, limits, onNotice, ...more });
    t.after(() => gateway.close({ drain_seconds: 0 }));
    return gateway;
  };
  const gateway = await open();
  successOf(await gateway.handle(asked));
  return { file, pay, notices, gateway, open };
}

/** All that SQLite has of it; what else stands beside it stays. */
const removeStore = (file: string) => {
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
};

const harms: Readonly<Record<string, (file: string) => void>> = {
  'is deleted with its log': removeStore,
  'is deleted without its log': (file) => rmSync(file),
  'is deleted with everything beside it': (file) => rmSync(path.dirname(file), { recursive: true }),
  'is moved away': (file) => renameSync(file, `${file}.away`),
  'is replaced': (file) => {
    copyFileSync(file, `${file}.copy`);
    renameSync(`${file}.copy`, file);
  },
  'is emptied': (file) => truncateSync(file, 0),
  'loses its log': (file) => rmSync(`${file}-wal`),
  'has its log emptied': (file) => truncateSync(`${file}-wal`, 0),
};

describe('a store that, under a gateway,', () => {
  for (const [what, harm] of Object.entries(harms))
    test(`${what}: nothing more is acknowledged, and the operator hears why`, async (t) => {
      const { file, gateway, notices, pay } = await openPaid(t);
      harm(file);
      for (let at = 0; at < 3; at++) {
        const reply = errorOf(await gateway.handle({ tool: 'pay', args: { at } }), 'session_error');
        assert.deepEqual([reply.code, reply.effect], ['StoreUnavailable', 'none']);
      }
      assert.equal(pay.runs(), 1, 'nothing ran that is not on record');
      assert.equal(gateway.status().store, 'unavailable');
      const told = notices.find(({ kind }) => kind === 'store_unavailable');
      assert.ok(told?.kind === 'store_unavailable', JSON.stringify(notices));
      assert.deepEqual([told.fault, /put the store back or restore a backup/.test(told.message)], ['lost', true]);
    });

  test('is deleted: status says so without any call', async (t) => {
    const { file, gateway } = await openPaid(t);
    removeStore(file);
    await eventually('it is noticed', async () => gateway.status().store === 'unavailable');
  });
});

describe('a start beside what is left of a store', () => {
  const left: Readonly<Record<string, (file: string) => void>> = {
    'that is missing': removeStore,
    'that is empty': (file) => {
      removeStore(file);
      writeFileSync(file, '');
    },
    "that is missing with its head, while the operator's key is there": (file) => {
      removeStore(file);
      rmSync(`${file}.head`);
      writeFileSync(`${file}.token`, '', { mode: 0o600 });
    },
  };
  for (const [what, harm] of Object.entries(left))
    test(`${what} is refused, with a sentence; newStore begins anew`, async (t) => {
      const { file, gateway, open, pay } = await openPaid(t);
      await gateway.close();
      harm(file);
      await assert.rejects(open(), (error) => {
        assert.ok(error instanceof GatewayError);
        assert.equal(error.reason, 'store_missing');
        assert.match(error.message, /it is missing or empty: put it back, or restore a backup.+--new-store/);
        return true;
      });
      const anew = await open({ newStore: true });
      successOf(await anew.handle(asked));
      assert.equal(pay.runs(), 2);
      await anew.close();
      const again = await open();
      assert.equal(successOf(await again.handle(asked)).replayed, true);
    });

  test('that was killed, and whose log was deleted, is refused', async (t) => {
    const home = folder(t);
    const file = path.join(home, 'recourse.db');
    await (await createGateway({ tools: [], file })).close();
    const gateway = await startGateway(t, file);
    for (let cents = 0; cents < 5; cents++) await gateway.ask({ tool: 'pay', args: { cents } });
    // What it writes beside the store is a second behind at most.
    await eventually('its head is written down', async () => /"seq":1\d/.test(headOf(file)));
    gateway.child.kill('SIGKILL');
    await exitOf(gateway.child);
    for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`);
    await assert.rejects(createGateway({ tools: [], file }), /older copy, or its log was deleted.+--new-store/);
  });

  test('that was put back as an older copy is refused, and taken as it is with newStore', async (t) => {
    const { file, gateway, open } = await openPaid(t);
    await gateway.close();
    copyFileSync(file, `${file}.backup`);
    const second = await open();
    successOf(await second.handle({ ...asked, key: 'order-18' }));
    await second.close();
    copyFileSync(`${file}.backup`, file);
    await assert.rejects(open(), /is an older copy, or its log was deleted/);
    const restored = await open({ newStore: true });
    assert.equal(successOf(await restored.handle(asked)).replayed, true);
  });

  test('that is another store is refused', async (t) => {
    const { file, gateway, open } = await openPaid(t);
    await gateway.close();
    const other = `${file}.other`;
    await (await createGateway({ tools: [], file: other })).close();
    removeStore(file);
    renameSync(other, file);
    await assert.rejects(open(), /is another store than the one that was here/);
  });

  test('of which there never was one goes on as ever, although keys were made before', async (t) => {
    const home = folder(t);
    const made = recourse(['agents', 'add', 'bot', '--file', path.join(home, 'recourse.db')], { cwd: home });
    assert.equal(made.status, 0, made.stderr);
    assert.ok(existsSync(path.join(home, 'recourse.db.keys')) && !existsSync(path.join(home, 'recourse.db')));
    const up = await startGoverned(t, `tools:\n${smallServer()}`, ['--file', 'recourse.db'], home);
    await up.ready();
  });

  test('is refused by the command, which names --new-store, and begins anew with it', async (t) => {
    const words = ['--file', 'recourse.db'];
    const yaml = `tools:\n${smallServer()}`;
    const up = await startGoverned(t, yaml, words);
    await up.ready();
    await up.stop();
    removeStore(path.join(up.home, 'recourse.db'));
    const refused = recourse(['up', '--listen', '127.0.0.1:0', ...words], { cwd: up.home });
    assert.equal(refused.status, 3, refused.stderr);
    assert.match(refused.stderr, /there was a store at .+ missing or empty.+--new-store/);
    assert.deepEqual(
      readdirSync(up.home).filter((name) => name === 'recourse.db'),
      [],
      bin,
    );
    const anew = await startGoverned(t, yaml, [...words, '--new-store'], up.home);
    await anew.ready();
  });
});

function headOf(file: string): string {
  return existsSync(`${file}.head`) ? readFileSync(`${file}.head`, 'utf8') : '';
}
