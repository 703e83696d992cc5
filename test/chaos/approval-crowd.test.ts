/**
 * One grant and a thousand who want it at once, from several processes and over HTTP: one effect, whoever is killed
 * meanwhile.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { CallId } from '../../src/core/call/call.ts';
import { isRefusal, isSuccess, type Reply } from '../../src/index.ts';
import { createRandom } from '../simulation/random.ts';
import { eventually } from '../support/eventually.ts';
import { startGoverned } from '../support/governed-up.ts';
import { storeIn } from '../support/recourse-process.ts';
import { allCalls, checkFile, withReader } from '../support/read-journal.ts';
import { type Asker, startAsker } from './approval-askers.ts';
import { checkEffects } from './approval-check.ts';
import type { Death } from './approval-gateway.ts';
import type { ApprovalRequest } from './approval-round.ts';
import { askedAmount, editedAmount, type KindName, ledgerLines } from './approval-world.ts';

const isSoak = process.env['RECOURSE_SOAK'] === '1';
const times = isSoak ? 20 : 1;
const asks = 1_000;
const overHttp = 200;
const seed = Number(process.env['RECOURSE_CHAOS_SEED'] ?? Date.now() % 1_000_000);
const random = createRandom(seed, 'owners');

const aRequest = (tool: KindName, mark: string, key?: string): ApprovalRequest => ({
  tool,
  args: { mark, amount: askedAmount },
  ...(key === undefined ? {} : { key }),
});

function approvalIn(reply: Reply | null | undefined): string {
  assert.ok(reply && isRefusal(reply) && reply.resolution.type === 'pending_approval', JSON.stringify(reply));
  return reply.resolution.approval_id;
}

function aPlace(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-chaos-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return { file: path.join(folder, 'recourse.db'), ledger: path.join(folder, 'ledger.log') };
}

/** One owns the store, the others forward to it. */
async function severalProcesses(t: TestContext, count = 4) {
  const place = aPlace(t);
  const start = () => startAsker(t, { ...place, insists: true });
  const owner = await start();
  const forwarders = await Promise.all(Array.from({ length: count - 1 }, start));
  assert.deepEqual(
    [owner, ...forwarders].map(({ role }) => role),
    ['owner', ...forwarders.map(() => 'forwarder')],
  );
  return { ...place, owner, forwarders, all: [owner, ...forwarders] };
}

const askSome = async (all: readonly Asker[], request: ApprovalRequest & { wait_seconds?: number }, count: number) =>
  (await Promise.all(all.map((asker) => asker.ask(request, count / all.length)))).flat();

const marksIn = (ledger: string, mark: string) => ledgerLines(ledger).filter((line) => line.mark === mark);

test(`[C6-approval-2] ${asks} asks of four processes for one grant have one effect`, async (t) => {
  const { file, ledger, all, owner, forwarders } = await severalProcesses(t);
  const [other = owner] = forwarders;
  for (let time = 0; time < times; time++) {
    const waits = aRequest('post_wait', `wait-${time}`);
    const id = approvalIn((await other.ask(waits))[0]);
    assert.equal(await owner.approve(id, 'ana'), 'granted');
    const replies = await askSome(all, waits, asks);
    assert.equal(replies.filter((reply) => reply !== null && isSuccess(reply)).length, 1);
    const held = replies.filter((reply) => reply !== null && isRefusal(reply));
    assert.equal(new Set(held.map(approvalIn)).size, 1, 'the others share the next approval');
    assert.equal(held.length, asks - 1);
    assert.equal(marksIn(ledger, `wait-${time}`).length, 1);

    // Two of several people, decided in different processes; whichever process is first runs it, and everybody has its
    // result.
    const runs = aRequest('post_run_two', `run-${time}`);
    const both = approvalIn((await owner.ask(runs))[0]);
    const early = askSome(all, { ...runs, wait_seconds: 240 }, 20);
    await Promise.all([other.approve(both, 'ana'), owner.approve(both, 'ben')]);
    await early;
    const results = await askSome(all, { ...runs, wait_seconds: 240 }, asks);
    assert.equal(
      new Set(results.map((reply) => (reply !== null && isSuccess(reply) ? reply.call_id : JSON.stringify(reply))))
        .size,
      1,
    );
    assert.equal(marksIn(ledger, `run-${time}`).length, 1);

    const keyed = aRequest('post_wait', `key-${time}`, `key-${time}`);
    assert.equal(await other.approve(approvalIn((await owner.ask(keyed))[0]), 'ana'), 'granted');
    const once = await askSome(all, { ...keyed, wait_seconds: 240 }, asks);
    assert.deepEqual(new Set(once.map((reply) => reply?.call_id)).size, 1);
    assert.ok(once.every((reply) => reply !== null && isSuccess(reply)));
    assert.equal(marksIn(ledger, `key-${time}`).length, 1);
  }
  for (const asker of [...forwarders, owner]) await asker.end();
  const { records } = await checkFile(file);
  t.diagnostic(
    `${times} times ${3 * asks} asks: ${ledgerLines(ledger).length} effects for ${3 * times} grants; ${records} records hold`,
  );
});

