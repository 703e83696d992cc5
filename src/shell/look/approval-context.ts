/**
 * What a person needs beside an approval to decide: what will happen, how it differs from the last such call, and
 * whether the reads that it relies on still say the same. Must not write.
 */
import type { ApprovalId } from '../../core/approval/approval.ts';
import { whatHappens } from '../../core/approval/what-happens.ts';
import type { CallId, Principal } from '../../core/call/call.ts';
import type { ApprovalContext, EvidenceRead } from '../../core/approval/approval-context.ts';
import type { Json } from '../../core/values/json.ts';
import type { StoredCall } from '../../ports/store.ts';
import { bindReads, readEvidenceAgain } from '../evidence/read-evidence.ts';
import { toolOf } from '../session/position.ts';
import type { Shell } from '../shell.ts';
import { readBody } from './history.ts';

/** Null if there is no such approval in the tenant. `again`: the evidence is read again, which sends those reads. */
export async function approvalContext(
  id: string,
  tenant: string,
  again: boolean,
  shell: Shell,
): Promise<ApprovalContext | null> {
  const { store } = shell.ports;
  const approval = await store.approval(id as ApprovalId);
  if (approval === null || approval.tenant !== tenant) return null;
  const call = await store.call(approval.callId);
  // Spending is not about the tool of the call that gave rise to it.
  const isSpending = approval.spending !== undefined;
  const found = call === null || isSpending ? undefined : (await toolOf(call, shell)).tool;
  return {
    approval_id: approval.id,
    happens: whatHappens(approval, found ?? null),
    effect_class: found?.effectClass ?? null,
    reach: found?.reach ?? null,
    last: isSpending ? null : await lastLike(approval, shell),
    evidence: call === null || isSpending ? [] : await evidenceOf(call, again, shell),
  };
}

async function lastLike(
  { tenant, agent, tool, callId }: Principal & { readonly tool: string; readonly callId: CallId },
  { ports: { store } }: Shell,
): Promise<ApprovalContext['last']> {
  const like = await store.listCalls({ tenant, agent, tool, state: 'SUCCEEDED', limit: 2 });
  const last = like.find(({ id }) => id !== callId);
  return last === undefined ? null : { call_id: last.id, at: time(last.createdAtMs), args: await argsOf(last, store) };
}

async function argsOf({ id }: StoredCall, store: Shell['ports']['store']): Promise<Json> {
  const stored = await store.args(id);
  return stored.kind === 'text' ? (JSON.parse(stored.text) as Json) : null;
}

/** As many as a request may name. */
const maxEvidence = 32;

async function evidenceOf(call: StoredCall, again: boolean, shell: Shell): Promise<readonly EvidenceRead[]> {
  const { store } = shell.ports;
  const held = (await store.recordsOf(call.id)).find(({ kind }) => kind === 'held');
  const { evidence_refs: named, evidence_reads: own } = held === undefined ? {} : readBody(held.body);
  const refs = [named, own].flatMap((each): readonly unknown[] => (Array.isArray(each) ? each : []));
  const names = refs.filter((ref) => typeof ref === 'string').slice(0, maxEvidence);
  const reads: EvidenceRead[] = [];
  for (const ref of names) {
    const read = await store.call(ref as CallId);
    if (read === null || read.tenant !== call.tenant) continue;
    const now = again ? await readNow(ref, call, shell) : { now: 'unread' as const, problem: null };
    const args = await argsOf(read, store);
    reads.push({ call_id: read.id, tool: read.tool, args, read_at: time(read.createdAtMs), ...now });
  }
  return reads;
}

async function readNow(ref: string, who: Principal, shell: Shell): Promise<Pick<EvidenceRead, 'now' | 'problem'>> {
  const bound = await bindReads([ref], who, shell);
  if (typeof bound === 'number') return { now: 'unreadable', problem: 'it is no read of this agent any more' };
  const read = await readEvidenceAgain(bound, shell);
  if (read.kind === 'unreadable') return { now: 'unreadable', problem: read.problem };
  return { now: read.hash === bound.hash ? 'same' : 'changed', problem: null };
}

const time = (atMs: number): string => new Date(atMs).toISOString();
