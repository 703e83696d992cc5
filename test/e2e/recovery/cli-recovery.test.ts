/** A call that failed, as the command tells it: its story, its replay, and the golden that is made of it. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { tool, ToolFailure } from '../../../src/index.ts';
import { folderOf, openGateway } from '../../support/open-gateway.ts';
import { recourse } from '../../support/recourse-process.ts';
import { aTool } from '../../support/tools.ts';

/** A refund that is made and not answered, and refused as known when it is sent again; a read that finds it. */
async function lostRefund(t: TestContext) {
  let sends = 0;
  const refund = tool({
    name: 'refund',
    description: 'gives money back',
    input: {},
    effect: 'keyed',
    dedupe_window_seconds: 3_600,
    reconcile: { tool: 'refunds', args: () => ({}), happened: (found: { made: boolean }) => found.made },
    run: async () => {
      sends += 1;
      if (sends === 1) throw new ToolFailure({ kind: 'timeout', message: 'no answer from the bank' });
      throw new ToolFailure({ kind: '409_conflict', subject: 'completed', message: 'already processed' });
    },
  });
  const gateway = await openGateway(t, [refund, aTool('refunds', () => ({ made: true }), { effect: 'pure' })]);
  const { call_id: id } = await gateway.call({ tool: 'refund', args: { order: 'ord_1' } });
  await gateway.close();
  return { file: gateway.file, id, sends: () => sends };
}

/** Changes one fact in the file, as nobody should. */
function changeSchedule(file: string): void {
  const database = new DatabaseSync(file);
  const found = database.prepare("SELECT at, header FROM journal WHERE kind = 'attempt_scheduled'").get();
  const header = Buffer.from(found?.['header'] as Uint8Array);
  const changed = Buffer.from(header.toString('latin1').replace('"pause_ms":200', '"pause_ms":100'), 'latin1');
  database.prepare('UPDATE journal SET header = ? WHERE at = ?').run(changed, found?.['at'] as number);
  database.close();
}

test('a recovered call is told as a timeline, in words and as JSON', async (t) => {
  const { file, id } = await lostRefund(t);
  const told = recourse(['calls', 'show', id, '--file', file]);
  const story = told.stdout.slice(told.stdout.indexOf('What happened'), told.stdout.indexOf('Gates'));
  assert.deepEqual(
    story
      .split('\n')
      .slice(1, -2)
      .map((line) => line.replace(/^\s+(\+\S+ \S+)?\s+/, '')),
    [
      'attempt  1: timeout: no answer from the bank',
      'verdict  transient_timeout, effect unknown',
      'verdict  the playbook says retry_with_backoff',
      'wait     200 ms, then attempt 2',
      'attempt  2: 409_conflict (completed): already processed',
      'verdict  idempotency_conflict, effect unknown',
      'verdict  another than before: transient_timeout',
      'verdict  the playbook says deprecate_tool_call',
      'outcome  deprecated after 2 sends: upstream already processed this idempotency_key',
    ],
  );
  const { timeline } = JSON.parse(recourse(['calls', 'show', id, '--file', file, '--json']).stdout) as {
    timeline: { what: string; after_ms: number }[];
  };
  assert.deepEqual(
    timeline.map(({ what }) => what).filter((what, at, all) => what !== all[at - 1]),
    ['attempt', 'verdict', 'wait', 'attempt', 'verdict', 'outcome'],
  );
  assert.ok(timeline.every(({ after_ms: after }, at) => after >= (timeline[at - 1]?.after_ms ?? 0)));
  const tail = recourse(['audit', 'tail', '--file', file, '-n', '50']).stdout;
  assert.match(tail, /attempt_scheduled +call_\S+ +wait 200 ms, then attempt 2/);
  assert.doesNotMatch(tail, /no answer from the bank/, 'a list shows no payloads');
});

test('the replay of a call is equal, and names the first difference once a record is changed', async (t) => {
  const { file, id } = await lostRefund(t);
  const equal = recourse(['replay', id, '--file', file]);
  assert.deepEqual([equal.status, equal.stdout], [0, `✓ equal  ${id}: 2 failed attempts, decided as recorded\n`]);
  assert.deepEqual(JSON.parse(recourse(['replay', id, '--file', file, '--json']).stdout), {
    call_id: id,
    replay: 'equal',
    failures: 2,
    erased: [],
  });
  const copy = path.join(folderOf(t), 'changed.db');
  copyFileSync(file, copy);
  changeSchedule(copy);
  const different = recourse(['replay', id, '--file', copy, '--json']);
  assert.equal(different.status, 1, different.stderr);
  const { difference } = JSON.parse(different.stdout) as { difference: Record<string, unknown> };
  assert.deepEqual(
    [difference['attempt'], difference['record'], difference['field'], difference['recomputed']],
    [1, 'attempt_scheduled', 'pause_ms', 200],
  );
  assert.equal(recourse(['replay', 'call_of_nobody', '--file', file]).status, 1);
});

test('a golden is made from a failure, and holds', async (t) => {
  const { file, id } = await lostRefund(t);
  const folder = folderOf(t);
  mkdirSync(path.join(folder, 'goldens'));
  const golden = path.join(folder, 'goldens', 'lost-refund.yaml');
  const made = recourse(['golden', 'record', id, '--file', file, '-o', golden]);
  assert.equal(made.status, 0, made.stderr);
  assert.match(readFileSync(golden, 'utf8'), /^ {2}sends: 2\n {2}state: "SUCCEEDED"$/m);
  const run = recourse(['golden', 'run'], { cwd: folder });
  assert.deepEqual([run.status, run.stdout], [0, '✓ 1 golden came out as expected\n'], run.stderr);
  writeFileSync(golden, readFileSync(golden, 'utf8').replace('sends: 2', 'sends: 3'));
  const failed = recourse(['golden', 'run', '--json'], { cwd: folder });
  assert.equal(failed.status, 1);
  assert.match(failed.stdout, /"wrong":\["sends: expected 3, came 2"\]/);
});

test('check warns of an entry of the playbook that no golden covers', (t) => {
  const folder = folderOf(t);
  writeFileSync(path.join(folder, 'recourse.yaml'), 'playbook:\n  rate_limited: escalate_to_human\n');
  const uncovered = recourse(['check'], { cwd: folder });
  assert.match(uncovered.stdout, /recourse\.yaml:2[\s\S]*no golden covers what the playbook says about rate_limited/);
  mkdirSync(path.join(folder, 'goldens'));
  const covering = path.join(import.meta.dirname, '../../../goldens/rate-limit-with-jitter.yaml');
  copyFileSync(covering, path.join(folder, 'goldens', 'a.yaml'));
  assert.doesNotMatch(recourse(['check'], { cwd: folder }).stdout, /no golden covers/);
});
