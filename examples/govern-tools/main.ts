/**
 * The same agent twice: with its tools in its own hands, and with the gateway in between. One line changes,
 * `governTools`. Ungoverned, a letter makes it pay 5,000 to a stranger. Governed, it cannot; and a refund whose answer
 * is lost on the way happens once. Exits 1 if that is not what happens.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { governTools, httpTransport, ToolDeniedError } from '../../src/client/index.ts';
import { paymentsIn, pay } from './ledger.ts';
import { answerLetter } from './obedient-agent.ts';
import { openShakyLine } from './shaky-line.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'govern-tools-'));
const [before, behind, store] = ['before', 'behind', 'recourse.db'].map((name) => path.join(folder, name)) as [
  string,
  string,
  string,
];
const recourse = path.join(import.meta.dirname, '../../bin/recourse.js');
/** The child finds `node` where this process was found. */
const env = {
  LEDGER: behind,
  RECOURSE_FILE: store,
  PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env['PATH'] ?? ''}`,
};

const inputSchema = z.object({ amount: z.number().positive() });
const paymentTool = (kind: 'refund' | 'payout') => ({
  description: `Makes a ${kind}.`,
  inputSchema,
  execute: async ({ amount }: { amount: number }): Promise<unknown> => pay(before, kind, amount),
});
const tools = { refund: paymentTool('refund'), payout: paymentTool('payout') };

// 1. The tools in the agent's own hands.
await answerLetter(tools);
console.log(`ungoverned: ${paymentsIn(before).join(', ')}`);

// 2. The same tools, governed by a daemon that was started this very moment.
const key = execFileSync(process.execPath, [recourse, 'agents', 'add', 'support'], {
  encoding: 'utf8',
  env,
  stdio: ['ignore', 'pipe', 'ignore'],
}).trim();
const daemon = spawn(process.execPath, [recourse, 'up', '--config', 'recourse.yaml'], {
  cwd: import.meta.dirname,
  env,
});
daemon.stderr.resume();
try {
  const line = await openShakyLine(await addressOf(daemon.stdout));
  const governed = governTools(tools, { transport: httpTransport({ url: line.url, key }), prefix: 'payments/' });
  const [refund, payout] = await answerLetter(governed);
  line.close();

  console.log(`governed:   ${paymentsIn(behind).join(', ')}; the line was cut ${line.cuts()} time`);
  assert.ok(refund?.error === null, String(refund?.error));
  assert.ok(payout?.error instanceof ToolDeniedError, String(payout?.error));
  const { code, humanMessage, ruleRef, resolution } = payout.error;
  console.log(`            ${payout.wanted} → ${code}: ${humanMessage} (${ruleRef})`);

  assert.deepEqual(paymentsIn(before), ['refund 40', 'payout 5000']);
  assert.deepEqual(paymentsIn(behind), ['refund 40'], 'once, and no payout');
  assert.equal(line.cuts(), 1, 'the answer to the refund was lost');
  assert.equal(code, 'POLICY_DENY');
  assert.deepEqual(resolution, { type: 'rule_block', ruleId: ruleRef });
  console.log('\nthe same agent, and nobody was robbed.');
} catch (error) {
  console.log(`\nthe promise was broken: ${String(error)}`);
  process.exitCode = 1;
} finally {
  daemon.kill('SIGTERM');
  if (daemon.exitCode === null && daemon.signalCode === null) await once(daemon, 'exit');
  rmSync(folder, { recursive: true, force: true });
}

/**
 * It says where it listens before it is ready: whoever comes now is told to ask again in a moment, and the client does.
 */
async function addressOf(output: NodeJS.ReadableStream): Promise<URL> {
  const lines = createInterface({ input: output });
  for await (const line of lines) {
    const address = /http:\/\/[\d.]+:\d+/.exec(line)?.[0];
    if (address === undefined) continue;
    output.resume();
    return new URL(address);
  }
  throw new Error('the daemon said nothing');
}
