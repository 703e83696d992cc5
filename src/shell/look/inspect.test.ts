import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { folderOf, openGateway } from '../../../test/support/open-gateway.ts';
import { aTool } from '../../../test/support/tools.ts';
import { nodeHashing } from '../../adapters/store-sqlite/node-hashing.ts';
import { openSqliteReader } from '../../adapters/store-sqlite/read/open-reader.ts';
import { openSqliteStore } from '../../adapters/store-sqlite/open-store.ts';
import type { CallId } from '../../core/call/call.ts';
import { createInspection, type Inspection, type ExplainedRecord } from './inspect.ts';

const tools = [aTool('brew', ({ cups }) => ({ cups })), aTool('spill', () => assert.fail('hot'))];

/** A store with some history, closed in good order. */
async function aStore(t: TestContext, calls = 1) {
  const gateway = await openGateway(t, tools);
  const made: string[] = [];
  for (let cups = 1; cups <= calls; cups++) made.push((await gateway.call({ tool: 'brew', args: { cups } })).call_id);
  await gateway.close();
  return { file: gateway.file, calls: made };
}

async function inspecting<Result>(file: string, look: (inspection: Inspection) => Promise<Result>): Promise<Result> {
  const opened = await openSqliteReader(file);
  assert.ok(opened.kind === 'opened');
  try {
    return await look(createInspection(opened.reader, nodeHashing));
  } finally {
    opened.close();
  }
}

/** Changes a copy, since the folder's own file is verified when the test is over. */
function tamper(t: TestContext, file: string, change: (database: DatabaseSync) => void): string {
  const copy = `${folderOf(t)}/tampered.db`;
  const database = new DatabaseSync(file);
  database.exec(`VACUUM INTO '${copy}'`);
  database.close();
  const changed = new DatabaseSync(copy);
  change(changed);
  changed.close();
  return copy;
}

test('the story of a success: arguments, reply, gates, facts and records in order', async (t) => {
  const { file, calls } = await aStore(t);
  const story = await inspecting(file, (inspection) => inspection.call(calls[0] ?? ''));
  assert.ok(story !== null);
  assert.equal(story.effect, 'applied');
  assert.deepEqual(story.args, { kind: 'text', text: '{"cups":1}' });
  assert.equal(story.reply.kind, 'text');
  const answers = new Map(story.gates.map(({ gate, answer }) => [gate, answer]));
  assert.equal(story.gates.length, 14);
  for (const gate of ['ready', 'session', 'known', 'input', 'fence'] as const)
    assert.equal(answers.get(gate), 'passed');
  for (const gate of ['policy', 'reachable'] as const) assert.equal(answers.get(gate), 'absent');
  assert.equal(story.facts?.['ready'], true);
  const kinds = story.records.map(({ kind }) => kind);
  assert.deepEqual(kinds, ['prepared', 'dispatched', 'settled']);
  assert.equal(story.records[2]?.meaning, 'the attempt ended and the call got its outcome');
});

test('the story of a refusal: the gate that spoke, and those that were not asked', async (t) => {
  const gateway = await openGateway(t, tools);
  const unknown = await gateway.call({ tool: 'brwe' });
  const unreadable = await gateway.handle('a cup');
  const [story, early] = await inspecting(gateway.file, async (inspection) => [
    await inspection.call(unknown.call_id),
    await inspection.call(unreadable.call_id),
  ]);
  const answers = story?.gates.filter(({ answer }) => answer !== 'absent');
  assert.deepEqual(answers, [
    { gate: 'ready', answer: 'passed' },
    { gate: 'session', answer: 'passed' },
    { gate: 'known', answer: 'refused' },
    { gate: 'input', answer: 'not_asked' },
    { gate: 'fence', answer: 'not_asked' },
    { gate: 'evidence', answer: 'not_asked' },
  ]);
  assert.ok(early?.gates.every(({ answer }) => answer === 'absent'));
  assert.deepEqual(early?.args, { kind: 'none' });
});

