/** One file, several processes: who owns it, what the others can do, and what a kill leaves behind. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';

import { encodeFrame } from '../../src/adapters/store-sqlite/share/frames.ts';
import { openSqliteReader } from '../../src/adapters/store-sqlite/read/open-reader.ts';
import { openSqliteStore } from '../../src/adapters/store-sqlite/open-store.ts';
import { placeOfStore } from '../../src/adapters/store-sqlite/share/place.ts';
import { protocolVersion } from '../../src/adapters/store-sqlite/share/serve-forwarders.ts';
import type { CallId } from '../../src/core/call/call.ts';
import { aCall, commitOne, inserting, mustCommit, stored, updating, verifyAll } from './store-fixtures.ts';
import { inFolder, mustOpen } from './sqlite-home.ts';

const script = path.join(import.meta.dirname, 'store-child.ts');

interface Child {
  readonly role: string;
  readonly incarnation: string;
  /** The next line that the child prints; null when it is gone. */
  line(): Promise<string | null>;
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  kill(): Promise<void>;
}

const children: Child[] = [];

async function start(...args: string[]): Promise<Child> {
  const child: ChildProcess = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  const line = async () => {
    const next = await lines.next();
    return next.done ? null : String(next.value);
  };
  const [role = '', incarnation = ''] = ((await line()) ?? '').split(' ');
  const started: Child = {
    role,
    incarnation,
    line,
    signal: (name) => void child.kill(name),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
  children.push(started);
  return started;
}

/** A file of its own for each test; children that are still alive at its end are ended, whatever happened. */
const inFile = (body: (file: string) => Promise<void>) =>
  inFolder(async (folder) => {
    try {
      await body(path.join(folder, 's.db'));
    } finally {
      for (const child of children.splice(0)) await child.kill();
    }
  });

test('kill -9 frees the lock, and the next one owns the file', async () => {
  await inFile(async (file) => {
    const child = await start('hold', file);
    assert.equal(child.role, 'owner');
    const beside = await openSqliteStore({ file });
    assert.equal(beside.kind === 'opened' && beside.role, 'forwarder');
    await child.kill();
    const next = await openSqliteStore({ file });
    assert.equal(next.kind === 'opened' && next.role, 'owner');
    if (next.kind === 'opened') {
      const [open] = (await next.store.entries(null, 1)).slice(-1);
      assert.match(open?.body ?? '', /"reason":"after_crash"/);
      await next.store.close();
    }
    if (beside.kind === 'opened') await beside.store.close();
  });
});

test('a second process reads, forwards, and is told when the owner is gone', async () => {
  await inFile(async (file) => {
    const child = await start('hold', file);
    const beside = await mustOpen({ file });
    try {
      const call = aCall({ state: 'DISPATCHED', attempt: 1, owner: beside.incarnation });
      const insert = inserting(call, ['PREPARED', 'DISPATCHED']);
      const first = await mustCommit(beside, insert);
      assert.deepEqual(await mustCommit(beside, insert), first);
      assert.equal((await stored(beside, call.id)).owner, beside.incarnation);
      const conflict = await commitOne(beside, inserting(call, ['PREPARED', 'DISPATCHED']));
      assert.equal(conflict.kind === 'conflict' && conflict.on === 'call' && conflict.found?.id, call.id);
      const many = await Promise.all(Array.from({ length: 300 }, () => commitOne(beside, inserting(aCall()))));
      assert.ok(many.every(({ kind }) => kind === 'committed'));
      assert.equal((await beside.erase(call.id, 'asked', 1)).kind, 'committed');

      await child.kill();
      // The first commit may still meet the dying connection; the second cannot.
      const dying = await commitOne(beside, inserting(aCall()));
      assert.ok(dying.kind === 'unavailable' && ['owner_gone', 'no_owner'].includes(dying.fault));
      const orphan = await commitOne(beside, inserting(aCall()));
      assert.equal(orphan.kind === 'unavailable' && orphan.fault, 'no_owner', 'nothing was sent');
      assert.match(orphan.kind === 'unavailable' ? orphan.message : '', /restart it or this one/);
      assert.equal((await stored(beside, call.id)).state, 'DISPATCHED');

      const heir = await start('hold', file);
      assert.equal(heir.role, 'owner');
      const late = updating(call, { state: 'SUCCEEDED', dueAtMs: null });
      assert.equal((await mustCommit(beside, late)).position?.epoch, 2);
      assert.deepEqual((await verifyAll(beside)).problems, []);
      await heir.kill();
    } finally {
      await beside.close();
      await child.kill();
    }
  });
});

test('the owner hears which forwarder is gone, and what it committed stays', async () => {
  await inFile(async (file) => {
    const store = await mustOpen({ file });
    const gone = new Promise<string>((resolve) => store.onForwarderGone(resolve));
    const child = await start('write', file, 'fwd');
    assert.equal(child.role, 'forwarder');
    const [state = '', id = ''] = ((await child.line()) ?? '').split(' ');
    await child.kill();
    assert.equal(await gone, child.incarnation);
    assert.equal(state, 'DISPATCHED');
    assert.equal((await stored(store, id as CallId)).owner, child.incarnation);
    await mustCommit(store, inserting(aCall()));
    assert.deepEqual((await verifyAll(store)).problems, []);
    await store.close();
  });
});

test('the owner hears that a forwarder is gone when all that it handed over has landed', async () => {
  await inFile(async (file) => {
    const store = await mustOpen({ file });
    const frame = (value: unknown) => encodeFrame(JSON.stringify(value)) as Buffer;
    const hello = frame({ type: 'hello', version: protocolVersion, incarnation: 'inc_x' });
    const commits = Array.from({ length: 100 }, (_, id) =>
      frame({ type: 'commit', id, requests: Array.from({ length: 10 }, () => inserting(aCall())) }),
    );
    const count = async () => (await store.listCalls({ limit: 10_000 })).length;
    const landed = new Promise<number>((resolve) => store.onForwarderGone(async () => resolve(await count())));
    const link = connect((placeOfStore(file) ?? assert.fail()).socket);
    link.resume().end(Buffer.concat([hello, ...commits]));
    const told = await landed;
    await mustCommit(store, inserting(aCall()));
    assert.deepEqual([told, await count()], [1_000, 1_001]);
    await store.close();
  });
});

test(
  'garbage on the socket ends that connection and harms nobody',
  { skip: process.platform === 'win32' },
  async () => {
    await inFile(async (file) => {
      const store = await mustOpen({ file });
      const child = await start('write', file, 'fwd');
      const { socket } = placeOfStore(file) ?? assert.fail();
      const hello = (over: object) =>
        encodeFrame(
          JSON.stringify({ type: 'hello', version: protocolVersion, incarnation: 'inc_x', ...over }),
        ) as Buffer;
      const commit = (requests: unknown) => encodeFrame(JSON.stringify({ type: 'commit', id: 1, requests })) as Buffer;
      const attacks = [
        Buffer.from('GET / HTTP/1.1\r\n\r\n'),
        Buffer.alloc(64, 0xff),
        hello({ version: 99 }),
        hello({ incarnation: 7 }),
        hello({ incarnation: 'x'.repeat(1_000) }),
        commit([]),
        Buffer.concat([hello({}), commit('all of it')]),
        Buffer.concat([hello({}), commit([{ ...inserting(aCall()), atMs: null }])]),
        Buffer.concat([hello({}), encodeFrame('{"type":"answered","position":{}}') as Buffer]),
        Buffer.concat([hello({}), encodeFrame('{"type":"known","id":1,"recorded":true}') as Buffer]),
        Buffer.concat([hello({}), hello({})]),
      ];
      for (const [index, attack] of attacks.entries()) {
        const raw = connect(socket);
        raw.resume().on('error', () => {});
        raw.write(attack);
        await once(raw, 'close', { signal: AbortSignal.timeout(60_000) }).finally(() => raw.destroy());
        assert.ok(await child.line(), `the forwarder goes on after attack ${index}`);
      }
      const before = await mustCommit(store, inserting(aCall()));
      assert.ok(before.position !== null);
      await child.kill();
      await store.close();
    });
  },
);

test('ten kills in the middle of commits lose nothing that was acknowledged', { timeout: 120_000 }, async () => {
  await inFile(async (file) => {
    const acknowledged = new Map<string, string>();
    for (let round = 0; round < 10; round++) {
      const child = await start('write', file, `r${round}`);
      assert.equal(child.role, 'owner');
      const read = async (lines: number) => {
        for (let count = 0; count < lines; count++) {
          const line = await child.line();
          if (line === null) return;
          const [state = '', id = ''] = line.split(' ');
          acknowledged.set(id, state);
        }
      };
      await read(50 + round * 37);
      const killed = child.kill();
      await read(Number.MAX_SAFE_INTEGER);
      await killed;
      const opened = await openSqliteReader(file);
      assert.ok(opened.kind === 'opened', JSON.stringify(opened));
      const { reader } = opened;
      for (const [id, state] of acknowledged) {
        const call = await stored(reader, id as CallId);
        if (state === 'SUCCEEDED') assert.equal(call.state, 'SUCCEEDED', id);
        const records = await reader.recordsOf(id as CallId);
        assert.equal(records.length, call.state === 'SUCCEEDED' ? 3 : 2, id);
      }
      const report = await verifyAll(reader);
      assert.deepEqual(report.problems, []);
      assert.equal(report.epochs, round + 1);
      opened.close();
    }
    assert.ok(acknowledged.size > 500, `${acknowledged.size} calls`);
  });
});

test('a process that forgot to close an idle store can still end', async () => {
  await inFile(async (file) => {
    const source = `
      import { openSqliteStore } from ${JSON.stringify(path.join(import.meta.dirname, '../../src/adapters/store-sqlite/open-store.ts'))};
      const opened = await openSqliteStore({ file: ${JSON.stringify(file)} });
      await opened.store.commit([]);
    `;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', source], { stdio: 'inherit' });
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });
});

test('a reader works beside the owner and sees what was acknowledged', async () => {
  await inFile(async (file) => {
    const child = await start('write', file, 'own');
    const [, id = ''] = ((await child.line()) ?? '').split(' ');
    const opened = await openSqliteReader(file);
    assert.ok(opened.kind === 'opened');
    await stored(opened.reader, id as CallId);
    opened.close();
    await child.kill();
  });
});

test('an owner that is stopped is not waited for without end, and what it wrote when it went on is written once', async () => {
  await inFile(async (file) => {
    const child = await start('hold', file);
    const beside = await openSqliteStore({ file, answerWithinMs: 200 });
    assert.ok(beside.kind === 'opened' && beside.role === 'forwarder');
    const { store } = beside;
    child.signal('SIGSTOP');
    const write = inserting(aCall({ id: 'call_stopped' as CallId }));
    const lost = await commitOne(store, write);
    assert.equal(lost.kind === 'unavailable' && lost.fault, 'owner_gone');
    child.signal('SIGCONT');
    let again = await commitOne(store, write);
    while (again.kind === 'unavailable') again = await commitOne(store, write);
    assert.equal(again.kind, 'committed');
    assert.equal((await store.recordsOf('call_stopped' as CallId)).length, 1);
    await store.close();
  });
});
