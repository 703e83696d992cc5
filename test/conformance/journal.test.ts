/**
 * CONTRACT sections 1, 6 and 8: what the journal keeps, in which order, and that it still holds when parts are erased.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { stateKinds } from '../../src/core/journal/record.ts';
import { z } from 'zod';
import { openSqliteStore } from '../../src/adapters/store-sqlite/open-store.ts';
import type { CallId } from '../../src/core/call/call.ts';
import { tool } from '../../src/index.ts';
import { awaitSweep } from '../support/await-sweep.ts';
import { errorOf, successOf } from '../support/check-reply.ts';
import { folderOf, openGateway } from '../support/open-gateway.ts';
import { bodyOf, checkFile, verifyJournal, withReader } from '../support/read-journal.ts';
import { createShiftedClock } from '../support/shifted-clock.ts';
import { startChild } from '../support/start-child.ts';
import { aTool, createHeldTool } from '../support/tools.ts';
import { createWorld } from '../support/world.ts';

const act = aTool('act', () => 'done');

describe('the journal', () => {
  test('[C6-journal-1] has one record for each state that a call passed, in order', async (t) => {
    const slow = createHeldTool('slow', { timeout_seconds: 0.03 });
    const broken = aTool('broken', (_, { fail }) => fail({ kind: '404_not_found', message: 'none' }));
    const gateway = await openGateway(t, [act, broken, slow.definition]);
    const kinds = async (asked: Parameters<typeof gateway.call>[0]) => {
      const { call_id: callId } = await gateway.call(asked);
      return (await gateway.records(callId)).map(({ kind }) => kind).filter((kind) => stateKinds.has(kind));
    };
    assert.deepEqual(await kinds({ tool: 'act' }), ['prepared', 'dispatched', 'settled']);
    assert.deepEqual(await kinds({ tool: 'broken' }), ['prepared', 'dispatched', 'settled']);
    assert.deepEqual(await kinds({ tool: 'slow' }), ['prepared', 'dispatched', 'doubted']);
    assert.deepEqual(await kinds({ tool: 'act', deadline_seconds: 0 }), ['prepared', 'expired']);
    assert.deepEqual(await kinds({ tool: 'nothing' }), ['refused']);
  });

  test('[C1-facts-1] keeps the facts that let a call run: who, which gates, what they saw, the tool as declared', async (t) => {
    const input = z.object({ amount: z.number() });
    const pay = tool({
      name: 'pay',
      description: 'pays',
      input,
      effect: 'probeable',
      timeout_seconds: 7,
      run: async () => 1,
    });
    const gateway = await openGateway(t, [pay], { agent: 'ada', tenant: 'acme' });
    const reply = successOf(await gateway.call({ tool: 'pay', args: { amount: 5 }, turn: 't1', deadline_seconds: 60 }));
    const {
      manifest,
      deadline_ms: deadline,
      facts,
      playbook,
      ...rest
    } = bodyOf(await gateway.records(reply.call_id), 'prepared');
    assert.deepEqual(rest, {
      state: 'PREPARED',
      tenant: 'acme',
      agent: 'ada',
      tool: 'pay',
      turn: 't1',
      effect_class: 'probeable',
      policy: null,
      workflow: null,
    });
    assert.match(String(playbook), /^[0-9a-f]{64}$/);
    assert.equal(deadline, (await gateway.stored(reply.call_id)).deadlineAtMs);
    assert.deepEqual(facts, {
      gates: ['ready', 'session', 'known', 'input', 'fence', 'evidence'],
      ready: true,
      in_flight: 0,
      session: { state: 'open', seq: 0 },
      turn_cancelled: false,
      validator: 'accepted',
    });
    const blob = await withReader(gateway.file, (reader) => reader.blob(String(manifest)));
    assert.equal(
      createHash('sha256')
        .update(blob ?? '')
        .digest('hex'),
      manifest,
      'named by its content',
    );
    const declared = JSON.parse(blob ?? '{}') as Record<string, unknown>;
    assert.deepEqual(
      [declared['name'], declared['description'], declared['effect'], declared['timeout_ms']],
      ['pay', 'pays', 'probeable', 7_000],
    );
    assert.ok(JSON.stringify(declared['input']).includes('amount'), 'with its schema');
  });

  test('[C1-facts-2] keeps which gate refused a call, with what it saw', async (t) => {
    const gateway = await openGateway(t, [act]);
    const session = await gateway.openSession();
    const stale = await gateway.call({ tool: 'act', session, expected_seq: 9 });
    const { gate, error, code, tool: name, facts } = bodyOf(await gateway.records(stale.call_id), 'refused');
    assert.deepEqual([gate, error, code, name], ['session', 'session_error', 'StaleSequence', 'act']);
    assert.deepEqual((facts as Record<string, unknown>)['session'], { state: 'open', seq: 0 });
  });

  test('[C1-facts-2] keeps a call that was refused with the class of what it asked for', async (t) => {
    const look = aTool('look', () => 1, { effect: 'pure' });
    const gateway = await openGateway(t, [act, look]);
    const session = await gateway.openSession();
    const classOf = async (name: string) => {
      const { call_id: callId } = await gateway.call({ tool: name, session, expected_seq: 9 });
      return (await gateway.stored(callId)).effectClass;
    };
    assert.deepEqual(
      [await classOf('look'), await classOf('act'), await classOf('nothing')],
      ['pure', 'plain', 'plain'],
    );
  });

  test('[C1-facts-3] keeps personal data out of its bodies: arguments and results are payloads', async (t) => {
    const echo = aTool('echo', (args) => args);
    const gateway = await openGateway(t, [echo]);
    const args = { email: 'ada@example.org' };
    const ran = successOf(await gateway.call({ tool: 'echo', args }));
    const refused = await gateway.call({ tool: 'nothing', args });
    for (const { call_id: callId } of [ran, refused])
      for (const { body } of await gateway.records(callId)) assert.ok(!body.includes('ada@example.org'), body);
  });

  test('[C6-journal-2] numbers the records of a session without gaps or doubles', async (t) => {
    const gateway = await openGateway(t, [act]);
    const session = await gateway.openSession();
    const asked = Array.from({ length: 20 }, (_, n) =>
      gateway.call({ tool: n % 3 === 0 ? 'nothing' : 'act', args: { n }, session }),
    );
    await Promise.all(asked);
    await gateway.cancel({ session, turn: 't' });
    const numbers = await withReader(gateway.file, async (reader) => {
      const entries = await reader.entries({ epoch: 0, seq: 0 }, 1_000);
      const found = await reader.session(session as never);
      assert.equal(entries.filter(({ sessionSeq }) => sessionSeq > 0).length, found?.entries);
      return entries.map(({ sessionSeq }) => sessionSeq).filter((number) => number > 0);
    });
    assert.deepEqual(
      numbers,
      Array.from({ length: numbers.length }, (_, at) => at + 1),
    );
    assert.equal(numbers.length, 1 + 7 + 13 * 3 + 1);
  });

  test('[C6-journal-3] never goes back in time, and says when the clock did', async (t) => {
    const clock = createShiftedClock();
    const gateway = await openGateway(t, [act], { clock, limits: { sweepEveryMs: 10 } });
    await gateway.call({ tool: 'act' });
    clock.forward(-3_600_000);
    await gateway.call({ tool: 'act' });
    await awaitSweep(gateway);
    await awaitSweep(gateway);
    const notice = gateway.notices.find(({ kind }) => kind === 'clock_held');
    assert.ok(notice?.kind === 'clock_held' && notice.behindMs > 3_590_000);
    await withReader(gateway.file, async (reader) => {
      const entries = await reader.entries({ epoch: 0, seq: 0 }, 1_000);
      assert.deepEqual(
        entries.map(({ timeMs }) => timeMs),
        entries.map(({ timeMs }) => timeMs).toSorted((a, b) => a - b),
      );
      assert.equal(entries.filter(({ kind }) => kind === 'clock_held').length, 1);
    });
  });

  test('[C6-journal-4] does not hold any more when a record, a payload or a place was changed', async (t) => {
    const gateway = await openGateway(t, [act]);
    for (let n = 0; n < 5; n++) await gateway.call({ tool: 'act', args: { n } });
    await gateway.close();
    const problemsAfter = (change: (database: DatabaseSync) => void) => {
      const copy = path.join(folderOf(t), 'changed.db');
      copyFileSync(gateway.file, copy);
      const database = new DatabaseSync(copy);
      change(database);
      database.close();
      return withReader(copy, async (reader) => (await verifyJournal(reader)).problems.map(({ problem }) => problem));
    };
    const flipABit = (database: DatabaseSync) => {
      const { at, header } = database.prepare('SELECT at, header FROM journal ORDER BY at LIMIT 1 OFFSET 3').get() as {
        at: number;
        header: Uint8Array;
      };
      header[header.length - 3] = (header[header.length - 3] ?? 0) ^ 1;
      database.prepare('UPDATE journal SET header = ? WHERE at = ?').run(header, at);
    };
    assert.deepEqual(await problemsAfter(() => undefined), []);
    assert.deepEqual(await problemsAfter(flipABit), ['the hash does not match']);
    const changed = await problemsAfter((database) =>
      database.exec(`UPDATE payloads SET bytes = x'7b7d' WHERE id = 3`),
    );
    assert.deepEqual(changed, ["payload 'args' does not match its commitment"]);
    const missing = await problemsAfter((database) =>
      database.exec('DELETE FROM journal WHERE at = (SELECT min(at) + 4 FROM journal)'),
    );
    assert.deepEqual(missing, ['record 5 is missing before this one', 'the hash does not match']);
  });
});

describe('the same refusal given again', () => {
  const refusal = { tool: 'nothing', args: { n: 1 } };

  test('[C8-coalesce-1] is counted on the first one, and the journal hears of it at 1, 10 and in the end', async (t) => {
    const gateway = await openGateway(t, [act], { limits: { sweepEveryMs: 3_600_000 } });
    const first = errorOf(await gateway.call(refusal), 'unknown_action');
    for (let repeat = 0; repeat < 24; repeat++) assert.deepEqual(await gateway.call(refusal), first);
    assert.equal((await gateway.stored(first.call_id)).repeats, 24);
    await gateway.close();
    const records = (await gateway.records(first.call_id)).filter(({ kind }) => kind === 'refusals_repeated');
    const counts = records.map(({ body }) => (JSON.parse(body) as { count: number }).count);
    assert.deepEqual(counts, [1, 10, 24]);
  });

  test('[C8-coalesce-2] with other arguments, by another agent or for another reason is one of its own', async (t) => {
    const gateway = await openGateway(t, [act]);
    const calls = [
      await gateway.call(refusal),
      await gateway.call({ ...refusal, args: { n: 2 } }),
      await gateway.call({ ...refusal, tool: 'nothing_else' }),
      await gateway.call(refusal, { agent: 'bob' }),
      await gateway.call({ ...refusal, session: await gateway.openSession() }),
      await gateway.call({ ...refusal, session: 'ses_unknown' }),
    ];
    assert.equal(new Set(calls.map(({ call_id: callId }) => callId)).size, calls.length);
  });

  test('[C8-coalesce-3] after the window is listed anew', async (t) => {
    const clock = createShiftedClock();
    const gateway = await openGateway(t, [act], { clock, limits: { coalesceWindowMs: 60_000 } });
    const first = await gateway.call(refusal);
    clock.forward(59_000);
    assert.equal((await gateway.call(refusal)).call_id, first.call_id);
    clock.forward(1_001);
    assert.notEqual((await gateway.call(refusal)).call_id, first.call_id);
  });

  test('[C8-coalesce-4] is counted durably before its reply: a kill loses none', async (t) => {
    const file = path.join(folderOf(t), 'recourse.db');
    const log = path.join(folderOf(t), 'world.log');
    const child = startChild(t, { file, log, calls: [], bodies: 'return', limits: { sweepEveryMs: 3_600_000 } });
    const first = await child.ask(refusal);
    for (let repeat = 0; repeat < 7; repeat++) await child.ask(refusal);
    await child.kill();
    const gateway = await openGateway(
      t,
      createWorld(log, () => 'done'),
      { file },
    );
    assert.equal((await gateway.stored(first.call_id)).repeats, 7);
    const counts = (await gateway.records(first.call_id)).filter(({ kind }) => kind === 'refusals_repeated');
    assert.equal(
      counts.map(({ body }) => (JSON.parse(body) as { count: number }).count).at(-1),
      7,
      'and at start it is told',
    );
    assert.deepEqual(await gateway.reply(first.call_id), first);
  });
});

describe('an erased call', () => {
  test('[C8-erase-1] loses its payloads, and the journal still holds', async (t) => {
    const echo = aTool('echo', (args) => args);
    const gateway = await openGateway(t, [echo]);
    const asked = { tool: 'echo', args: { email: 'ada@example.org' }, key: 'k' };
    const reply = successOf(await gateway.call(asked));
    await gateway.close();
    const opened = await openSqliteStore({ file: gateway.file });
    assert.ok(opened.kind === 'opened');
    await opened.store.erase(reply.call_id as CallId, 'she asked for it', Date.now());
    await opened.store.close();
    const report = await checkFile(gateway.file);
    assert.deepEqual([report.problems, report.erased], [[], 2]);
    await withReader(gateway.file, async (reader) => {
      assert.deepEqual(await reader.args(reply.call_id as CallId), { kind: 'erased' });
      const erased = (await reader.recordsOf(reply.call_id as CallId)).find(({ kind }) => kind === 'erased');
      assert.match(erased?.body ?? '', /she asked for it/);
    });
    const next = await openGateway(t, [echo]);
    const again = errorOf(await next.call(asked), 'action_error');
    assert.deepEqual([again.error_type, again.effect, again.replayed], ['Erased', 'applied', true]);
    assert.doesNotMatch(JSON.stringify(again), /ada@example/);
  });
});
