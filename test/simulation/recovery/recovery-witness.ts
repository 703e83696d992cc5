/**
 * Checks every retry of a simulated world: its time, its deadline, the breaker, the retry budget, and that each attempt
 * was classified by what it returned. Keeps its own account and reads no gateway.
 */
import type { ErrorKind, Verdict } from '../../../src/core/taxonomy.ts';
import type { Attempt } from '../../../src/ports/upstream.ts';
import type { MemoryRecord } from '../memory-journal.ts';
import { toolBehind } from '../workflow-setting.ts';
import { breakerOf, upstreamOf } from './recovery-setting.ts';

/** How an attempt ended for the process that sent it. */
export type AttemptEnd = ErrorKind | 'ok';

/** Who sends, and what its clock says. */
export interface Sender {
  readonly owner: string;
  readonly wallMs: number;
}

interface Wait {
  /** By the clock of whoever scheduled it. */
  readonly atMs: number;
  /** By the world's time: the pause is not over before. */
  readonly overMs: number;
}

/** One upstream as one process has met it. */
interface Met {
  failures: number;
  openUntilMs: number | null;
  retries: number;
  successes: number;
}

/** Ten tokens, and none is given below half; a success gives a tenth back. */
const freeRetries = 5;
const perSuccess = 0.1;

const verdictOf: Readonly<Partial<Record<ErrorKind, Verdict>>> = {
  timeout: 'transient_timeout',
  never_sent: 'transient_timeout',
  '5xx': 'server_error_5xx',
  '429': 'rate_limited',
  '400_invalid': 'invalid_request',
  '401_unauthenticated': 'auth_expired',
  '403_forbidden': 'policy_denied',
  '409_conflict': 'idempotency_conflict',
  schema_validation: 'schema_mismatch',
  cancelled: 'cancelled',
  threw: 'server_error_5xx',
  unknown: 'server_error_5xx',
};
const isDown: ReadonlySet<AttemptEnd> = new Set(['timeout', 'never_sent', '5xx']);

interface Fields {
  readonly attempt: number;
  readonly kind?: ErrorKind;
  readonly subject?: string | null;
  readonly verdict?: Verdict;
  readonly at_ms?: number;
  readonly pause_ms?: number;
}

export function createRecoveryWitness(breaks: (invariant: string, detail: string) => void, nowMs: () => number) {
  const met = new Map<string, Met>();
  const waits = new Map<string, Wait>();
  const sent = new Set<string>();
  const ends = new Map<string, AttemptEnd>();
  const totals = { retries: 0, probes: 0, opened: 0, resumed: 0, rateLimited: 0 };
  const scheduledBy = new Map<string, string>();

  const metBy = (owner: string, upstream: string): Met => {
    const name = `${owner} ${upstream}`;
    const found = met.get(name) ?? { failures: 0, openUntilMs: null, retries: 0, successes: 0 };
    met.set(name, found);
    return found;
  };

  const checkBreaker = ({ callId, tool }: Attempt, { owner }: Sender) => {
    const upstream = upstreamOf(tool);
    const rule = breakerOf(upstream);
    const account = metBy(owner, upstream);
    if (rule === null || account.openUntilMs === null) return;
    if (nowMs() < account.openUntilMs) breaks('breaker', `${callId} is sent while the breaker of ${owner} is open`);
    // This one tries whether the upstream is back.
    account.openUntilMs = nowMs() + rule.openMs;
  };

  const checkBudget = (call: string, tool: string, owner: string, verdict: Verdict | undefined) => {
    totals.retries += 1;
    if (verdict === 'rate_limited') {
      totals.rateLimited += 1;
      return;
    }
    const account = metBy(owner, upstreamOf(toolBehind(tool)));
    if (account.retries >= freeRetries + perSuccess * account.successes)
      breaks('budget', `${call} is retry ${account.retries + 1} of ${owner} after ${account.successes} successes`);
    account.retries += 1;
  };

  const checkFinished = (call: string, { attempt, kind, subject }: Fields) => {
    const name = `${call} ${attempt}`;
    if (subject === 'breaker_open') {
      if (sent.has(name)) breaks('classify', `attempt ${attempt} of ${call} was sent, on record it was not`);
      return;
    }
    if (ends.get(name) !== kind)
      breaks('classify', `attempt ${attempt} of ${call} ended as ${ends.get(name)}, on record is ${kind}`);
  };

  const checkClassified = (call: string, { attempt, verdict }: Fields) => {
    const end = ends.get(`${call} ${attempt}`);
    const expected = end === undefined || end === 'ok' ? undefined : verdictOf[end];
    if (end !== undefined && verdict !== expected)
      breaks('classify', `attempt ${attempt} of ${call} ended as ${end}, its verdict is ${verdict}`);
  };

  return {
    totals,

    /** Before the attempt goes out. */
    sent(attempt: Attempt, sender: Sender): void {
      const { callId, deadlineAtMs } = attempt;
      const { wallMs, owner } = sender;
      sent.add(`${callId} ${attempt.attempt}`);
      if (wallMs >= deadlineAtMs) breaks('deadline', `${callId} is sent ${wallMs - deadlineAtMs} ms past its deadline`);
      const wait = waits.get(callId);
      // Either clock may be the one that was waited by: that of the sender, or the time that passed.
      if (wait !== undefined && wallMs < wait.atMs && nowMs() < wait.overMs)
        breaks('early', `${callId} is sent ${wait.atMs - wallMs} ms before its time`);
      if (wait !== undefined && scheduledBy.get(callId) !== owner) totals.resumed += 1;
      waits.delete(callId);
      checkBreaker(attempt, sender);
    },

    /** The process hears how its attempt ended; what comes after that is not told here. */
    ended({ callId, attempt, tool }: Attempt, owner: string, end: AttemptEnd): void {
      ends.set(`${callId} ${attempt}`, end);
      const upstream = upstreamOf(tool);
      const rule = breakerOf(upstream);
      const account = metBy(owner, upstream);
      if (end === 'ok') account.successes += 1;
      if (rule === null) return;
      if (!isDown.has(end)) {
        account.failures = 0;
        account.openUntilMs = null;
        return;
      }
      account.failures += 1;
      if (account.openUntilMs === null && account.failures < rule.failures) return;
      if (account.openUntilMs === null) totals.opened += 1;
      account.openUntilMs = nowMs() + rule.openMs;
    },

    probed(): void {
      totals.probes += 1;
    },

    applied(records: readonly MemoryRecord[], toolOf: (call: string) => string, committer: string): void {
      let verdict: Verdict | undefined;
      for (const { kind, body, call } of records) {
        if (call === null) continue;
        const fields = JSON.parse(body) as Fields;
        if (kind === 'attempt_finished') checkFinished(call, fields);
        if (kind === 'failure_classified') {
          checkClassified(call, fields);
          verdict = fields.verdict;
        }
        if (kind !== 'attempt_scheduled') continue;
        const { at_ms: atMs = 0, pause_ms: pauseMs = 0 } = fields;
        waits.set(call, { atMs, overMs: nowMs() + pauseMs });
        scheduledBy.set(call, committer);
        checkBudget(call, toolOf(call), committer, verdict);
      }
    },
  };
}
