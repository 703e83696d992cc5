/**
 * The model and the real thing, for tickets, calls in doubt and fences outside workflows: random transitions, many of
 * them wrong or late, are committed to both. Every one must end alike, and what is read in the end must be the same.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import { openSqliteStore } from '../../../src/adapters/store-sqlite/open-store.ts';
import type { CallId } from '../../../src/core/call/call.ts';
import { type Ticket, type TicketId, type TicketReason, ticketIdOf } from '../../../src/core/recovery/ticket.ts';
import type { CommitResult, FenceWrite, Store, TicketWrite, Transition } from '../../../src/ports/store.ts';
import {
  aCall,
  aSession,
  aTransition,
  inserting,
  opening,
  startMs,
  stepping,
  updating,
  verdictOf,
} from '../../conformance/store-fixtures.ts';
import { aTicket } from '../../conformance/recovery/ticket-fixtures.ts';
import { onlySeed } from '../budget.ts';
import { createMemoryState } from '../memory-state.ts';
import { openMemoryStore } from '../memory-store.ts';
import { createRandom, type Random } from '../random.ts';

const seeds = 12;
const rounds = 60;
const workflow = { name: 'coffee', manifest: 'm1', pinnedAtSeq: 0, turn: null, timerAtMs: null, reason: null };
const [plain, flow] = [aSession(), aSession({ workflow })];
const calls = ['call_a', 'call_b', 'call_c', 'call_d'].map((id) =>
  aCall({ id: id as CallId, session: plain.id, state: 'DISPATCHED', attempt: 1 }),
);
const reasons: readonly TicketReason[] = ['in_doubt', 'playbook', 'schema_mismatch'];
const tenants = ['acme', 'other'] as const;

function drawTicket(random: Random): TicketWrite {
  const [{ id: call }, reason] = [random.pick(calls), random.pick(reasons)];
  const [by, atMs] = [random.pick(['ada', 'bob']), startMs + random.between(0, 9)];
  const kind = random.pick(['open', 'open', 'change', 'change', 'work', 'moot'] as const);
  if (kind === 'moot') return { kind, call, reason, by, atMs };
  if (kind === 'work') return drawWork(ticketIdOf(call, reason), random);
  if (kind === 'change') return drawChange(aTicket({ call, reason, openedAtMs: startMs }), random);
  const wrong = random.chance(0.05) ? { closedBy: 'ada' } : {};
  const tenant = random.chance(0.2) ? 'other' : 'acme';
  return {
    kind,
    ticket: aTicket({ call, reason, tenant, queue: random.pick(['q1', 'q2']), openedAtMs: atMs, ...wrong }),
  };
}

function drawWork(id: TicketId, random: Random): TicketWrite {
  const [from, to] = [random.pick(works), random.pick(works)];
  return { kind: 'work', id, from, to, continuation: random.pick([null, ...calls.map((call) => call.id)]) };
}

/** Often of a version, or of fields, that the ticket does not have. */
function drawChange(ticket: Ticket, random: Random): TicketWrite {
  const expect = random.between(1, 4);
  const isClosed = random.chance(0.4);
  const after: Ticket = {
    ...ticket,
    version: random.chance(0.05) ? expect : expect + 1,
    queue: random.pick(['q1', 'q2']),
    dueAtMs: random.pick([null, startMs + 3]),
    expiresAtMs: random.pick([null, startMs + 6]),
    overdueAtMs: random.pick([null, startMs + 4]),
    assignee: random.pick([null, 'ada']),
    fence: random.pick([null, { session: plain.id, operation: 'op1' }]),
    ...(isClosed
      ? { state: 'closed', closedBy: 'ada', closedAtMs: startMs, end: 'retry', work: random.pick(works) }
      : {}),
  };
  const unlessEqual = { session: plain.id, fingerprint: 'f1', after: 'call_a' as CallId, from: '' as CallId };
  return { kind: 'change', ticket: after, expect, ...(random.chance(0.2) ? { unlessEqual } : {}) };
}

const works = ['none', 'due', 'untold', 'told'] as const;

function drawFence(random: Random): Transition {
  const { id: call } = random.pick(calls);
  const operation = random.pick(['op1', 'op2']);
  const kind = random.pick(['raised', 'raised', 'lifted', 'adopted'] as const);
  const fence: FenceWrite = kind === 'raised' ? { kind, call, operation } : { kind, call };
  const id = random.chance(0.15) ? flow.id : plain.id;
  return aTransition({ session: { ...stepping(id), fence } });
}

