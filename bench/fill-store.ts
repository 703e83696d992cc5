/** Fills a store with finished calls, three records each, as the gateway would have written them. */
import { nothingYet } from '../src/shell/ending/transition.ts';
import { openSqliteStore } from '../src/adapters/store-sqlite/open-store.ts';
import { nodeIds } from '../src/adapters/system-node/ids.ts';
import type { Call, CallId, SessionId } from '../src/core/call/call.ts';
import type { RecordDraft, RecordKind } from '../src/core/journal/record.ts';
import type { Transition } from '../src/ports/store.ts';
import { args } from './noop-gateway.ts';

const batch = 512;
const argsText = JSON.stringify(args);
const replyText = JSON.stringify({ action: 'noop', result: { done: true }, state: null, valid_next_actions: ['noop'] });
const body = JSON.stringify({
  agent: 'local',
  facts: { gates: ['ready', 'session', 'known', 'input'], in_flight: 1 },
  state: 'X',
});

/** Returns how many records a second were written. */
export async function fillStore(file: string, records: number): Promise<number> {
  const opened = await openSqliteStore({ file });
  if (opened.kind === 'refused') throw new Error(opened.message);
  const { store } = opened;
  const session = nodeIds.random('ses_') as SessionId;
  const open = {
    id: session,
    tenant: 'default',
    agent: 'filler',
    standing: true,
    usedAtMs: 0,
    workflow: null,
    state: 'open',
    seq: 0,
    entries: 0,
    openedAtMs: 0,
  } as const;
  await store.commit([{ ...bare(), session: { kind: 'open', session: open, snapshot: null, fences: [] } }]);
  const started = performance.now();
  for (let written = 0; written < records; written += batch * 3) {
    const calls = Array.from({ length: batch }, () => aCall(session, store.incarnation));
    await store.commit(calls.map(dispatch));
    const ended = await store.commit(calls.map(settle));
    for (const result of ended) if (result.kind === 'committed' && result.position) store.answered(result.position);
  }
  const perSecond = (records / (performance.now() - started)) * 1_000;
  await store.close();
  return perSecond;
}

function bare(): Transition {
  return { token: nodeIds.random('txn_'), atMs: Date.now(), ...nothingYet };
}

function aCall(session: SessionId, owner: Call['owner']): Call {
  const now = Date.now();
  return {
    id: nodeIds.ordered('call_', now) as CallId,
    tenant: 'default',
    agent: 'filler',
    session,
    turn: null,
    tool: 'noop',
    key: null,
    fingerprint: 'f'.repeat(64),
    effectClass: 'plain',
    state: 'DISPATCHED',
    attempt: 1,
    owner,
    tainted: false,
    createdAtMs: now,
    deadlineAtMs: now + 900_000,
    dueAtMs: now + 37_000,
  };
}

const record = (kind: RecordKind, call: Call, payloads: RecordDraft['payloads']): RecordDraft => ({
  kind,
  call: call.id,
  session: call.session,
  body,
  payloads,
});

const step = (call: Call, advance: boolean) =>
  ({
    kind: 'step',
    id: call.session as SessionId,
    advance,
    expectSeq: null,
    expectOpen: false,
    workflow: null,
  }) as const;

function dispatch(call: Call): Transition {
  const records = [record('prepared', call, [{ part: 'args', text: argsText }]), record('dispatched', call, [])];
  return {
    ...bare(),
    call: { kind: 'insert', call, path: ['PREPARED', 'DISPATCHED'] },
    session: step(call, false),
    records,
  };
}

function settle(call: Call): Transition {
  const { attempt, owner, dueAtMs } = call;
  return {
    ...bare(),
    call: {
      kind: 'update',
      call: { ...call, state: 'SUCCEEDED', dueAtMs: null },
      path: ['SUCCEEDED'],
      expect: { state: 'DISPATCHED', attempt, owner, dueAtMs },
    },
    session: step(call, true),
    records: [record('settled', call, [{ part: 'reply', text: replyText }])],
  };
}
