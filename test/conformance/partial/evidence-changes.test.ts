/**
 * CONTRACT section 6: evidence that changes between approval and run, where several processes share a store, and one of
 * them is killed meanwhile: nothing is sent, and the approval cannot be used again.
 */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { isRefusal, type Reply } from '../../../src/index.ts';
import { errorOf, successOf } from '../../support/check-reply.ts';
import { ana, openApprovals } from '../../support/open-approvals.ts';
import { bought, buyersPolicy, hangReads, setPrice, shopTools } from '../../support/partial/shop-of-files.ts';

const ask = { tool: 'buy', args: {} };
const everybody = { tenant: 'default', agent: null };

function deferred(reply: Reply): string {
  const { resolution } = errorOf(reply, 'denied');
  assert.ok(resolution.type === 'pending_approval', JSON.stringify(resolution));
  return resolution.approval_id;
}

const codeOf = (reply: Reply): string => errorOf(reply, 'action_error').code;

function aFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-shop-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  setPrice(folder, 100);
  return folder;
}

const open = (t: TestContext, folder: string) =>
  openApprovals(
    t,
    shopTools(folder, () => undefined),
    { agents: [buyersPolicy()] },
  );

test('[C6-evidence-9] evidence changed between approval and run: nothing is sent in either of two processes', async (t) => {
  const folder = aFolder(t);
  const [one, two] = [await open(t, folder), await open(t, folder)];
  assert.deepEqual([one.gateway.role, two.gateway.role], ['owner', 'forwarder']);
  const id = deferred(await one.call(ask));
  assert.ok((await two.approvals.approve(id, ana, {})).ok);
  setPrice(folder, 120);
  assert.equal(codeOf(await two.call(ask)), 'StaleEvidence');
  assert.equal((await one.approvals.read(id, everybody))?.state, 'void');
  setPrice(folder, 100);
  const other = deferred(await one.call(ask));
  assert.notEqual(other, id, 'the approval is used up, although the price is back');
  assert.equal((await two.approvals.approve(id, ana, {})).ok, false, 'nobody can approve it again');
  assert.equal(bought(folder), 0);
  assert.ok((await two.approvals.approve(other, ana, {})).ok);
  successOf(await one.call(ask));
  assert.equal(bought(folder), 1);
});

test('[C6-evidence-9] evidence changed between approval and run: nothing is sent by two processes that race', async (t) => {
  const folder = aFolder(t);
  const [one, two] = [await open(t, folder), await open(t, folder)];
  const id = deferred(await one.call(ask));
  assert.ok((await one.approvals.approve(id, ana, {})).ok);
  setPrice(folder, 120);
  const replies = await Promise.all([one.call(ask), two.call(ask), one.call(ask), two.call(ask)]);
  // Whoever came after it was void is asked for an approval of the new price.
  assert.ok(replies.some((reply) => isRefusal(reply) && reply.code === 'StaleEvidence'));
  assert.equal((await two.approvals.read(id, everybody))?.state, 'void');
  assert.equal(bought(folder), 0);
});

test('[C6-evidence-9] evidence changed between approval and run: a process killed in between changes nothing', async (t) => {
  const folder = aFolder(t);
  const owner = await open(t, folder);
  const child = fork(path.join(import.meta.dirname, '../../support/partial/evidence-child.ts'), [owner.file, folder]);
  t.after(() => child.kill('SIGKILL'));
  const next = async () => ((await once(child, 'message')) as [{ kind: string; role?: string; reply?: Reply }])[0];
  assert.deepEqual(await next(), { kind: 'opened', role: 'forwarder' });
  child.send(ask);
  const { reply } = await next();
  assert.ok(reply !== undefined);
  const id = deferred(reply);
  assert.ok((await owner.approvals.approve(id, ana, {})).ok);
  setPrice(folder, 120);
  hangReads(folder);
  child.send(ask);
  assert.deepEqual(await next(), { kind: 'reading' });
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
  rmSync(path.join(folder, 'hang'));
  assert.equal(codeOf(await owner.call(ask)), 'StaleEvidence');
  assert.equal((await owner.approvals.read(id, everybody))?.state, 'void');
  setPrice(folder, 100);
  assert.notEqual(deferred(await owner.call(ask)), id);
  assert.equal(bought(folder), 0);
});
