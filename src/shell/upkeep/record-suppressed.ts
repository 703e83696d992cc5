/**
 * Puts errors that were ignored on purpose on record, as `suppressed_error`. Equal ones within the window are counted
 * and not repeated. While the store is unavailable they are only logged.
 */
import type { Call } from '../../core/call/call.ts';
import type { RecordDraft } from '../../core/journal/record.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { safeText } from '../../core/values/redact.ts';
import type { SuppressedNotice } from '../../core/values/suppressed.ts';
import type { SuppressedByBody } from '../../ports/upstream.ts';
import { bare, note, numbered } from '../ending/transition.ts';
import type { Shell } from '../shell.ts';
import { markAnswered } from './commit.ts';

const maxReasonChars = 500;
const maxErrorChars = 8_000;
/** Further tenants are not counted. */
const maxTenants = 10_000;
const operator = '';
/** Different ones of one attempt; further ones are only counted. */
const maxPerAttempt = 100;

/** One of the gateway's own, beside calls. The operator has been notified already. */
export function recordSuppressed({ what, reason }: SuppressedNotice, shell: Shell): void {
  countSuppressed(operator, shell);
  const [said, why] = [safeText(what, maxReasonChars), safeText(reason, maxReasonChars)];
  const draft = (repeated: number): RecordDraft => ({
    kind: 'suppressed_error',
    call: null,
    session: null,
    body: canonicalText({ what: said, ...counted(repeated) }),
    payloads: [payload('reason', why)],
  });
  void write(canonicalText([null, said, why]), draft, null, shell);
}

/** Records what the body of this attempt ignores. */
export function suppressedIn(call: Call, shell: Shell): (told: SuppressedByBody) => void {
  const reasons = new Set<string>();
  return ({ reason, error }) => {
    countSuppressed(call.tenant, shell);
    const why = safeText(reason, maxReasonChars);
    if (reasons.size >= maxPerAttempt && !reasons.has(why)) return;
    reasons.add(why);
    recordInCall(call, why, error, shell);
  };
}

/** If it cannot be recorded, the operator is notified. */
function recordInCall(call: Call, why: string, error: string | null, shell: Shell): void {
  const draft = (repeated: number): RecordDraft =>
    note('suppressed_error', call, { tool: call.tool, attempt: call.attempt, ...counted(repeated) }, [
      payload('reason', why),
      ...(error === null ? [] : [payload('cause', safeText(error, maxErrorChars))]),
    ]);
  const written = write(canonicalText([call.id, why]), draft, call, shell).then((isKept) => {
    if (!isKept) shell.ports.notify({ kind: 'suppressed', what: `an error in call ${call.id}`, reason: why });
  });
  // Closing waits for it.
  shell.live.unanswered.add(written);
  void written.finally(() => shell.live.unanswered.delete(written));
}

/** Since the process began: in the calls of this tenant, and beside calls. */
export function suppressedOf(tenant: string, { live }: Shell): { readonly calls: number; readonly gateway: number } {
  return { calls: live.suppressedCounts.get(tenant) ?? 0, gateway: live.suppressedCounts.get(operator) ?? 0 };
}

function countSuppressed(tenant: string, { live: { suppressedCounts } }: Shell): void {
  if (suppressedCounts.size >= maxTenants && !suppressedCounts.has(tenant)) return;
  suppressedCounts.set(tenant, (suppressedCounts.get(tenant) ?? 0) + 1);
}

const counted = (repeated: number) => (repeated === 0 ? {} : { repeated });
const payload = (part: string, text: string) => ({ part, text: canonicalText({ text }) });

/** True if it is on record, or counts on one that is. Never rejects, and tries once: an outage must not queue these. */
async function write(
  name: string,
  draft: (repeated: number) => RecordDraft,
  call: Call | null,
  shell: Shell,
): Promise<boolean> {
  const { live, limits } = shell;
  const seen = live.suppressed.get(name);
  const now = shell.ports.clock.nowMs();
  if (seen !== undefined && now - seen.atMs < limits.coalesceWindowMs) {
    seen.repeated += 1;
    return true;
  }
  if (live.closed || live.storeTrouble !== null || live.successor !== null) return false;
  remember(name, now, shell);
  if (await commitOnce(draft(seen?.repeated ?? 0), call, shell)) return true;
  // Not recorded, so the next equal one must be.
  live.suppressed.delete(name);
  return false;
}

function remember(name: string, atMs: number, { live: { suppressed: known }, limits }: Shell): void {
  known.delete(name);
  known.set(name, { atMs, repeated: 0 });
  // A Map keeps the order of insertion: the first key is the oldest.
  const [oldest] = known.keys();
  if (known.size > limits.maxCoalesced && oldest !== undefined) known.delete(oldest);
}

async function commitOnce(record: RecordDraft, call: Call | null, shell: Shell): Promise<boolean> {
  const session = call === null ? null : numbered(call);
  try {
    const [answer] = await shell.ports.store.commit([{ ...bare(shell), session, records: [record] }]);
    if (answer === undefined || answer.kind !== 'committed') return false;
    if (call !== null) markAnswered(answer, shell);
    return true;
  } catch {
    return false;
  }
}
