/**
 * Makes a golden from the records of a call that failed: its results as the script, and what the dispatcher makes of
 * them now as what is expected. Pure.
 */
import type { CallState } from '../taxonomy.ts';
import { canonicalText } from '../values/canonical.ts';
import { isObject, type Json, type JsonObject } from '../values/json.ts';
import { classify } from './classify.ts';
import type { Golden, GoldenEvent, GoldenResult } from './golden.ts';
import { defaultPlaybook, recoveryOfUpstream, type ToolRecovery } from './playbook.ts';
import {
  type Failure,
  failuresOnRecord,
  type Playbooks,
  readRecovery,
  replay,
  type ReplayCall,
  type ReplayRecord,
} from './replay.ts';
import { runGolden } from './run-golden.ts';

export type RecordedGolden =
  | { readonly ok: true; readonly golden: Golden; readonly recovery: ToolRecovery }
  | { readonly ok: false; readonly problem: string };

const refused = (problem: string): RecordedGolden => ({ ok: false, problem });

/** `args` as they may be shown. */
export function recordGolden(
  call: ReplayCall,
  args: Json,
  records: readonly ReplayRecord[],
  playbooks: Playbooks,
): RecordedGolden {
  const failures = failuresOnRecord(records);
  if (typeof failures === 'string') return refused(`the journal lacks ${failures}`);
  if (failures.length === 0) return refused('no attempt of the call failed');
  if (call.state === 'DISPATCHED' || call.state === 'RETRY_WAIT') return refused('the call is still under way');
  const used = [...new Set(failures.map(({ playbook: hash }) => hash))];
  if (used.length > 1) return refused('the playbook was changed between its attempts');
  const playbook = playbooks.get(used[0] ?? '') ?? '';
  const recovery = readRecovery(playbook);
  if (recovery === null) return refused('the journal lacks the playbook of the call');
  const replayed = replay(call, records, playbooks);
  if (replayed.kind === 'different') return refused('its replay differs from its records: see recourse replay');
  const hasRead = isObject(JSON.parse(playbook)) && (JSON.parse(playbook) as JsonObject)['reconcile'] !== null;
  const hasSucceeded = outcomesIn(records).includes('succeeded_after_compensation');
  const script = { call, args, failures, hasSucceeded, hasRead, partial: partialSends(records) };
  return { ok: true, golden: expected(goldenOf(script, recovery), recovery), recovery };
}

interface Script {
  readonly call: ReplayCall;
  readonly args: Json;
  readonly failures: readonly Failure[];
  readonly hasSucceeded: boolean;
  readonly hasRead: boolean;
  readonly partial: PartialSends;
}

/** By attempt: how many items there were, and how many were sent again. */
type PartialSends = ReadonlyMap<number, { readonly of: number; readonly again: number }>;

function partialSends(records: readonly ReplayRecord[]): PartialSends {
  const found = records.flatMap(({ kind, body }) => {
    const { attempt, items } = kind === 'retry_planned' ? (JSON.parse(body) as JsonObject) : {};
    const { of, again } = isObject(items) ? (items as JsonObject) : {};
    const isWhole = typeof attempt === 'number' && typeof of === 'number' && typeof again === 'number';
    return isWhole ? [[attempt, { of, again }] as const] : [];
  });
  return new Map(found);
}

function goldenOf(script: Script, recovery: ToolRecovery): Golden {
  const { call, args, failures, hasSucceeded, hasRead, partial } = script;
  const { createdAtMs, deadlineAtMs, effectClass, tool, id } = call;
  const last = failures.at(-1);
  const probed = call.state === 'SUCCEEDED' && !hasSucceeded && partial.size === 0 ? 'happened' : 'unclear';
  return {
    name: `${tool}: ${failures.map(({ error }) => error.kind).join(', ')}${hasSucceeded ? ', ok' : ''} (${id})`,
    ref: id,
    call: {
      tool,
      effect: effectClass,
      args,
      deadlineMs: deadlineAtMs - createdAtMs,
      dedupeWindowMs: last?.facts.dedupe_window_ms ?? null,
    },
    playbook: ownEntries(recovery, effectClass),
    retry: recovery.retry,
    results: [...resultsOf(script), ...(hasSucceeded ? [{ tookMs: 0, failure: null }] : [])],
    probe: hasRead || probed === 'happened' ? probed : null,
    evidence: failures.findLast(({ facts }) => facts.evidence !== null)?.facts.evidence ?? null,
    credential: failures.findLast(({ facts }) => facts.credential !== undefined)?.facts.credential ?? null,
    items: { retry: partial.size > 0, keyedByItem: failures.some(({ effect }) => effect === 'unknown') },
    clockMs: createdAtMs,
    chance: failures.map(({ facts }) => facts.chance),
    expect: { events: [], outcome: null, sends: 0, state: call.state as CallState, effect: 'unknown' },
  };
}

/** The entries that are not the default's, for the class of the call. */
function ownEntries({ playbook }: ToolRecovery, effectClass: ReplayCall['effectClass']): Golden['playbook'] {
  const own = Object.entries(playbook).flatMap(([verdict, entries]) => {
    const entry = entries[effectClass];
    const known = defaultPlaybook[verdict as keyof typeof playbook][effectClass];
    return canonicalText(entry) === canonicalText(known) ? [] : [[verdict, { [effectClass]: entry }]];
  });
  return Object.fromEntries(own) as Golden['playbook'];
}

