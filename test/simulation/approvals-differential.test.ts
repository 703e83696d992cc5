/**
 * The model and the real thing, for approvals, tasks and completion: random transitions, many of them wrong or late, in
 * batches of random size, are committed to both. Every one must end alike, and what is read in the end must be the
 * same.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { openSqliteStore } from '../../src/adapters/store-sqlite/open-store.ts';
import type { Approval, ApprovalId } from '../../src/core/approval/approval.ts';
import type { CallId } from '../../src/core/call/call.ts';
import type { ApprovalWrite, CommitResult, Store, TaskChange, Transition } from '../../src/ports/store.ts';
import { anApproval, states } from '../conformance/approval-fixtures.ts';
import { aCall, aTransition, inserting, startMs, updating, verdictOf } from '../conformance/store-fixtures.ts';
import { onlySeed } from './budget.ts';
import { createMemoryState } from './memory-state.ts';
import { openMemoryStore } from './memory-store.ts';
import { createRandom, type Random } from './random.ts';

const seeds = 16;
const rounds = 50;
const ids = Array.from({ length: 24 }, (_, n) => `apr_${String(n).padStart(2, '0')}` as ApprovalId);
const subjects = ['s1', 's2', 's3', 's4'] as const;
const calls = ['call_a', 'call_b', 'call_c'].map((id) => aCall({ id: id as CallId, state: 'AWAITING_APPROVAL' }));
const agents = ['clerk', 'robot'] as const;

/** Where an approval belongs follows from its id, mostly: then changes are more often right than wrong. */
function drawApproval(id: ApprovalId, random: Random): Approval {
  const number = Number(id.slice(4));
  const wrong = random.chance(0.03);
  const subject = wrong ? random.pick(subjects) : (subjects[number % 4] ?? 's1');
  const terms = { ...anApproval().terms, onApprove: number % 2 === 0 ? ('run' as const) : ('wait' as const) };
  const callId = random.pick(calls).id;
  const argsText = random.chance(0.1) ? null : `{"n":${random.between(0, 9)}}`;
  const edit = random.chance(0.3) ? { by: 'ada', argsText, subject: random.pick(subjects) } : null;
  const over = {
    agent: agents[number % 2] ?? 'clerk',
    session: null,
    openedAtMs: startMs,
    expiresAtMs: startMs + number,
  };
  return anApproval({ id, subject, terms, callId, edit, ...over });
}

/** Builds on what the model holds now and on the writes before, and is late or wrong now and then. */
async function drawWrite(model: Store, before: readonly ApprovalWrite[], random: Random): Promise<ApprovalWrite> {
  const id = random.pick(ids);
  const known = before.findLast(({ approval }) => approval.id === id)?.approval ?? (await model.approval(id));
  const drawn = drawApproval(id, random);
  if (known === null && random.chance(0.95)) return { approval: drawn, expect: null, maxPending: random.between(0, 6) };
  const expect = (known?.version ?? 1) - (random.chance(0.1) ? 1 : 0);
  const version = expect + (random.chance(0.03) ? 2 : 1);
  return { approval: { ...drawn, state: random.pick(states), version }, expect, maxPending: null };
}

function drawTask(random: Random): TaskChange {
  const { id: call } = random.pick(calls);
  if (random.chance(0.5)) return { kind: 'open', call, dueAtMs: startMs + random.between(0, 3) };
  return { kind: 'close', call, as: random.pick(['reported', 'overdue'] as const) };
}

async function drawTransition(model: Store, earlier: readonly Transition[], random: Random): Promise<Transition> {
  if (earlier.length > 0 && random.chance(0.1)) return random.pick(earlier);
  const approvals: ApprovalWrite[] = [];
  for (let count = random.between(0, 3); count > 0; count--) approvals.push(await drawWrite(model, approvals, random));
  const extra = { approvals, task: random.chance(0.2) ? drawTask(random) : null };
  if (random.chance(0.7)) return aTransition(extra);
  const call = random.pick(calls);
  if (random.chance(0.5)) return inserting(call, undefined, extra);
  const hands = { session: null, turn: random.pick(['t1', null]), key: random.pick(['k1', null]), fingerprint: 'f2' };
  return updating(call, { ...hands, state: 'PREPARED' }, extra);
}

const summary = (result: CommitResult | undefined): unknown => {
  if (result?.kind === 'committed') return { kind: result.kind, seq: result.seq };
  if (result?.kind === 'conflict' && result.on === 'illegal') return { kind: result.kind, on: result.on };
  return result;
};

async function contentOf(store: Store) {
  const pairs = agents.flatMap((agent) => subjects.map((subject) => ({ agent, subject })));
  return {
    approvals: await Promise.all(ids.map((id) => store.approval(id))),
    bySubject: await Promise.all(pairs.map(({ agent, subject }) => store.approvalOf('acme', agent, subject))),
    byCall: await Promise.all(calls.map(({ id }) => store.approvalOfCall(id))),
    pending: await Promise.all(agents.map((agent) => store.pendingApprovals('acme', agent))),
    listed: await store.listApprovals({ tenant: 'acme', limit: 9 }),
    inbox: await store.listApprovals({ tenant: 'acme', state: 'pending', agent: 'robot', limit: 9 }),
    toRun: await store.approvalsToRun('', 9),
    tasks: await Promise.all(calls.map(({ id }) => store.task(id))),
    due: await store.dueTasks(startMs + 1, 9),
    calls: await store.listCalls({ limit: 9 }),
  };
}

test('approvals end alike in SQLite and in the model', { skip: onlySeed !== null }, async (context) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-approvals-'));
  const seen = new Map<string, number>();
  try {
    for (let seed = 1; seed <= seeds; seed++) {
      const random = createRandom(seed, 'approvals');
      const model = openMemoryStore(createMemoryState(createRandom(seed, 'model')), 0);
      const opened = await openSqliteStore({ file: path.join(folder, `${seed}.db`), nowMs: () => 0 });
      assert.ok(opened.kind === 'opened');
      const earlier: Transition[] = [];
      for (let round = 0; round < rounds; round++) {
        const batch: Transition[] = [];
        const expected: CommitResult[] = [];
        // The model goes first, one by one, so that the next is drawn from what it holds by then.
        for (let count = random.between(1, 6); count > 0; count--) {
          const transition = await drawTransition(model, earlier, random);
          batch.push(transition);
          earlier.push(transition);
          expected.push(...(await model.commit([transition])));
        }
        const found = await opened.store.commit(batch);
        for (const [index, result] of expected.entries()) {
          const where = `seed ${seed}, round ${round}: ${JSON.stringify(batch[index])}`;
          assert.deepEqual(summary(found[index]), summary(result), where);
          seen.set(verdictOf(result), (seen.get(verdictOf(result)) ?? 0) + 1);
        }
        if (!random.chance(0.1)) continue;
        const { id } = random.pick(calls);
        const there = await opened.store.erase(id, 'asked', startMs);
        assert.equal(
          verdictOf(there),
          verdictOf(await model.erase(id, 'asked', startMs)),
          `seed ${seed}, round ${round}: erase ${id}`,
        );
      }
      assert.deepEqual(await contentOf(opened.store), await contentOf(model), `seed ${seed}`);
      await opened.store.close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  context.diagnostic(`${seeds} seeds: ${[...seen].map(([verdict, count]) => `${count} ${verdict}`).join(', ')}`);
  for (const verdict of ['committed', 'approval', 'task', 'call', 'illegal'])
    assert.ok((seen.get(verdict) ?? 0) > 20, verdict);
});
