/**
 * What did the reads say that a call relies on, and do they still say it? Evidence is a read of the same agent that succeeded;
 * reading it again is no call of anybody's: it is sent once, within a time limit, if policy permits that read now.
 */
import type { CallId, Principal } from '../../core/call/call.ts';
import { canonicalise, canonicalText } from '../../core/values/canonical.ts';
import type { EvidenceFact, EvidenceNowFact } from '../../core/gates/facts.ts';
import type { Json } from '../../core/values/json.ts';
import { isSuccess, type Reply } from '../../core/call/reply.ts';
import type { StoredCall } from '../../ports/store.ts';
import { whyNotResend } from '../attempt/recheck.ts';
import { isMasked } from '../mask.ts';
import { storedReply } from '../ending/stored-reply.ts';
import type { Shell } from '../shell.ts';
import { toolOf } from './tool-of.ts';
import { attemptOf, type Work } from '../attempt/work.ts';

export async function fetchEvidence(refs: readonly string[], who: Principal, shell: Shell): Promise<EvidenceFact> {
  const found = await Promise.all(refs.map((ref) => readingOf(ref, who, shell)));
  const readings = found.filter((reading) => reading !== null);
  const contents = readings.map(({ content }) => content);
  if (readings.length === found.length) return { ok: true, hash: hashOf(readings, shell), contents };
  const wrong = found.indexOf(null);
  const expected = 'the call_id of a read of your own that succeeded';
  return { ok: false, errors: [{ path: `/evidence_refs/${wrong}`, expected, got: refs[wrong] ?? null }] };
}

export async function readEvidenceAgain(
  refs: readonly string[],
  bound: readonly string[],
  shell: Shell,
): Promise<EvidenceNowFact> {
  const readings: Reading[] = [];
  for (const [index, ref] of refs.entries()) {
    const call = await shell.ports.store.call(ref as CallId);
    if (call === null) return { kind: 'unreadable', problem: `${ref} is gone` };
    const read = await readAgain(call, shell);
    if ('problem' in read) return { kind: 'unreadable', problem: read.problem };
    if (read.content !== bound[index]) return { kind: 'read', hash: '', changed: `${call.tool} (${ref})` };
    readings.push({ of: call.fingerprint, content: read.content });
  }
  return { kind: 'read', hash: hashOf(readings, shell), changed: '' };
}

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

async function readAgain(
  call: StoredCall,
  shell: Shell,
): Promise<{ readonly content: string } | { readonly problem: string }> {
  const { clock, store, upstream, sha256 } = shell.ports;
  const { tool, step } = await toolOf(call, shell);
  const args = await store.args(call.id);
  const name = `${call.tool} (${call.id})`;
  if (tool === undefined || args.kind !== 'text' || isMasked(args.text) || tool.effectClass !== 'pure')
    return { problem: `${name} cannot be read again` };
  const work: Work = { tool, args: JSON.parse(args.text) as Json, step, client: null };
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
  return written.ok ? { content: sha256(written.text) } : { problem: `${name} could not be read again` };
}
