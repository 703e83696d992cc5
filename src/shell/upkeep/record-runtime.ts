/**
 * Records what happens outside calls: the policy in force, gaps of the runtime, a clock that went back, keys that were
 * masked. Also counts gaps for /metrics and keeps their notices for the next reply of the session.
 */
import { canonicalText } from '../../core/values/canonical.ts';
import { operatorTenant } from '../../core/call/identity.ts';
import type { Policy } from '../../core/policy/policy.ts';
import { voidOutdated } from '../approval/end-approval.ts';
import { commit } from './commit.ts';
import type { Blob } from '../../ports/store.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { Shell } from '../shell.ts';
import { bare } from '../ending/transition.ts';
import { addNotices } from '../../core/call/notices.ts';
import type { CallId, Principal, SessionId } from '../../core/call/call.ts';
import { type GapKind, gapNotice, subjectOf } from '../../core/call/gap.ts';
import type { RecordDraft } from '../../core/journal/record.ts';
import type { Notice, Reply } from '../../core/call/reply.ts';
import type { Attempt } from '../../ports/upstream.ts';

const hashes = new WeakMap<Policy, string>();

export function policyHash(policy: Policy, shell: Shell): string {
  const known = hashes.get(policy) ?? shell.ports.sha256(policy.canonical);
  hashes.set(policy, known);
  return known;
}

/** Blobs known to be in the store. One that is forgotten is written again; the store keeps it once. */
const maxKnownBlobs = 4_096;

/** To be called after the commit that wrote them. */
export function rememberBlobs(blobs: readonly Pick<Blob, 'hash'>[], { live: { knownBlobs } }: Shell): void {
  if (knownBlobs.size + blobs.length > maxKnownBlobs) knownBlobs.clear();
  for (const { hash } of blobs) knownBlobs.add(hash);
}

/** The policy hash for a record, and the policy's text unless the store has it. Empty if no policy is configured. */
export function policyOnRecord(
  policy: Policy | null,
  shell: Shell,
): { readonly body: JsonObject; readonly blobs: readonly Blob[] } {
  if (policy === null) return { body: {}, blobs: [] };
  const hash = policyHash(policy, shell);
  // Until a commit with it has succeeded every commit carries it; the store keeps the same blob once.
  const blobs = shell.live.knownBlobs.has(hash) ? [] : [{ hash, text: policy.canonical }];
  return { body: { policy: hash }, blobs };
}

export interface AppliedPolicy {
  /** Null if no agents are declared and only errors of workflows are forced. */
  readonly next: Policy | null;
  readonly last: Policy | null;
  readonly by: string;
  /** Errors that `recourse check` reports, in spite of which the policy is in force. */
  readonly forced?: readonly string[];
  /** The canonical text of the playbook that is in force from here on, if it is another. */
  readonly playbook?: string | null;
}

const maxProblems = 50;

/** Records a change of policy. False if that failed: then the policy must not be put in force. */
export async function recordPolicy(
  { next, last, by, forced = [], playbook = null }: AppliedPolicy,
  shell: Shell,
): Promise<boolean> {
  // INVARIANT: approvals that one policy voids are void before the next policy is in force. Those opened since, by
  // calls judged under the previous policy, are voided by the present one.
  if (
    !(await voidOutdated(
      [last, next].filter((each) => each !== null),
      'leave',
      shell,
    ))
  )
    return false;
  const [hash, previous] = [next, last].map((each) => (each === null ? null : policyHash(each, shell)));
  const body = canonicalText({
    tenant: operatorTenant,
    policy: hash ?? null,
    previous: previous ?? null,
    by,
    mode: next?.written.mode ?? null,
    ...(playbook === null ? {} : { playbook: shell.ports.sha256(playbook) }),
    ...(forced.length === 0 ? {} : { forced: true, problems: forced.slice(0, maxProblems) }),
  });
  const result = await commit(
    {
      ...bare(shell),
      blobs: next === null || hash === null || hash === undefined ? [] : [{ hash, text: next.canonical }],
      records: [{ kind: 'policy_applied', call: null, session: null, body, payloads: [] }],
    },
    shell,
  );
  return result.kind === 'committed';
}

export { type GapKind, gapKinds } from '../../core/call/gap.ts';

export interface Gap {
  readonly kind: GapKind;
  /** The method or tool that it concerns. */
  readonly subject: string;
  readonly who: Principal | null;
  readonly callId?: string;
  readonly session?: string | null;
}

export interface GapCount {
  readonly kind: GapKind;
  readonly count: number;
}

/** Further tenants are not counted; with more sessions than this the oldest notices are dropped. */
const maxTenants = 10_000;
const maxSessions = 1_000;
const maxNotices = 10;

/** Returns the notice for the reply. The gap is recorded, or the operator was notified that it could not be. */
export type ReportGap = (gap: Gap, shell: Shell) => Promise<Notice>;

/** The same gap is recorded once a minute, and counted each time. Never rejects. */
export const reportGap: ReportGap = async (gap, shell) => {
  const problem = await recordGap(gap, shell).catch(String);
  if (problem !== null)
    shell.ports.notify({ kind: 'suppressed', what: `the record of a gap (${gap.kind})`, reason: problem });
  return gapNotice(gap.kind, gap.subject);
};