/**
 * A process that dies with the grant in its hands: at the commit that took it, on the way to the tool, or on the way
 * back.
 */
const deaths: readonly Death[] = [
  { act: 'send', moment: 'after', nth: 1 },
  { act: 'use', moment: 'after', nth: 1 },
  { act: 'outcome', moment: 'before', nth: 1 },
  { act: 'outcome', moment: 'after', nth: 1 },
  { act: 'use', moment: 'before', nth: 1 },
];

test('[C6-approval-2] the process that took the grant is killed, then the owner: no grant has two effects', async (t) => {
  const place = aPlace(t);
  const { file, ledger } = place;
  let owner = await startAsker(t, place);
  const other = await startAsker(t, place);
  const counted = { kills: 0, effects: 0, inDoubt: 0 };
  for (const death of isSoak ? Array.from({ length: times }, () => deaths).flat() : deaths.slice(0, 1)) {
    const mark = `mortal-${counted.kills++}`;
    const request = aRequest('post_wait', mark);
    const mortal = await startAsker(t, { ...place, death });
    assert.equal(await owner.approve(approvalIn((await other.ask(request))[0]), 'ana'), 'granted');
    // Only the one that will die asks, until it is dead; the others come at once after it.
    assert.deepEqual(await mortal.ask(request), [null]);
    await outcomeOf(request, [owner, other], ledger, file);
  }
  for (let time = 0; time < times; time++) {
    const request = aRequest('post_wait', `owner-${time}`);
    assert.equal(await other.approve(approvalIn((await other.ask(request))[0]), 'ana'), 'granted');
    const crowd = askSome([owner, other], request, 100);
    await setTimeout(random.between(0, 60));
    await owner.kill();
    counted.kills += 1;
    await crowd;
    owner = await startAsker(t, place);
    assert.equal(owner.role, 'owner');
    await outcomeOf(request, [owner, other], ledger, file);
  }
  for (const asker of [other, owner]) await asker.end();
  await withReader(file, async (reader) => {
    const calls = await allCalls(reader);
    await checkEffects(calls, ledgerLines(ledger), reader);
    counted.inDoubt = calls.filter(({ state }) => state === 'IN_DOUBT').length;
  });
  await checkFile(file);
  const { kills, inDoubt } = counted;
  t.diagnostic(`${kills} kills from seed ${seed}: ${ledgerLines(ledger).length} effects, ${inDoubt} calls in doubt`);
});

