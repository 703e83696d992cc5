/**
 * An in-house ticket system behind a gateway, by an extension: a lost answer opens no second ticket, a validator and a
 * cost function of the extension count, and its notifier drops a file. Exits 1 if that is not what happens.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from '../../src/extension/testing.ts';
import { startTickets } from './ticket-server.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'extension-'));
const token = 'a-token-of-the-help-desk';
const server = await startTickets(token);
const dropped = path.join(folder, 'dropped');
const program = path.join(import.meta.dirname, '../../bin/recourse.js');
const env = {
  DESK_URL: server.url,
  DESK_TOKEN: token,
  DROPPED: dropped,
  RECOURSE_FILE: path.join(folder, 'recourse.db'),
  PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env['PATH'] ?? ''}`,
};
const daemon = spawn(process.execPath, [program, 'up', '--listen', '127.0.0.1:0', '--agent', 'support'], {
  cwd: import.meta.dirname,
  env,
});
const said: string[] = [];
daemon.stderr.on('data', (text: Buffer) => void said.push(text.toString()));

type Told = Readonly<Record<string, unknown>>;

try {
  const url = await addressOf();
  const open = async (args: object): Promise<Told> => {
    const response = await fetch(`${url}/v1/calls`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ tool: 'desk/create_ticket', args }),
    });
    const reply = (await response.json()) as Told;
    console.log(`agent: ${JSON.stringify(args)} → ${JSON.stringify(reply['result'] ?? reply['message'])}`);
    return reply;
  };

  // 1. The answer is lost. The same key is sent again, and there is one ticket.
  const first = await open({ subject: '  the printer is on fire ', priority: 'high' });
  assert.deepEqual(first['result'], { ok: true, ticket: 'T1' });
  assert.deepEqual([server.requests(), server.tickets], [2, ['the printer is on fire']]);

  // 2. The validator refuses, and nothing is sent.
  assert.equal((await open({ subject: '   ' }))['code'], 'InputInvalid');
  assert.equal(server.requests(), 2);

  // 3. A ticket of high priority costs 5 of the 8, another one 1; what does not fit is denied, and a file says so.
  assert.equal((await open({ subject: 'again', priority: 'high' }))['code'], 'BUDGET_EXCEEDED');
  assert.deepEqual((await open({ subject: 'a question' }))['result'], { ok: true, ticket: 'T2' });
  const files = await eventually('the file', async () => (readdirOf(dropped).length > 0 ? readdirOf(dropped) : null));
  console.log(`inbox: ${files.length} file`);

  // 4. The operator sees the extension, and nobody the token.
  const status = execFileSync(process.execPath, [program, 'status', '--url', url], { cwd: import.meta.dirname, env });
  assert.match(status.toString(), /helpdesk: started, contract 1, adds upstream helpdesk/);
  assert.ok(![...said, status.toString()].some((text) => text.includes(token)));
  console.log('\none ticket for each key, and a file for whoever watches.');
} catch (error) {
  console.error(error, said.join(''));
  process.exitCode = 1;
} finally {
  daemon.kill();
  await once(daemon, 'exit');
  server.close();
  rmSync(folder, { recursive: true, force: true });
}

async function addressOf(): Promise<string> {
  let url = '';
  for await (const line of createInterface({ input: daemon.stdout })) {
    url = /recourse is starting at (http:\S+)/.exec(line)?.[1] ?? url;
    if (line.startsWith('Ctrl-C')) return url;
  }
  throw new Error(`recourse up has ended: ${said.join('')}`);
}

function readdirOf(of: string): readonly string[] {
  try {
    return readdirSync(of).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
}
