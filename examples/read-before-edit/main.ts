/**
 * Read before you edit. The real filesystem server stands behind the gateway, and a workflow in front of it refuses
 * every edit of a file that was not read since its last edit. Exits 1 if an edit slips through, or if the file is not
 * what it should be.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createGateway, isRefusal, isSuccess, type Reply } from '../../src/index.ts';
import { workflow } from './files.workflow.ts';

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'read-before-edit-')));
const notes = path.join(folder, 'notes.md');
writeFileSync(notes, 'The meeting is on Monday.\n');

const server = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'));
const gateway = await createGateway({
  workflows: [workflow],
  servers: [
    {
      name: 'files',
      command: process.execPath,
      args: [server, folder],
      annotations: 'trust', // the server says of its reads that they are reads, and we believe it
    },
  ],
  file: path.join(folder, 'recourse.db'),
});

let session: string | undefined;

async function step(action: 'read_file' | 'edit_file' | 'finish', inputs: object): Promise<Reply> {
  const reply = await gateway.handleStep({ action, inputs, session });
  session = reply.session ?? session;
  if (isSuccess(reply)) console.log(`✓ ${action}`);
  else if (isRefusal(reply)) {
    console.log(`✗ ${action}: ${reply.error}`);
    if ('blocked_by' in reply) console.log(`  it would need: ${reply.blocked_by.map(({ guard }) => guard).join(', ')}`);
  }
  return reply;
}

/** Refused by the graph: the server has not heard of it. */
function assertRefused(reply: Reply): void {
  assert.ok(isRefusal(reply) && reply.error === 'invalid_transition' && reply.effect === 'none');
  assert.ok(reply.valid_next_actions.includes('read_file'));
}

const move = (from: string, to: string) => [{ oldText: from, newText: to }];

try {
  console.log('an edit without reading:');
  assertRefused(await step('edit_file', { path: notes, edits: move('Monday', 'Friday') }));
  assert.equal(readFileSync(notes, 'utf8'), 'The meeting is on Monday.\n');

  console.log('\nread, then edit; another spelling of the path is the same file:');
  assert.ok(isSuccess(await step('read_file', { path: path.join(folder, '.', 'x', '..', 'notes.md') })));
  assert.ok(isSuccess(await step('edit_file', { path: notes, edits: move('Monday', 'Tuesday') })));
  assert.equal(readFileSync(notes, 'utf8'), 'The meeting is on Tuesday.\n');
  console.log(`  the file says: ${readFileSync(notes, 'utf8').trim()}`);

  console.log('\na second edit, from memory:');
  assertRefused(await step('edit_file', { path: notes, edits: move('Monday', 'Friday') }));
  assert.equal(readFileSync(notes, 'utf8'), 'The meeting is on Tuesday.\n');

  console.log('\nread again, and it is possible:');
  assert.ok(isSuccess(await step('read_file', { path: notes })));
  assert.ok(isSuccess(await step('edit_file', { path: notes, edits: move('Tuesday', 'Friday') })));
  assert.equal(readFileSync(notes, 'utf8'), 'The meeting is on Friday.\n');
  console.log(`  the file says: ${readFileSync(notes, 'utf8').trim()}`);

  const last = await step('finish', {});
  assert.ok(isSuccess(last) && last.done === true);
  console.log('\nno edit without a look.');
} catch (error) {
  console.log(`\nthe promise was broken: ${String(error)}`);
  process.exitCode = 1;
} finally {
  await gateway.close();
  rmSync(folder, { recursive: true, force: true });
}