function resultsOf({ failures, partial, call }: Script): readonly GoldenResult[] {
  const { createdAtMs, effectClass } = call;
  let sentAtMs = createdAtMs;
  return failures.map(({ attempt, error, effect, named, facts, scheduledAtMs }) => {
    const tookMs = Math.max(0, facts.now_ms - sentAtMs);
    sentAtMs = scheduledAtMs ?? facts.now_ms;
    const own = classify(error.kind, error.subject, effectClass).effect === effect ? null : effect;
    const sent = partial.get(attempt);
    if (sent !== undefined) {
      const proven = own === null ? {} : { effect: own };
      const failed = Array.from({ length: sent.again }, (_, item) => ({
        item,
        kind: error.kind,
        message: '',
        ...proven,
      }));
      return { tookMs, failure: null, items: { failed, of: sent.of } };
    }
    return { tookMs, failure: { error, effect: own, code: named, budgetLeft: facts.budget_left } };
  });
}

function outcomesIn(records: readonly ReplayRecord[]): readonly Json[] {
  return records.flatMap(({ kind, body }) =>
    kind === 'dispatch_settled' ? [(JSON.parse(body) as JsonObject)['outcome'] ?? null] : [],
  );
}

const shownFields: Readonly<Record<string, readonly string[]>> = {
  attempt_finished: ['attempt', 'kind'],
  failure_classified: ['verdict', 'effect'],
  verdict_changed: ['from', 'to'],
  attempt_scheduled: ['attempt', 'pause_ms'],
  attempt_started: ['attempt'],
  dispatch_settled: ['outcome', 'attempts'],
  ticket_opened: ['queue', 'reason'],
};

/** Expects what comes of it, with the fields that matter. */
function expected(golden: Golden, { upstream }: ToolRecovery): Golden {
  const run = runGolden(golden, recoveryOfUpstream(upstream));
  const events = run.events.map(({ kind, fields }): GoldenEvent => {
    const names = shownFields[kind] ?? [];
    const action = fields['compensation'];
    if (isObject(action)) return { kind, fields: { compensation: { kind: (action as JsonObject)['kind'] ?? null } } };
    return { kind, fields: Object.fromEntries(names.map((name) => [name, fields[name] ?? null])) };
  });
  const outcome = run.outcome === null ? null : { kind: run.outcome.kind };
  const { sends, effect } = run;
  return { ...golden, expect: { events, outcome, sends, state: run.state as CallState, effect } };
}

/** The file of a golden. Its values are JSON, which is YAML too. `clock` is its clock as an instant. */
export function writeGolden(golden: Golden, clock: string): string {
  const { call, expect, retry, probe, evidence, credential } = golden;
  const line = (key: string, value: unknown) => `${key}: ${JSON.stringify(value)}`;
  const window = call.dedupeWindowMs === null ? {} : { dedupe_window: `${call.dedupeWindowMs}ms` };
  const entries = Object.entries(golden.playbook).flatMap(([verdict, byClass]) => {
    const entry = byClass[call.effect];
    return entry === undefined ? [] : [`  ${line(verdict, { ...entry.action, jitter: entry.jitter })}`];
  });
  return [
    line('name', golden.name),
    line('call', {
      tool: call.tool,
      effect: call.effect,
      args: call.args,
      deadline: `${call.deadlineMs}ms`,
      ...window,
    }),
    ...(entries.length === 0 ? [] : ['playbook:', ...entries]),
    ...(retry === null ? [] : [line('retry', retryText(retry))]),
    ...(probe === null ? [] : [line('probe', probe)]),
    ...(evidence === null ? [] : [line('evidence', evidence)]),
    ...(credential === null ? [] : [line('credential', credential)]),
    ...(golden.items.retry
      ? [line('items', { retry: true, keys: golden.items.keyedByItem ? 'item' : 'request' })]
      : []),
    line('clock', clock),
    line('chance', golden.chance),
    'results:',
    ...golden.results.map((result) => `  - ${JSON.stringify(resultText(result))}`),
    'expect:',
    expect.events.length === 0 ? '  events: []' : '  events:',
    ...expect.events.map(({ kind, fields }) => `    - ${line(kind, fields)}`),
    `  ${line('outcome', expect.outcome ?? 'none')}`,
    ...(['sends', 'state', 'effect'] as const).map((name) => `  ${line(name, expect[name])}`),
    '',
  ].join('\n');
}

function resultText({ tookMs, failure, items }: GoldenResult): Json {
  const took = tookMs === 0 ? {} : { took: `${tookMs}ms` };
  if (items !== undefined) {
    const failed = items.failed.map(({ message: _, item, ...each }) => ({ item: String(item), ...each }));
    return { status: 'partial', items: failed, ...(items.of === null ? {} : { of: items.of }), ...took };
  }
  if (failure === null) return tookMs === 0 ? 'ok' : { status: 'ok', ...took };
  const { error, effect, code, budgetLeft } = failure;
  return {
    status: 'error',
    error: error as unknown as Json,
    ...(effect === null ? {} : { effect }),
    ...(code === null ? {} : { code }),
    ...took,
    ...(budgetLeft ? {} : { retry_budget: false }),
  };
}

const retryText = ({ maxAttempts, baseMs, ...rule }: NonNullable<Golden['retry']>) => ({
  ...rule,
  max_attempts: maxAttempts,
  base_ms: baseMs,
});