/** Builds on what the model holds now, and is late now and then. */
async function drawCall(model: Store, random: Random): Promise<Transition> {
  const call = random.pick(calls);
  const tickets = random.chance(0.3) ? [drawTicket(random)] : [];
  const found = await model.call(call.id);
  if (found === null) return inserting(call, ['PREPARED', 'DISPATCHED'], { tickets });
  const { state, dueAtMs } = found;
  const dueNext = random.chance(0.3) ? null : startMs + random.between(0, 9);
  const seen = random.chance(0.15) ? startMs : dueAtMs;
  const due = { expectAtMs: seen, atMs: dueNext };
  if (random.chance(0.7))
    return aTransition({ call: { kind: 'mark', id: call.id, requester: null, repeats: 0, due }, tickets });
  const before = { ...call, state, dueAtMs: seen };
  if (state === 'DISPATCHED') return updating(before, { state: 'IN_DOUBT', dueAtMs: dueNext }, { tickets });
  return updating(before, { state: random.pick(['SUCCEEDED', 'FAILED'] as const), dueAtMs: null }, { tickets });
}

async function drawTransition(model: Store, earlier: readonly Transition[], random: Random): Promise<Transition> {
  if (earlier.length > 0 && random.chance(0.1)) return random.pick(earlier);
  if (random.chance(0.4)) return drawCall(model, random);
  if (random.chance(0.3)) return drawFence(random);
  return aTransition({ tickets: Array.from({ length: random.between(1, 4) }, () => drawTicket(random)) });
}

const summary = (result: CommitResult | undefined): unknown => {
  if (result?.kind === 'committed') return { kind: result.kind, seq: result.seq };
  if (result?.kind === 'conflict' && result.on === 'illegal') return { kind: result.kind, on: result.on };
  return result;
};

async function contentOf(store: Store) {
  const filters = tenants.flatMap((tenant) =>
    [{}, { state: 'open' as const }, { queue: 'q1' }, { queue: 'q2', state: 'closed' as const }].map((filter) => ({
      tenant,
      limit: 3,
      ...filter,
    })),
  );
  const pages = await Promise.all(filters.map((filter) => store.listTickets(filter)));
  const next = filters.map((filter, index) => ({ ...filter, before: pages[index]?.at(-1)?.id ?? 'none' }));
  return {
    pages,
    next: await Promise.all(next.map((filter) => store.listTickets(filter))),
    tickets: await Promise.all(calls.map(({ id }) => store.ticketsOf(id))),
    dueTickets: await store.dueTickets(startMs + 5, 3),
    toRun: await store.ticketsToRun('', 3),
    ticketFences: await store.ticketFences(plain.id),
    continuing: await store.continuing(plain.id, 'f1'),
    open: await Promise.all(tenants.map((tenant) => store.openTickets(tenant))),
    calls: await store.listCalls({ limit: 9 }),
    due: await store.due(startMs + 5, 9),
    unfinished: await store.unfinished('', 9),
    fences: await Promise.all([plain.id, flow.id].map((id) => store.fences(id))),
  };
}

test(
  'tickets, doubts and fences end alike in SQLite and in the model',
  { skip: onlySeed !== null },
  async (context) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'recourse-tickets-'));
    const seen = new Map<string, number>();
    try {
      for (let seed = 1; seed <= seeds; seed++) {
        const random = createRandom(seed, 'tickets');
        const model = openMemoryStore(createMemoryState(createRandom(seed, 'model')), 0);
        const opened = await openSqliteStore({ file: path.join(folder, `${seed}.db`), nowMs: () => 0 });
        assert.ok(opened.kind === 'opened');
        const snapshot = { text: '{}', dueAtMs: null };
        const first = [
          opening(plain),
          opening(flow, { session: { kind: 'open', session: flow, snapshot, fences: [] } }),
        ];
        const earlier: Transition[] = [];
        await model.commit(first);
        await opened.store.commit(first);
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
        }
        assert.deepEqual(await contentOf(opened.store), await contentOf(model), `seed ${seed}`);
        await opened.store.close();
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
    context.diagnostic(`${seeds} seeds: ${[...seen].map(([verdict, count]) => `${count} ${verdict}`).join(', ')}`);
    for (const verdict of ['committed', 'ticket', 'call', 'session', 'illegal'])
      assert.ok((seen.get(verdict) ?? 0) > 20, verdict);
  },
);
