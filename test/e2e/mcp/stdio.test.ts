import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import test, { type TestContext } from 'node:test';
import { calledOf, stdioCommand } from '../../support/mcp-connect.ts';

interface Message {
  readonly id: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number };
}

/** Writes these lines, closes the input, and reads everything that comes before the process ends. */
async function piped(t: TestContext, workflow: string, lines: readonly string[], keepOpen = false) {
  const { command, args, env } = stdioCommand(workflow);
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const ended = once(child, 'close');
  child.stdin.write(lines.map((line) => `${line}\n`).join(''));
  if (!keepOpen) child.stdin.end();
  return { child, ended, messages: text(child.stdout).then(messagesOf) };
}

const messagesOf = (output: string): readonly Message[] =>
  output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Message);

const step = (id: number, action: string) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'step', arguments: { action, inputs: { drink: 'latte' } } },
  });

test('calls that a script pipes in are answered, standard output carries nothing else, and the process ends', async (t) => {
  const { messages, ended } = await piped(t, 'coffee', ['no json', step(1, 'take_order'), step(2, 'fulfill')]);
  const [refusal, ...answers] = await messages;
  assert.equal(refusal?.error?.code, -32_700);
  const called = new Map(answers.map(({ id, result }) => [id, calledOf(result ?? {})]));
  assert.equal(called.get(1)?.isError, false);
  assert.equal(called.get(2)?.isError, true);
  assert.deepEqual(await ended, [0, null]);
});

test('a call that takes longer than its client stays does not keep the process', async (t) => {
  const { messages, ended } = await piped(t, 'waiting', [step(1, 'wait')]);
  assert.deepEqual(await messages, []);
  assert.deepEqual(await ended, [0, null]);
});

test('a process that is asked to stop ends in good order', async (t) => {
  const { child, ended, messages } = await piped(t, 'coffee', [step(1, 'take_order')], true);
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
  assert.ok((await messages).length <= 1);
});
