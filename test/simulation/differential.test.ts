/**
 * The model and the real thing: everything that reached the store of a simulated world, in its order, is committed to a
 * real SQLite file. Every commit must end alike there, and every call, session and reply must be the same in the end.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { openSqliteStore } from '../../src/adapters/store-sqlite/open-store.ts';
import type { CommitResult, Store, Transition } from '../../src/ports/store.ts';
import { onlySeed } from './budget.ts';
import { createMemoryState } from './memory-state.ts';
import { openMemoryStore } from './memory-store.ts';
import { createRandom } from './random.ts';
import { runSeed } from './run-seed.ts';

const seeds = 12;

/** What a caller of the port can tell apart; where a record stands is the store's own affair. */
function summary(result: CommitResult | undefined): unknown {
  if (result?.kind === 'committed') return { kind: result.kind, seq: result.seq };
  if (result?.kind === 'conflict' && result.on === 'illegal') return { kind: result.kind, on: result.on };
  return result;
}

async function contentOf(store: Store) {
  const calls = await store.listCalls({ limit: 1_000 });
  const flows = await store.listSessions({ limit: 1_000 });
  const manifests = [...new Set(flows.flatMap(({ workflow }) => workflow?.manifest ?? []))];
  const ids = [...new Set(calls.flatMap(({ session }) => (session === null ? [] : [session])))].sort();
  return {
    calls,
    replies: await Promise.all(calls.map(({ id }) => store.reply(id))),
    args: await Promise.all(calls.map(({ id }) => store.args(id))),
    sessions: await Promise.all(ids.map((id) => store.session(id))),
    fences: await Promise.all(ids.map((id) => store.fences(id))),
    snapshots: await Promise.all(ids.map(async (id) => store.snapshot(id, (await store.session(id))?.seq ?? 0))),
    histories: await Promise.all(
      ids.map(async (id) => (await store.sessionEntries(id, 0, 1_000)).map(({ kind, body }) => ({ kind, body }))),
    ),
    dueSessions: await store.dueSessions(Number.MAX_SAFE_INTEGER, manifests, 1_000),
    idleSessions: await store.idleSessions(Number.MAX_SAFE_INTEGER, 1_000),
    approvals: await store.listApprovals({ tenant: 'acme', limit: 1_000 }),
    toRun: await store.approvalsToRun('', 1_000),
    tasks: await store.dueTasks(Number.MAX_SAFE_INTEGER, 1_000),
    keys: await Promise.all(
      calls.map(({ tenant, agent, key }) => (key === null ? null : store.key(tenant, agent, key))),
    ),
    abandoned: await Promise.all(
      calls.map(({ session, fingerprint }) =>
        session === null ? null : store.abandoned(session, fingerprint, 1_000_000),
      ),
    ),
    due: await store.due(Number.MAX_SAFE_INTEGER, 1_000),
    unfinished: await store.unfinished('', 1_000),
    uncounted: await store.uncounted(1_000),
    kinds: await Promise.all(
      calls.map(async ({ id }) => (await store.recordsOf(id)).map(({ kind, sessionSeq }) => ({ kind, sessionSeq }))),
    ),
  };
}

test('SQLite and the model in memory end alike, commit by commit', { skip: onlySeed !== null }, async (context) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-differential-'));
  let committed = 0;
  let conflicts = 0;
  try {
    for (let seed = 1; seed <= seeds; seed++) {
      const log: Transition[] = [];
      const onCommit = (transition: Transition) => void log.push(transition);
      await runSeed({ seed, workflows: seed % 2 === 0, approvals: seed % 3 === 0, onCommit });
      const model = openMemoryStore(createMemoryState(createRandom(seed, 'model')), 0);
      const opened = await openSqliteStore({ file: path.join(folder, `${seed}.db`), nowMs: () => 0 });
      assert.ok(opened.kind === 'opened');
      const real = opened.store;
      const expected = await model.commit(log);
      const found: CommitResult[] = [];
      // In the model's order, some at a time: what shares a commit must not matter.
      for (let at = 0; at < log.length; at += 7) found.push(...(await real.commit(log.slice(at, at + 7))));
      for (const [index, result] of expected.entries())
        assert.deepEqual(
          summary(found[index]),
          summary(result),
          `seed ${seed}, commit ${index}: ${JSON.stringify(log[index])}`,
        );
      assert.deepEqual(await contentOf(real), await contentOf(model), `seed ${seed}`);
      committed += log.length;
      conflicts += expected.filter(({ kind }) => kind === 'conflict').length;
      await real.close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  context.diagnostic(`${seeds} worlds, ${committed} commits, ${conflicts} of them conflicts, all alike`);
  assert.ok(conflicts > 0);
});
