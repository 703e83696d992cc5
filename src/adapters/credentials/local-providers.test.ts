/** Files and programs that give no secret: none of them holds a thread of the gateway, or is left running. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { folder } from '../../../test/support/recourse-process.ts';
import { createExecProvider, createFileProvider } from './local-providers.ts';

const skip = process.platform === 'win32' ? 'it has no signals and no pipes in folders' : false;
const never = new AbortController().signal;
const reasonFor = async (file: string) => {
  const given = await createFileProvider({ provider: 'file', path: file }).fetch(never);
  return given.ok ? null : given.reason;
};

describe('a file', { skip }, () => {
  test('that is a pipe which nobody writes to is refused at once', async (t) => {
    const pipe = path.join(folder(t), 'pipe');
    execFileSync('mkfifo', [pipe]);
    assert.equal(await reasonFor(pipe), 'the file: not a file');
  });

  test('that is a device without an end, or a folder, is refused', async () => {
    assert.equal(await reasonFor('/dev/zero'), 'the file: not a file');
    assert.equal(await reasonFor('/'), 'the file: not a file');
  });

  test('that holds only white space has no secret', async (t) => {
    const file = path.join(folder(t), 'blank');
    execFileSync('sh', ['-c', `printf '%12s\\n' '' > "$0"`, file]);
    assert.equal(await reasonFor(file), 'an empty secret');
  });
});

/** A program of a shell. What it starts writes its own number into a file. */
function script(t: TestContext, text: string) {
  const file = path.join(folder(t), 'pid');
  const source = { provider: 'exec', command: 'sh', args: ['-c', text, file], cwd: null } as const;
  const startedBy = () =>
    eventually('it was started', async () => (existsSync(file) ? Number(readFileSync(file, 'utf8')) || null : null));
  return { provider: createExecProvider(source, process.env), startedBy };
}

const isAlive = (pid: number): boolean => {
  // One that has ended and that nobody waits for, as in a container without an init, is a zombie.
  const state = execFileSync('sh', ['-c', `ps -o stat= -p ${pid} || true`], { encoding: 'utf8' }).trim();
  return state !== '' && !state.startsWith('Z');
};

describe('a program', { skip }, () => {
  test('whose child prints for ever is ended with it', async (t) => {
    const { provider, startedBy } = script(t, 'yes & echo $! > "$0"; wait');
    const pid = await startedByAfter(provider.fetch(never), startedBy);
    await eventually('it has ended', async () => !isAlive(pid));
  });

  test('that nobody waits for any more is ended with its children', async (t) => {
    const { provider, startedBy } = script(t, 'sleep 1000 & echo $! > "$0"; wait');
    const stop = new AbortController();
    void provider.fetch(stop.signal);
    const pid = await startedBy();
    stop.abort();
    await eventually('it has ended', async () => !isAlive(pid));
  });
});

async function startedByAfter(asked: Promise<unknown>, startedBy: () => Promise<number>): Promise<number> {
  assert.deepEqual(await asked, { ok: false, reason: 'its output is too long' });
  return startedBy();
}
