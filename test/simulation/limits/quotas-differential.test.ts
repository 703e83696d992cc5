/**
 * The model and the real thing, for accounts, holds and buckets: random transitions, many of them too much, wrong, late
 * or told twice, are committed to both. Every one must end alike, and what is read in the end must be the same.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { openSqliteStore } from '../../../src/adapters/store-sqlite/open-store.ts';
import type { ApprovalId } from '../../../src/core/approval/approval.ts';
import type { CallId } from '../../../src/core/call/call.ts';
import type {
  AccountWrite,
  CommitResult,
  Reservation,
  Settlement,
  Store,
  TokenTake,
  Transition,
} from '../../../src/ports/store.ts';
import {
  aCall,
  aSession,
  aTransition,
  inserting,
  opening,
  startMs,
  updating,
  verdictOf,
} from '../../conformance/store-fixtures.ts';
import { onlySeed } from '../budget.ts';
import { createMemoryState } from '../memory-state.ts';
import { openMemoryStore } from '../memory-store.ts';
import { createRandom, type Random } from '../random.ts';

const seeds = 16;
const rounds = 60;
const session = aSession();
const calls = Array.from({ length: 60 }, (_, index) =>
  aCall({ id: `call_${index}` as CallId, session: session.id, state: 'DISPATCHED', attempt: 1 }),
);
const tenants = ['acme', 'other'] as const;
const accounts = ['agent/ann/spent', 'agent/ann/spent/2026', 'pool/made'] as const;
const buckets = ['agent/ann/**/minute', 'tenant/**/hour'] as const;
const approvals = ['apr_1', 'apr_2'] as const;

const some = <Item>(random: Random, most: number, draw: (random: Random) => Item): readonly Item[] =>
  Array.from({ length: random.between(0, most) }, () => draw(random));

/** Now and then no amount at all. */
const anAmount = (random: Random) => (random.chance(0.02) ? random.pick([-1, 0.5]) : random.between(0, 30));

const drawReservation = (random: Random): Reservation => ({
  tenant: 'acme',
  account: random.pick(accounts),
  amount: anAmount(random),
  limit: random.chance(0.1) ? null : random.pick([40, 60]),
});

const drawToken = (random: Random): TokenTake => ({
  tenant: random.chance(0.9) ? 'acme' : 'other',
  bucket: random.pick(buckets),
  intervalMicros: random.pick([1_000_000, 2_500_000]),
  burst: random.chance(0.03) ? 0 : random.pick([2, 5]),
  isForced: random.chance(0.1),
});

function drawSettlement(random: Random): Settlement {
  const { id: call } = random.pick(calls);
  const listed = () => ({ account: random.pick(accounts), amount: anAmount(random) });
  const how = random.pick(['held', 'nothing', 'listed'] as const);
  return { call, spent: how === 'listed' ? some(random, 3, listed) : how };
}

async function drawWrite(model: Store, random: Random): Promise<AccountWrite> {
  const [tenant, account] = [random.pick(tenants), random.pick(accounts)];
  const { approval, settled } = await model.account(tenant, account);
  const isLate = random.chance(0.3);
  switch (random.pick(['ask', 'allow', 'correct'] as const)) {
    case 'ask': {
      const expect = isLate ? null : approval;
      return { kind: 'ask', tenant, account, approval: random.pick(approvals) as ApprovalId, expect };
    }
    case 'allow':
      return { kind: 'allow', tenant, account, amount: anAmount(random) };
    case 'correct':
      return { kind: 'correct', tenant, account, settled: anAmount(random), expect: isLate ? settled + 1 : settled };
  }
}

const atMs = (random: Random) => startMs + random.between(0, 60_000);

