/**
 * An agent pays out over MCP, and the bank forbids it. A ticket is opened; the agent waits for it, over MCP. A person
 * grants the access and answers the ticket from the command line, and the call goes on: one payout. Exits 1 if that is
 * not what happens.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { openBank } from './bank.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'ask-a-person-'));
const program = path.join(import.meta.dirname, '../../bin/recourse.js');
const bank = await openBank();
/** The children find `node` where this process was found. */
const env = {
  BANK: bank.url,
  RECOURSE_FILE: path.join(folder, 'recourse.db'),
  PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env['PATH'] ?? ''}`,
};
const run = promisify(execFile);

async function recourse(args: readonly string[], key?: string): Promise<string> {
  const options = { cwd: import.meta.dirname, env: key === undefined ? env : { ...env, RECOURSE_KEY: key } };
  return (await run(process.execPath, [program, ...args], options)).stdout.trim();
}

interface Told {
  readonly error?: string;
  readonly code?: string;
  readonly state?: string;
  readonly answer?: string | null;
  readonly replayed?: boolean;
  readonly ticket_id?: string;
  readonly result?: { readonly paid?: { readonly to: string } };
  readonly resolution?: { readonly type: string; readonly ticket_id?: string };
  readonly reply?: Told | null;
}

const agentKey = await recourse(['agents', 'add', 'payer']);
const anaKey = await recourse(['agents', 'add', 'ana', '--role', 'approver']);
const daemon = spawn(process.execPath, [program, 'up', '--config', 'recourse.yaml'], { cwd: import.meta.dirname, env });
daemon.stderr.resume();
const client = new Client({ name: 'payer', version: '1.0.0' });

try {
  const url = await addressOf(daemon.stdout);
  const requestInit = { headers: { authorization: `Bearer ${agentKey}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  const call = async (name: string, args: Record<string, unknown>): Promise<Told> =>
    ((await client.callTool({ name, arguments: args })).structuredContent ?? {}) as Told;
  const pay = (cents: number) => call('bank__payout', { to: 'ines', cents });

  // 1. The bank says no. That is not for the agent to settle: a ticket is opened.
  const refused = await pay(4_000);
  const ticket = refused.resolution?.ticket_id ?? '';
  console.log(`agent: pay 40.00 to ines → ${refused.code}, ${refused.resolution?.type} ${ticket}`);
  assert.deepEqual([refused.code, refused.resolution?.type, bank.ledger.length], ['Forbidden', 'escalated', 0]);

  // 2. In other words it is the same: fenced until the ticket is answered, and the bank is not asked.
  const fenced = await pay(3_999);
  console.log(`agent: pay 39.99 instead → ${fenced.error} by ${fenced.ticket_id === ticket ? 'the ticket' : '?'}`);
  assert.deepEqual([fenced.error, fenced.ticket_id, bank.asked.length], ['fenced', ticket, 1]);

  // 3. The agent waits over MCP, while a person looks, grants the access at the bank, and answers.
  const waiting = call('await_ticket', { ticket_id: ticket, wait_seconds: 50 });
  const inbox = await recourse(['inbox', '--json', '--url', url], anaKey);
  assert.equal((JSON.parse(inbox) as { id: string }).id, ticket);
  await recourse(['tickets', 'take', ticket, '--url', url], anaKey);
  bank.granted.add('ines');
  console.log(`ana:   ${await recourse(['tickets', 'resolve', ticket, '--answer', 'retry', '--url', url], anaKey)}`);

  // 4. The call goes on, once, and whoever waits has its result.
  let outcome = await waiting;
  while (outcome.reply === null || outcome.reply === undefined)
    outcome = await call('await_ticket', { ticket_id: ticket, wait_seconds: 50 });
  console.log(`agent: the ticket is ${outcome.state} (${outcome.answer}): paid to ${outcome.reply.result?.paid?.to}`);
  assert.deepEqual([outcome.state, outcome.answer, outcome.reply.error], ['closed', 'retry', undefined]);
  const again = await pay(4_000);
  assert.deepEqual([again.replayed, again.result?.paid?.to], [true, 'ines']);
  assert.deepEqual(bank.ledger, [{ to: 'ines', cents: 4_000 }]);
  console.log('\none payout, after one answer.');
} catch (error) {
  console.log(`\nthe promise was broken: ${String(error)}`);
  process.exitCode = 1;
} finally {
  await client.close().catch(() => undefined);
  daemon.kill('SIGTERM');
  if (daemon.exitCode === null && daemon.signalCode === null) await once(daemon, 'exit');
  bank.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Once its tools are known it says where MCP clients connect. */
async function addressOf(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const address = /(http:\/\/[\d.]+:\d+)\/mcp/.exec(line)?.[1];
    if (address === undefined) continue;
    output.resume();
    return address;
  }
  throw new Error('the daemon said nothing');
}