test('a call that does not exist has no story, and a call in doubt says so', async (t) => {
  const gateway = await openGateway(t, tools);
  const doubtful = await gateway.call({ tool: 'spill' });
  const [none, story] = await inspecting(gateway.file, async (inspection) => [
    await inspection.call('call_of_nobody'),
    await inspection.call(doubtful.call_id),
  ]);
  assert.equal(none, null);
  assert.equal(story?.effect, 'unknown');
});

test('a long journal is verified page by page, and erased parts are counted, not blamed', async (t) => {
  const { file, calls } = await aStore(t, 120);
  const opened = await openSqliteStore({ file });
  assert.ok(opened.kind === 'opened');
  await opened.store.erase(calls[0] as CallId, 'asked for by the guest', Date.now());
  await opened.store.close();
  const pages: number[] = [];
  const report = await inspecting(file, (inspection) => inspection.verify((records) => pages.push(records)));
  assert.deepEqual(report.problems, []);
  assert.equal(report.epochs, 2);
  assert.equal(report.erased, 2);
  assert.ok(report.records > 360 && pages.length === Math.ceil(report.records / 100), `${pages.length} pages`);
  assert.equal(pages.at(-1), report.records);
  const story = await inspecting(file, (inspection) => inspection.call(calls[0] ?? ''));
  assert.deepEqual([story?.args, story?.reply], [{ kind: 'erased' }, { kind: 'erased' }]);
  assert.deepEqual(story?.records.at(-1)?.kind, 'erased');
});

test('a record that was changed is found, with its place', async (t) => {
  const { file } = await aStore(t, 2);
  const copy = tamper(t, file, (database) => {
    const row = database.prepare(`SELECT at, header FROM journal WHERE kind = 'settled'`).get();
    const header = row?.['header'] as Uint8Array;
    header[header.length - 3] = (header.at(-3) ?? 0) ^ 1;
    database.prepare('UPDATE journal SET header = ? WHERE at = ?').run(header, row?.['at'] ?? 0);
  });
  const { problems } = await inspecting(copy, (inspection) => inspection.verify());
  assert.deepEqual(problems, [{ epoch: 1, seq: 5, problem: 'the hash does not match' }]);
});

test('a record that was taken out is missed', async (t) => {
  const { file } = await aStore(t, 2);
  const copy = tamper(t, file, (database) =>
    database.exec('DELETE FROM journal WHERE at = (SELECT min(at) + 3 FROM journal)'),
  );
  const { problems } = await inspecting(copy, (inspection) => inspection.verify());
  assert.deepEqual(problems[0], { epoch: 1, seq: 5, problem: 'record 4 is missing before this one' });
});

test('a part that was deleted without a record is no erasure', async (t) => {
  const { file } = await aStore(t, 2);
  const copy = tamper(t, file, (database) =>
    database.exec('DELETE FROM payloads WHERE id = (SELECT min(id) FROM payloads)'),
  );
  const { problems, erased } = await inspecting(copy, (inspection) => inspection.verify());
  assert.equal(erased, 0);
  assert.deepEqual(problems, [{ epoch: 1, seq: 3, problem: "payload 'args' is missing without an erased record" }]);
});

test('the newest records come oldest first, and following goes on where they end', async (t) => {
  const gateway = await openGateway(t, tools);
  await gateway.call({ tool: 'brew', args: { cups: 1 } });
  await inspecting(gateway.file, async (inspection) => {
    assert.deepEqual(await inspection.newest(0), []);
    const newest = await inspection.newest(2);
    assert.deepEqual(
      newest.map(({ kind }) => kind),
      ['dispatched', 'settled'],
    );

    const seen: ExplainedRecord[] = [];
    let waits = 0;
    const wait = async () => {
      waits += 1;
      if (waits === 1) await gateway.call({ tool: 'brew', args: { cups: 2 } });
      return waits < 3;
    };
    for await (const record of inspection.follow(newest.at(-1) ?? null, wait)) seen.push(record);
    assert.deepEqual(
      seen.map(({ kind }) => kind),
      ['prepared', 'dispatched', 'settled'],
    );
    assert.equal(waits, 3);

    const all: ExplainedRecord[] = [];
    for await (const record of inspection.follow(null, async () => false)) all.push(record);
    assert.equal(all[0]?.kind, 'epoch_open');
  });
});