/** Null if it is recorded, or was within the last minute; otherwise why it is not. */
async function recordGap(gap: Gap, shell: Shell): Promise<string | null> {
  countGap(gap, shell);
  const { gapsSeen } = shell.live;
  const name = canonicalText([gap.kind, subjectOf(gap.subject), gap.who?.tenant ?? null, gap.who?.agent ?? null]);
  const now = shell.ports.clock.nowMs();
  const seenAt = gapsSeen.get(name);
  if (seenAt !== undefined && now - seenAt < shell.limits.coalesceWindowMs) return null;
  rememberGap(name, now, shell);
  const place = { call: await ownCall(gap, shell), session: await ownSession(gap, shell) };
  const result = await commit({ ...bare(shell), records: [gapRecord(gap, place)] }, shell);
  if (result.kind === 'committed') return null;
  // Not recorded, so the next equal gap must be.
  gapsSeen.delete(name);
  return result.kind === 'unavailable' ? `the store is away (${result.fault})` : `it met a conflict on ${result.on}`;
}

function rememberGap(name: string, atMs: number, { live, limits }: Shell): void {
  live.gapsSeen.delete(name);
  live.gapsSeen.set(name, atMs);
  // A Map keeps the order of insertion: the first key is the oldest.
  const [oldest] = live.gapsSeen.keys();
  if (live.gapsSeen.size > limits.maxCoalesced && oldest !== undefined) live.gapsSeen.delete(oldest);
}

/** INVARIANT: nobody adds records to a call or a session of somebody else. */
async function ownCall({ callId, who }: Gap, { ports }: Shell): Promise<CallId | null> {
  const call = callId === undefined ? null : await ports.store.call(callId as CallId);
  return call !== null && isOf(call, who) ? call.id : null;
}

async function ownSession({ session: handle, who }: Gap, { ports }: Shell): Promise<SessionId | null> {
  const session = typeof handle === 'string' ? await ports.store.session(handle as SessionId) : null;
  return session !== null && isOf(session, who) ? session.id : null;
}

const isOf = (found: Principal, who: Principal | null): boolean =>
  found.tenant === who?.tenant && found.agent === who.agent;

/** `place`: a call and a session that exist, or null. The body names tenant and agent, because both may be null. */
export function gapRecord({ kind, subject, who }: Gap, place: Pick<RecordDraft, 'call' | 'session'>): RecordDraft {
  const whose = { tenant: who?.tenant ?? null, agent: who?.agent ?? null };
  const body = canonicalText({ kind, subject: subjectOf(subject), ...whose });
  return { kind: 'runtime_gap', ...place, body, payloads: [] };
}

export function countGap({ kind, who }: Gap, { live }: Shell): void {
  const tenant = who?.tenant ?? '';
  const known = live.gaps.get(tenant);
  if (known === undefined && live.gaps.size >= maxTenants) return;
  const counts = known ?? new Map<GapKind, number>();
  if (known === undefined) live.gaps.set(tenant, counts);
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
}

/** The gaps of a tenant since the process began. */
export function gapsOf(tenant: string, { live }: Shell): readonly GapCount[] {
  return [...(live.gaps.get(tenant) ?? [])].map(([kind, count]) => ({ kind, count }));
}

/** Keeps a notice for the next reply in this session, of whichever call. */
export function keepNotice(session: SessionId, notice: Notice, { live }: Shell): void {
  const kept = live.gapNotices.get(session) ?? [];
  if (kept.length >= maxNotices) return;
  live.gapNotices.set(session, [...kept, notice]);
  const [oldest] = live.gapNotices.keys();
  if (live.gapNotices.size > maxSessions && oldest !== undefined) live.gapNotices.delete(oldest);
}

/** Adds the notices kept for the session, once. A session has one agent, so nobody else gets them. */
export function withGapNotices(reply: Reply, { live }: Shell): Reply {
  if (live.gapNotices.size === 0 || reply.session === null) return reply;
  const kept = live.gapNotices.get(reply.session as SessionId);
  if (kept === undefined) return reply;
  live.gapNotices.delete(reply.session as SessionId);
  return addNotices(reply, kept);
}

/** `heldBack`: how far the clock was behind, each time it went back. Emptied here. */
export async function recordHeldClock(heldBack: number[], shell: Shell): Promise<void> {
  for (const behindMs of heldBack.splice(0)) {
    shell.ports.notify({ kind: 'clock_held', behindMs });
    const body = canonicalText({ behind_ms: Math.round(behindMs) });
    await commit(
      { ...bare(shell), records: [{ kind: 'clock_held', call: null, session: null, body, payloads: [] }] },
      shell,
    );
  }
}

/** Ids of keys, never their secrets. */
export interface MaskedKeys {
  /** Of keys that work; a short list. */
  readonly keyIds: readonly string[];
  /** How many more were masked. They were not looked up, so they may be no keys at all. */
  readonly more: number;
}

export async function recordMaskedKeys(attempt: Attempt, keys: MaskedKeys, shell: Shell): Promise<void> {
  const { keyIds, more } = keys;
  const { callId, session, tenant, agent, tool } = attempt;
  shell.ports.notify({ kind: 'key_masked', callId, agent, tool, keyIds, more });
  const body = canonicalText({ tenant, agent, tool, attempt: attempt.attempt, key_ids: keyIds, more });
  await commit({ ...bare(shell), records: [{ kind: 'key_masked', call: callId, session, body, payloads: [] }] }, shell);
}
