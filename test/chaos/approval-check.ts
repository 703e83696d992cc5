/**
 * Do decisions, record and world agree? What was acknowledged is there, and what ran was approved, once, in the
 * approved form.
 */
import assert from 'node:assert/strict';
import type { Approval, ApprovalId, ApprovalState } from '../../src/core/approval/approval.ts';
import type { CallId } from '../../src/core/call/call.ts';
import { isRefusal, isSuccess, type Reply } from '../../src/index.ts';
import type { JournalEntry, StoredCall, StoreReader } from '../../src/ports/store.ts';
import type { Heard, MadeDecision, Verb } from './approval-round.ts';
import { askedAmount, isWrite, type KindName, type Line, termsOf } from './approval-world.ts';
import { groupBy } from './check-world.ts';

/** What may have become of it since. Nothing that it is bound to changes here, so none is ever void. */
const mayBecome: Readonly<Record<ApprovalState, readonly ApprovalState[]>> = {
  pending: ['pending', 'granted', 'denied', 'used', 'expired', 'revoked'],
  granted: ['granted', 'used', 'expired', 'revoked'],
  denied: ['denied', 'expired', 'revoked'],
  used: ['used', 'revoked'],
  expired: ['expired'],
  revoked: ['revoked'],
  void: [],
};

const recordOf: Readonly<Record<Verb, string>> = {
  approve: 'approval_approved',
  edit: 'approval_approved',
  deny: 'approval_denied',
  revoke: 'approval_revoked',
};

interface Word {
  readonly approval?: string;
  readonly by?: string;
  readonly why?: string;
}

const wordIn = ({ body }: JournalEntry) => JSON.parse(body) as Word;

const approvalIn = (reply: Reply): string | null =>
  isRefusal(reply) && reply.error === 'denied' && reply.resolution.type === 'pending_approval'
    ? reply.resolution.approval_id
    : null;

/**
 * INVARIANT: what a person was told stays, and nothing was decided that nobody said. Returns how many had been told.
 */
export async function checkDecisions({ decisions }: Heard, reader: StoreReader): Promise<number> {
  let told = 0;
  for (const [id, made] of groupBy([...decisions.values()], ({ approval }) => approval)) {
    const approval = await reader.approval(id as ApprovalId);
    assert.ok(approval !== null, `${id} was decided about`);
    const records = await reader.recordsOf(approval.callId);
    for (const decision of made) {
      const { state, verb, by } = decision;
      if (state === null || state === 'refused') continue;
      told += 1;
      const what = `${by} was told that ${id} is ${state} after '${verb}'; it is ${approval.state}`;
      // Its time may run out between the decision and the word of it; nobody need have written that down.
      const isOver = state === 'expired' && Date.now() >= approval.expiresAtMs;
      assert.ok(isOver || mayBecome[state].includes(approval.state) || isNeedless(records, id), what);
      const isThere = records.some((record) => record.kind === recordOf[verb] && sameWord(record, decision));
      assert.ok(isThere, `${what}, and no record says so`);
    }
    checkSaid(approval, made);
  }
  return told;
}

/**
 * Its caller got the outcome of an earlier equal call, whose requester was gone; so nothing was left to run under it.
 */
const isNeedless = (records: readonly JournalEntry[], id: string): boolean =>
  records.some((record) => {
    const { approval, why } = wordIn(record);
    return (
      record.kind === 'approval_voided' && approval === id && why === 'an earlier equal call has answered its caller'
    );
  });

const sameWord = (record: JournalEntry, { approval, by }: MadeDecision): boolean => {
  const word = wordIn(record);
  return word.approval === approval && word.by === by;
};

function checkSaid({ id, state, votes, edit }: Approval, made: readonly MadeDecision[]): void {
  const said = (verbs: readonly Verb[], by?: string) =>
    made.some((decision) => verbs.includes(decision.verb) && (by === undefined || decision.by === by));
  for (const { by } of votes) assert.ok(said(['approve', 'edit'], by), `${id}: ${by} never approved it`);
  if (edit !== null) assert.ok(said(['edit'], edit.by), `${id}: ${edit.by} never changed it`);
  if (state === 'denied') assert.ok(said(['deny']), `${id}: nobody denied it`);
  if (state === 'revoked') assert.ok(said(['revoke']), `${id}: nobody revoked it`);
}

/**
 * INVARIANT: what an agent was told holds: its approval is there for the call that was named, its success can be read
 * again.
 */
export async function checkAnswers(
  { asked }: Heard,
  reader: StoreReader,
  read: (callId: string) => Promise<Reply | null>,
): Promise<number> {
  let answers = 0;
  for (const { reply } of asked.values()) {
    if (reply === null) continue;
    answers += 1;
    if (isRefusal(reply)) assert.ok(!['Unexpected', 'StoreUnavailable'].includes(reply.code), JSON.stringify(reply));
    const id = approvalIn(reply);
    if (id !== null)
      assert.equal((await reader.approval(id as ApprovalId))?.callId, reply.call_id, `${id} waits with its call`);
    if (!isSuccess(reply)) continue;
    const stored = await read(reply.call_id);
    // Whoever got the result of an earlier call is told so beside it.
    const told = reply.notices === undefined ? {} : { notices: reply.notices };
    assert.deepEqual('replayed' in reply ? { ...stored, replayed: true, ...told } : stored, reply);
  }
  return answers;
}

