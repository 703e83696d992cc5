/**
 * What a playbook comes to for a tool: one row for each verdict and effect class, or one for each code where codes
 * differ. Asks the same function that plans the next move. Pure.
 */
import {
  type EffectClass,
  type ErrorCode,
  type ErrorKind,
  type ErrorSubject,
  kinds,
  type Verdict,
  verdicts,
} from '../taxonomy.ts';
import { type Classification, classify } from './classify.ts';
import { entryFor } from './plan.ts';
import {
  type Entry,
  inFlightEntry,
  mismatchEntry,
  neverRetried,
  type ToolRecovery,
  unrecognisedEntry,
} from './playbook.ts';

export interface EffectiveRow {
  readonly verdict: Verdict;
  readonly effectClass: EffectClass;
  /** Which failures of the verdict it is about; empty for all of them. */
  readonly codes: readonly ErrorCode[];
  readonly entry: Entry;
  /** It comes from the retry rule of the tool. */
  readonly byRetryRule: boolean;
  /** What keeps a resend from being a second effect; null if nothing has to. */
  readonly guard: Guard | null;
}

/** `never`: nothing is sent again, whatever the schedule says. `window`: only while the upstream remembers the key. */
export interface Guard {
  readonly kind: 'never' | 'window';
  readonly says: string;
}

/** Settled by a rule of their own, which is listed beside the table. */
const fixedDetails: ReadonlySet<string> = new Set([
  'in_flight',
  'mismatch',
  'breaker_open',
  'not_connected',
  'egress',
  'stream_broken',
  'overloaded',
  'quota',
]);

export function effectiveRows(recovery: ToolRecovery, classes: readonly EffectClass[]): readonly EffectiveRow[] {
  return (Object.keys(verdicts) as Verdict[]).flatMap((verdict) =>
    classes.flatMap((effectClass) => rowsFor(verdict, effectClass, recovery)),
  );
}

function rowsFor(verdict: Verdict, effectClass: EffectClass, recovery: ToolRecovery): readonly EffectiveRow[] {
  const written = recovery.playbook[verdict][effectClass];
  const rows = new Map<string, EffectiveRow>();
  for (const classification of failuresOf(verdict, effectClass)) {
    const entry = entryFor({ call: { effectClass }, trouble: { classification }, recovery });
    const guard = guardOf(entry, classification, effectClass);
    const same = JSON.stringify([entry, guard]);
    const codes = [...new Set([...(rows.get(same)?.codes ?? []), classification.code])];
    rows.set(same, { verdict, effectClass, codes, entry, byRetryRule: entry !== written, guard });
  }
  const all = [...rows.values()];
  return all.length === 1 ? all.map((row) => ({ ...row, codes: [] })) : all;
}

/** Every recognised failure with this verdict. */
function failuresOf(verdict: Verdict, effectClass: EffectClass): readonly Classification[] {
  return (Object.keys(kinds) as ErrorKind[])
    .flatMap((kind) =>
      [undefined, ...(kinds[kind].subjects as readonly ErrorSubject[])].map((subject) =>
        classify(kind, subject, effectClass),
      ),
    )
    .filter((each) => each.verdict === verdict && each.recognised && !fixedDetails.has(each.detail));
}

function guardOf({ action }: Entry, { effect }: Classification, effectClass: EffectClass): Guard | null {
  if (action.kind !== 'retry_with_backoff' || action.max_attempts === 0 || effect === 'none') return null;
  if (effectClass === 'keyed') return { kind: 'window', says: 'only while the upstream remembers our key' };
  return { kind: 'never', says: `never resent: ${effectClass} write whose effect is unknown` };
}

/** What no playbook changes, as sentences. */
export function fixedRules(maxRetryAfterMs: number): readonly string[] {
  const pauses = retriesIn(inFlightEntry).map((ms) => `${ms / 1_000} s`);
  return [
    `a failure that nobody recognises is sent once: escalate_to_human, queue ${queueIn(unrecognisedEntry)}`,
    `a key whose first request is still in flight is polled with the same request, after ${pauses.join(', ')}`,
    `a key that the upstream knows from another request: escalate_to_human, queue ${queueIn(mismatchEntry)}`,
    `Retry-After is waited for exactly, without jitter, up to ${maxRetryAfterMs / 1_000} s and the deadline of the call`,
    `never retried, whatever is declared: ${[...neverRetried].join(', ')}`,
    'while a breaker is open nothing is sent: ResourceBusy, effect none, with retry_after',
    'an upstream that says that it is overloaded did nothing: a write may be sent again too',
    'an answer of which a part was relayed is not asked for again',
    'a quota that is used up is not waited for: RateLimited',
    'a connection that an egress list refuses is not tried again: EGRESS_DENIED, without a ticket',
  ];
}

const queueIn = ({ action }: Entry): string => (action.kind === 'escalate_to_human' ? action.queue : '');
const retriesIn = ({ action }: Entry): readonly number[] =>
  action.kind === 'retry_with_backoff' ? action.backoff_ms : [];