/** Everybody asks again, in every process that is left: the grant is used up or still there, and its effect is one. */
async function outcomeOf(request: ApprovalRequest, all: readonly Asker[], ledger: string, file: string): Promise<void> {
  const { mark } = request.args;
  const replies = await eventually(`an answer to '${mark}'`, async () => {
    const answers = await askSome(all, { ...request, wait_seconds: 240 }, 20);
    // The owner may not know yet that the process is gone, or the forwarder that there is another owner.
    const isAway = answers.some((reply) => reply === null || (isRefusal(reply) && reply.code === 'StoreUnavailable'));
    return isAway ? null : answers;
  });
  const lines = marksIn(ledger, mark);
  assert.ok(lines.length <= 1, `'${mark}' had ${lines.length} effects`);
  const successes = replies.filter((reply) => reply !== null && isSuccess(reply));
  assert.ok(
    successes.length <= 1 && successes.every((reply) => reply?.call_id === lines[0]?.call_id),
    JSON.stringify(successes),
  );
  const [line] = lines;
  if (line === undefined) return;
  const state = await withReader(file, async (reader) => (await reader.call(line.call_id as CallId))?.state);
  assert.ok(state === 'SUCCEEDED' || state === 'IN_DOUBT', `'${mark}' had an effect, and its call is ${state}`);
}

test('[C6-approval-9] a changed call whose process died says that it was changed, whoever ends it', async (t) => {
  const place = aPlace(t);
  const told: Reply[] = [];
  // The plain one first: the next process must not come to an end of that one, but of its own.
  const tools = ['post_wait', 'charge_wait'] as const;
  for (const tool of tools) {
    const mortal = await startAsker(t, { ...place, death: { act: 'outcome', moment: 'before', nth: 1 } });
    const request = aRequest(tool, tool, tool);
    const id = approvalIn((await mortal.ask(request))[0]);
    assert.equal(await mortal.approve(id, 'ana', { mark: tool, amount: editedAmount }), 'granted');
    assert.deepEqual(await mortal.ask(request), [null]);
  }
  const heir = await startAsker(t, place);
  for (const tool of tools) {
    const [reply] = await heir.ask({ ...aRequest(tool, tool, tool), wait_seconds: 240 });
    assert.ok(reply);
    told.push(reply);
    assert.deepEqual(
      reply.notices?.map(({ code }) => code),
      ['APPROVAL_EDITED'],
      JSON.stringify(reply),
    );
    const lines = marksIn(place.ledger, tool);
    assert.ok(lines.every(({ amount, call_id: callId }) => amount === editedAmount && callId === reply.call_id));
  }
  const [posted, charged] = told as [Reply, Reply];
  assert.ok(isSuccess(charged) && isRefusal(posted) && posted.effect === 'unknown', JSON.stringify(told));
  await heir.end();
  await checkFile(place.file);
});

test(`[C6-approval-2] ${overHttp} concurrent POST /v1/calls to a real process for one grant have one effect`, async (t) => {
  const { ledger } = aPlace(t);
  const args = JSON.stringify([path.join(import.meta.dirname, 'approval-server.ts'), ledger]);
  const tools = `tools:\n  ledger:\n    mcp: { command: ${JSON.stringify(process.execPath)}, args: ${args} }\n`;
  const up = await startGoverned(t, `${tools}agents:\n  bot:\n    rules:\n      - defer: ledger/post\n`);
  await up.ready();
  const key = up.keyOf('bot');
  const person = up.operatorKey();
  const ask = () => up.ask('/v1/calls', { key, body: { tool: 'ledger/post', args: { amount: 1 } } });
  const held = await ask();
  const id = approvalIn(held.body as unknown as Reply);
  assert.equal(held.status, 202);
  const own = await up.ask(`/v1/approvals/${id}/approve`, { key, body: {} });
  assert.equal(own.status, 403, JSON.stringify(own.body));
  const approved = await up.ask(`/v1/approvals/${id}/approve`, { key: person, body: {} });
  assert.deepEqual([approved.status, approved.body['state']], [200, 'granted'], JSON.stringify(approved.body));
  const answers = await Promise.all(Array.from({ length: overHttp }, ask));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  const next = new Set(
    answers.filter(({ status }) => status === 202).map(({ body }) => approvalIn(body as unknown as Reply)),
  );
  assert.deepEqual([next.size, next.has(id)], [1, false], 'the others share the next approval');
  assert.equal(answers.filter(({ status }) => status === 202).length, overHttp - 1);
  assert.deepEqual(readFileSync(ledger, 'utf8'), '{"amount":1}\n');
  assert.equal((await up.ask(`/v1/approvals/${id}`, { key })).body['state'], 'used');
  await up.stop();
  await checkFile(storeIn(up.home));
});