/** INVARIANT: a call that waits has a live approval, and an approval that may still be used has a call that waits. */
export async function checkWaiting(reader: StoreReader): Promise<number> {
  const limit = 10_000;
  const calls = await reader.listCalls({ state: 'AWAITING_APPROVAL', limit });
  for (const { id } of calls) {
    const approval = await reader.approvalOfCall(id);
    if (approval?.state === 'pending' || approval?.state === 'granted') continue;
    // Both end in one commit; it may have come between the two looks.
    assert.notEqual(
      (await reader.call(id))?.state,
      'AWAITING_APPROVAL',
      `${id} waits for one that is ${approval?.state}`,
    );
  }
  for (const state of ['pending', 'granted'] as const)
    for (const { id, callId } of await reader.listApprovals({ tenant: 'default', state, limit })) {
      if ((await reader.call(callId))?.state === 'AWAITING_APPROVAL') continue;
      assert.notEqual((await reader.approval(id))?.state, state, `${id} is ${state}, and ${callId} does not wait`);
    }
  return calls.length;
}

/** INVARIANT: an effect has its grant, the grant has one effect, and that is in the form which was approved. */
export async function checkEffects(
  calls: readonly StoredCall[],
  lines: readonly Line[],
  reader: StoreReader,
): Promise<void> {
  const byCall = groupBy(lines, (line) => line.call_id);
  for (const call of calls) {
    const own = byCall.get(call.id) ?? [];
    checkState(call, own);
    const records = await reader.recordsOf(call.id);
    const used = records.filter(({ kind }) => kind === 'approval_used');
    assert.equal(used.length, call.attempt === 0 ? 0 : 1, `${call.id} is ${call.state}`);
    if (call.attempt === 0) {
      assert.equal(own.length, 0, `${call.id} ran without having been sent`);
      continue;
    }
    const [use] = used as [JournalEntry];
    const approval = await reader.approval((wordIn(use).approval ?? '') as ApprovalId);
    assert.ok(approval !== null && approval.callId === call.id, `${call.id} ran under an approval of its own`);
    assert.ok(['used', 'revoked'].includes(approval.state), `${approval.id} was used and is ${approval.state}`);
    checkGrant(approval, use, records);
    const amount = approval.edit === null ? askedAmount : amountIn(approval.edit.argsText);
    for (const line of own) assert.equal(line.amount, amount, `${call.id} was approved with ${amount}`);
  }
}

const amountIn = (text: string | null): number => (JSON.parse(text ?? '{}') as { amount: number }).amount;

/** Enough different people, each on record before it was used. */
function checkGrant({ id, votes, terms }: Approval, use: JournalEntry, records: readonly JournalEntry[]): void {
  const before = records.slice(0, records.indexOf(use)).filter(({ kind }) => kind === 'approval_approved');
  const on = new Set(
    before.map(wordIn).flatMap(({ approval, by }) => (approval === id && by !== undefined ? [by] : [])),
  );
  const people = new Set(votes.map(({ by }) => by));
  assert.ok(people.size >= terms.needed, `${id} needs ${terms.needed} and has ${people.size}`);
  for (const by of people) assert.ok(on.has(by), `${by} approved ${id} before it was used`);
}

function checkState({ id, state, tool, effectClass, attempt }: StoredCall, own: readonly Line[]): void {
  const what = `${tool} ${id} is ${state} and ran ${own.length} times in ${attempt} attempts`;
  assert.ok(own.length <= attempt, what);
  for (const line of own) assert.equal(line.idempotency_key, id, 'every attempt of a call has the same key');
  if (effectClass === 'plain') assert.ok(own.length <= 1 && attempt <= 1, what);
  if (effectClass === 'pure') return assert.notEqual(state, 'IN_DOUBT', what);
  if (state === 'SUCCEEDED') assert.ok(own.length >= 1, what);
  if (state !== 'SUCCEEDED' && state !== 'IN_DOUBT') assert.equal(own.length, 0, what);
}

/** The writes under a mark, as the world counts them: each idempotency key once. */
export function effectsOf(mark: string, lines: readonly Line[]): ReadonlySet<string> {
  return new Set(lines.filter((line) => line.mark === mark && isWrite(line.tool)).map((line) => line.call_id));
}

export async function handedOver(callId: string, reader: StoreReader): Promise<boolean> {
  const call = await reader.call(callId as CallId);
  const waits = call !== null && termsOf(call.tool as KindName).onApprove === 'wait';
  return waits && call.key === null && call.requesterLeftAtMs === null;
}
