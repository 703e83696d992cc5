/**
 * An agent asks for a refund over MCP, a person approves it on the command line, and it is made once: by the agent that
 * asked, exactly as it was approved, however many ask at the same time. Exits 1 if that is not what happens.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { connectAgent } from './patient-agent.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'approve-refund-'));
const ledger = path.join(folder, 'ledger');
const program = path.join(import.meta.dirname, '../../bin/recourse.js');
/** The children find `node` where this process was found. */
const env = {
  LEDGER: ledger,
  RECOURSE_FILE: path.join(folder, 'recourse.db'),
  PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env['PATH'] ?? ''}`,
};

const run = promisify(execFile);

async function recourse(args: readonly string[], key?: string): Promise<string> {
  const options = { cwd: import.meta.dirname, env: key === undefined ? env : { ...env, RECOURSE_KEY: key } };
  return (await run(process.execPath, [program, ...args], options)).stdout.trim();
}

const refunds = (): readonly string[] => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trimEnd().split('\n') : []);

const agentKey = await recourse(['agents', 'add', 'support']);
const anaKey = await recourse(['agents', 'add', 'ana', '--role', 'approver']);
const daemon = spawn(process.execPath, [program, 'up', '--config', 'recourse.yaml'], { cwd: import.meta.dirname, env });
daemon.stderr.resume();
const refund = { order: 'order 7', amount: 250 };

try {
  const url = await addressOf(daemon.stdout);
  const agent = await connectAgent(`${url}/mcp`, agentKey);

  // 1. The agent asks, and is told to wait. Nothing was paid, and the agent is free to do something else.
  const asked = await agent.call('payments__refund', refund);
  const id = asked.resolution?.approval_id ?? '';
  console.log(`agent: refund 250 → ${asked.code}, ${id}`);
  assert.equal(asked.code, 'POLICY_DEFER');
  assert.deepEqual(refunds(), []);
  await agent.call('payments__orders', {});

  // 2. It cannot say that it is done, and it cannot approve.
  const blocked = await agent.call('complete', {});
  console.log(`agent: done → ${blocked.code}`);
  assert.equal(blocked.code, 'COMPLETION_BLOCKED');
  assert.deepEqual(blocked.resolution, { type: 'pending_approvals', approval_ids: [id] });
  await assert.rejects(recourse(['approvals', 'approve', id, '--url', url], agentKey), 'an agent approves nothing');

  // 3. It waits, and meanwhile a person looks and approves.
  const waiting = agent.awaitApproval(id);
  const approved = await recourse(['approvals', 'approve', id, '--url', url], anaKey);
  console.log(`ana:   recourse approvals approve ${id}\n${indented(approved)}`);
  assert.equal(await waiting, 'granted');

  // 4. It asks again; ten times at once, since agents are impatient. One of them is the approved one.
  const again = await Promise.all(Array.from({ length: 10 }, () => agent.call('payments__refund', refund)));
  const deferred = again.filter(({ code }) => code === 'POLICY_DEFER');
  console.log(`agent: ten times at once → ${refunds().length} refund, ${deferred.length} deferred again`);
  assert.deepEqual(refunds(), ['order 7 250'], 'made once');
  assert.equal(deferred.length, 9);

  // 5. Another amount is another call.
  const more = await agent.call('payments/refund', { ...refund, amount: 251 });
  assert.equal(more.code, 'POLICY_DEFER');
  assert.notEqual(more.resolution?.approval_id, id);
  assert.deepEqual(refunds(), ['order 7 250']);

  await agent.close();
  console.log('\none approval, one refund.');
} catch (error) {
  console.log(`\nthe promise was broken: ${String(error)}`);
  process.exitCode = 1;
} finally {
  daemon.kill('SIGTERM');
  if (daemon.exitCode === null && daemon.signalCode === null) await once(daemon, 'exit');
  rmSync(folder, { recursive: true, force: true });
}

function indented(text: string): string {
  return text.replace(/^/gm, '       │ ');
}

/** It says `ready` once calls are decided; the address stands in the same output. */
async function addressOf(output: NodeJS.ReadableStream): Promise<string> {
  let address: string | undefined;
  for await (const line of createInterface({ input: output })) {
    address ??= /http:\/\/[\d.]+:\d+/.exec(line)?.[0];
    if (address === undefined || !/ready|serving|tools/i.test(line)) continue;
    output.resume();
    return address;
  }
  throw new Error('the daemon said nothing');
}
