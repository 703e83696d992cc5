/**
 * A golden: a call, scripted results of its attempts, and what must come of them. Data, and the comparison of what was
 * expected with what came. Pure.
 */
import type { CallState, DispatchOutcome, Effect, EffectClass, ErrorCode, ToolError } from '../taxonomy.ts';
import { isObject, type Json, type JsonObject } from '../values/json.ts';
import type { ItemFailure, PartialRule } from '../partial/partial-rule.ts';
import type { PartialPlaybook, Probed, RetryRule } from './playbook.ts';
import type { CredentialNow, EvidenceNow } from './plan.ts';

export interface Golden {
  readonly name: string;
  /** Where it is written, for display. */
  readonly ref: string;
  readonly call: GoldenCall;
  /** Laid over the playbook that it is run with. */
  readonly playbook: PartialPlaybook;
  /** Replaces the retry rule of the tool; null leaves it as it is. */
  readonly retry: RetryRule | null;
  /** One for each send. */
  readonly results: readonly GoldenResult[];
  /** What the declared read answers; null if none is declared. */
  readonly probe: Probed['kind'] | null;
  readonly evidence: EvidenceNow;
  /** What asking for another secret gives; null if the tool has no credential. */
  readonly credential: CredentialNow;
  readonly clockMs: number;
  /** One for all failures, or one for each. */
  readonly chance: readonly number[];
  /** What the tool declares about failed items. */
  readonly items: Pick<PartialRule, 'retry' | 'keyedByItem'>;
  readonly expect: Expected;
}

export interface GoldenCall {
  readonly tool: string;
  readonly effect: EffectClass;
  readonly args: Json;
  readonly deadlineMs: number;
  /** How long the upstream knows a key; null if it knows none. */
  readonly dedupeWindowMs: number | null;
}

/** How one attempt ended, and how long it took. */
export interface GoldenResult {
  readonly tookMs: number;
  /** Null if it succeeded. */
  readonly failure: GoldenFailure | null;
  /** The items that failed of those that were sent; absent if none did. */
  readonly items?: GoldenItems;
}

export interface GoldenItems {
  readonly failed: readonly ItemFailure[];
  /** How many were sent; null if nobody knows. */
  readonly of: number | null;
}

export interface GoldenFailure {
  readonly error: ToolError;
  /** The tool's own word; null leaves it to the table. */
  readonly effect: Effect | null;
  readonly code: ErrorCode | null;
  /** Whether the retry budget of the upstream has a token left. */
  readonly budgetLeft: boolean;
}

export interface Expected {
  readonly events: readonly GoldenEvent[];
  /** Null: no compensation was needed. */
  readonly outcome: JsonObject | null;
  readonly sends: number;
  readonly state: CallState;
  readonly effect: Effect;
}

/** A record, with the fields that matter. */
export interface GoldenEvent {
  readonly kind: string;
  readonly fields: JsonObject;
}

/** What came of a golden. */
export interface GoldenRun {
  readonly events: readonly GoldenEvent[];
  readonly outcome: DispatchOutcome | null;
  readonly sends: number;
  readonly state: CallState | '(none)';
  readonly effect: Effect;
  /** It was sent again after the last result of the script. */
  readonly isShort: boolean;
}

/** What differs, in sentences; empty if everything is as expected. */
export function differencesOf({ expect, results }: Golden, run: GoldenRun): readonly string[] {
  if (run.isShort) return [`it was sent ${run.sends}×, but there are only ${results.length} results`];
  return [
    ...eventDifferences(expect.events, run.events),
    ...differing('outcome', expect.outcome, run.outcome as unknown as Json),
    ...differing('sends', expect.sends, run.sends),
    ...differing('state', expect.state, run.state),
    ...differing('effect', expect.effect, run.effect),
    ...(run.sends < results.length ? [`${results.length - run.sends} results were not used`] : []),
  ];
}

function eventDifferences(expected: readonly GoldenEvent[], came: readonly GoldenEvent[]): readonly string[] {
  const at = expected.findIndex(({ kind }, index) => kind !== came[index]?.kind);
  const first = at >= 0 ? at : came.length > expected.length ? expected.length : -1;
  if (first >= 0) {
    const [wanted, found] = [expected[first]?.kind ?? 'no more events', came[first]?.kind ?? 'no more events'];
    return [`event ${first + 1}: expected ${wanted}, came ${found}`];
  }
  return expected.flatMap(({ kind, fields }, index) =>
    differing(`event ${index + 1}, ${kind}`, fields, came[index]?.fields ?? {}),
  );
}

/** Fields that are not expected may be anything. */
function differing(where: string, expected: Json, came: Json): readonly string[] {
  if (isObject(expected) && isObject(came))
    return Object.entries(expected).flatMap(([name, value]) =>
      differing(`${where}.${name}`, value as Json, (came[name] ?? null) as Json),
    );
  const [wanted, found] = [JSON.stringify(expected), JSON.stringify(came)];
  return wanted === found ? [] : [`${where}: expected ${wanted}, came ${found}`];
}