/** Begins a call, ends one, or settles what others hold; built on what the model holds now. */
async function drawTransition(model: Store, earlier: readonly Transition[], random: Random): Promise<Transition> {
  if (earlier.length > 0 && random.chance(0.1)) return random.pick(earlier);
  const changes = {
    atMs: atMs(random),
    tokens: random.chance(0.4) ? some(random, 2, drawToken) : [],
    accounts: random.chance(0.2) ? [await drawWrite(model, random)] : [],
  };
  const call = random.pick(calls);
  const found = await model.call(call.id);
  const reserve = random.chance(0.8) ? some(random, 3, drawReservation) : [];
  if (found === null) {
    const settle = random.chance(0.1) ? some(random, 2, drawSettlement) : [];
    return inserting(call, ['PREPARED', 'DISPATCHED'], { ...changes, reserve, settle });
  }
  const own: Settlement = { ...drawSettlement(random), call: call.id };
  if (random.chance(0.4)) {
    const settle = random.chance(0.2) ? [own, own] : [own];
    const into = random.pick(['SUCCEEDED', 'FAILED', 'IN_DOUBT', 'IN_DOUBT'] as const);
    const also = random.chance(0.1) ? { reserve } : {};
    return updating(
      { ...call, state: found.state, dueAtMs: found.dueAtMs },
      { state: into },
      { ...changes, settle, ...also },
    );
  }
  const beside = random.chance(0.05) ? { reserve } : {};
  return aTransition({ ...changes, settle: some(random, 2, drawSettlement), ...beside });
}

const summary = (result: CommitResult | undefined): unknown => {
  if (result?.kind === 'committed') return { kind: result.kind, seq: result.seq };
  if (result?.kind === 'conflict' && result.on === 'illegal') return { kind: result.kind, on: result.on };
  return result;
};

async function contentOf(store: Store) {
  const places = tenants.flatMap((tenant) => accounts.map((account) => [tenant, account] as const));
  return {
    accounts: await Promise.all(places.map((place) => store.account(...place))),
    holds: await Promise.all(calls.map(({ id }) => store.holdsOf(id))),
    buckets: await Promise.all(tenants.flatMap((tenant) => buckets.map((bucket) => store.bucket(tenant, bucket)))),
    calls: await store.listCalls({ limit: 99 }),
  };
}

type Content = Awaited<ReturnType<typeof contentOf>>;

/** What is held is the sum of what calls hold, whatever was committed. */
function checkHolds({ accounts: rows, holds }: Content, where: string): void {
  const held = rows.reduce((sum, row) => sum + row.held, 0);
  const sum = holds.flat().reduce((total, { amount }) => total + amount, 0);
  assert.equal(held, sum, where);
  for (const row of rows) assert.ok(row.held >= 0 && row.settled >= 0, `${where}: ${JSON.stringify(row)}`);
}

test(
  'accounts, holds and buckets end alike in SQLite and in the model',
  { skip: onlySeed !== null },
  async (context) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'recourse-quotas-'));
    const seen = new Map<string, number>();
    try {
      for (let seed = 1; seed <= seeds; seed++) {
        const random = createRandom(seed, 'quotas');
        const model = openMemoryStore(createMemoryState(createRandom(seed, 'model')), 0);
        const opened = await openSqliteStore({ file: path.join(folder, `${seed}.db`), nowMs: () => 0 });
        assert.ok(opened.kind === 'opened');
        const earlier: Transition[] = [];
        await model.commit([opening(session)]);
        await opened.store.commit([opening(session)]);
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
          const content = await contentOf(opened.store);
          assert.deepEqual(content, await contentOf(model), `seed ${seed}, round ${round}: ${JSON.stringify(batch)}`);
          checkHolds(content, `seed ${seed}, round ${round}`);
        }
        await opened.store.close();
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
    context.diagnostic(`${seeds} seeds: ${[...seen].map(([verdict, count]) => `${count} ${verdict}`).join(', ')}`);
    for (const verdict of ['committed', 'reserve', 'rate', 'account', 'call', 'illegal'])
      assert.ok((seen.get(verdict) ?? 0) > 20, verdict);
  },
);
