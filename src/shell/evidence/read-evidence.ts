/**
 * Reads what a call relies on: what the named reads said, and, right before the call runs, what they say now. Every
 * failure is a typed answer, within a time limit.
 */
import type { CallId, Principal, Request } from '../../core/call/call.ts';
import type { EvidenceFact, EvidenceNowFact, Facts } from '../../core/gates/facts.ts';
import { type ChangedEvidence, isSuccess, type Reply } from '../../core/call/reply.ts';
import { canonicalise, canonicalText, cut } from '../../core/values/canonical.ts';
import type { Json } from '../../core/values/json.ts';
import type { StoredCall } from '../../ports/store.ts';
import { attemptOf, whyNotResend, type Work } from '../attempt/work.ts';
import { storedReply } from '../ending/stored-reply.ts';
import { isMasked } from '../mask.ts';
import type { Asking } from '../session/fetch-session.ts';
import { toolOf } from '../session/position.ts';
import type { Shell } from '../shell.ts';
import { declaredReads } from './declared-reads.ts';

/** The evidence of a call: the reads, and the hash of what each of them said. */
export type Bound = Pick<Extract<EvidenceFact, { ok: true }>, 'refs' | 'contents' | 'hash'>;

export const noEvidence: Bound = { refs: [], contents: [], hash: '' };

export async function fetchEvidence(
  request: Request,
  facts: Facts,
  who: Principal,
  asking: Asking | null,
  shell: Shell,
): Promise<EvidenceFact> {
  const named = request.evidence ?? [];
  const own = await declaredReads(request, facts, who, asking, shell);
  if (!own.ok) return { ok: false, errors: [], unread: own.problem };
  const refs = [...named, ...own.refs];
  const bound = await bindReads(refs, who, shell);
  if (typeof bound !== 'number')
    return { ok: true, ...bound, own: own.refs, isFresh: own.isFresh && named.length === 0 };
  const wrong = bound;
  if (wrong >= named.length) return { ok: false, errors: [], unread: `what ${refs[wrong]} said is gone` };
  const expected = 'the call_id of a read of your own that succeeded';
  return { ok: false, errors: [{ path: `/evidence_refs/${wrong}`, expected, got: refs[wrong] ?? null }] };
}

/** What these reads of the agent said; or which of them is none. */
export async function bindReads(refs: readonly string[], who: Principal, shell: Shell): Promise<Bound | number> {
  const found = await Promise.all(refs.map((ref) => readingOf(ref, who, shell)));
  const readings = found.filter((reading) => reading !== null);
  if (readings.length < found.length) return found.indexOf(null);
  return { refs, contents: readings.map(({ content }) => content), hash: hashOf(readings, shell) };
}

export async function readEvidenceAgain({ refs, contents: bound }: Bound, shell: Shell): Promise<EvidenceNowFact> {
  const readings: Reading[] = [];
  const changes: ChangedEvidence[] = [];
  for (const [index, ref] of refs.entries()) {
    const call = await shell.ports.store.call(ref as CallId);
    if (call === null) return { kind: 'unreadable', problem: `${ref} is gone` };
    const read = await readAgain(call, shell);
    if ('problem' in read) return { kind: 'unreadable', problem: read.problem };
    const was = bound[index] ?? '';
    if (read.content !== was) changes.push({ read: ref, tool: call.tool, was, is: read.content, ...saysOf(read.text) });
    readings.push({ of: call.fingerprint, content: read.content });
  }
  return { kind: 'read', hash: hashOf(readings, shell), changes };
}

/** Characters of what a read says now that a reply tells. */
const maxSaidChars = 2_000;

/** What it says now: as JSON, or as the beginning of its text if it is long. */
const saysOf = (text: string): Pick<ChangedEvidence, 'says' | 'cut'> =>
  text.length <= maxSaidChars ? { says: JSON.parse(text) as Json } : { says: cut(text, maxSaidChars), cut: true };

/** What was read, and the hash of what it said. */
interface Reading {
  readonly of: string;
  readonly content: string;
}

/** By what was read, not by when: whoever looks again before they ask again, and finds the same, relies on the same. */
const hashOf = (readings: readonly Reading[], { ports }: Shell): string =>
  ports.sha256(canonicalText(readings.map(({ of, content }) => [of, content])));

/** Null if it is no read, or not theirs. */
async function readingOf(ref: string, who: Principal, shell: Shell): Promise<Reading | null> {
  const call = await shell.ports.store.call(ref as CallId);
  if (call === null || call.tenant !== who.tenant || call.agent !== who.agent) return null;
  if (call.state !== 'SUCCEEDED' || call.effectClass !== 'pure') return null;
  const reply: Reply = await storedReply(call, shell);
  if (!isSuccess(reply)) return null;
  return { of: call.fingerprint, content: shell.ports.sha256(canonicalText(reply.result as Json)) };
}

type Again = { readonly content: string; readonly text: string } | { readonly problem: string };

async function readAgain(call: StoredCall, shell: Shell): Promise<Again> {
  const { clock, store, upstream, sha256 } = shell.ports;
  const { tool, step } = await toolOf(call, shell);
  const args = await store.args(call.id);
  const name = `${call.tool} (${call.id})`;
  if (tool === undefined || args.kind !== 'text' || isMasked(args.text) || tool.effectClass !== 'pure')
    return { problem: `${name} cannot be read again` };
  const work: Work = { tool, args: JSON.parse(args.text) as Json, step, client: null, holds: [] };
  if ((await whyNotResend(call, work, shell)) !== null) return { problem: `${name} may not be read any more` };
  const limitMs = Math.min(tool.timeoutMs, shell.limits.factTimeoutMs);
  const attempt = attemptOf({ ...call, attempt: call.attempt + 1, deadlineAtMs: clock.nowMs() + limitMs }, work, shell);
  const stop = new AbortController();
  let takeBack = (): void => undefined;
  const late = new Promise<null>((resolve) => (takeBack = clock.schedule(limitMs, () => resolve(null))));
  const result = await Promise.race([upstream.invoke(attempt, stop.signal), late]);
  takeBack();
  stop.abort();
  if (result === null || result.kind !== 'returned') return { problem: `${name} could not be read again` };
  const written = canonicalise(result.output === undefined ? null : result.output, { maxDepth: shell.limits.maxDepth });
  return written.ok
    ? { content: sha256(written.text), text: written.text }
    : { problem: `${name} could not be read again` };
}
