/**
 * Lets a stage go on whose call was in doubt, once that is settled: the step takes its turn again and is sent again, and
 * its calls answer with what is on record. Where the session has moved on to a state without the step, the stage ends.
 */
import { failed } from '../../core/call/answer.ts';
import type { CallId } from '../../core/call/call.ts';
import { isUnderWay } from '../../core/call/lifecycle.ts';
import { classify } from '../../core/recovery/classify.ts';
import type { Json } from '../../core/values/json.ts';
import { operationOf, type StepFact } from '../../core/workflow/step.ts';
import type { JournalEntry, StoredCall } from '../../ports/store.ts';
import { concludeElsewhere } from '../ending/conclude.ts';
import type { Ending } from '../ending/ending.ts';
import { inputsOnRecord, readStanding } from '../ending/error-edge.ts';
import { bare } from '../ending/transition.ts';
import { readBody } from '../look/history.ts';
import type { Shell } from '../shell.ts';
import { commit, markAnswered } from '../upkeep/commit.ts';
import { lastOf } from './stage-journal.ts';

/** False for a call that is no stage, or whose doubt is its own. */
export async function resumeStage(call: StoredCall, shell: Shell): Promise<boolean> {
  const { store, clock } = shell.ports;
  const records = await store.recordsOf(call.id);
  const waitsFor = awaitedBy(records);
  if (waitsFor === null) return false;
  const awaited = await store.call(waitsFor);
  // What nobody will ever know of a call, nobody knows of its stage: a person settles that too.
  const isLost = awaited === null || awaited.state === 'CLOSED_UNKNOWN';
  const isOpen = awaited !== null && (isUnderWay(awaited.state) || awaited.state === 'IN_DOUBT');
  const atMs = isLost ? null : clock.nowMs() + shell.limits.firstProbeMs;
  const due = { expectAtMs: call.dueAtMs, atMs };
  const mark = { kind: 'mark', id: call.id, requester: null, repeats: 0, due } as const;
  const looked = await commit({ ...bare(shell), call: mark }, shell);
  if (isLost || isOpen || looked.kind !== 'committed') return true;
  await goOn({ ...call, dueAtMs: atMs }, records, awaited, shell);
  return true;
}

function awaitedBy(records: readonly JournalEntry[]): CallId | null {
  const doubted = records.findLast(({ kind }) => kind === 'doubted');
  const { waits_for: id } = doubted === undefined ? {} : readBody(doubted.body);
  return typeof id === 'string' ? (id as CallId) : null;
}

async function goOn(
  call: StoredCall,
  records: readonly JournalEntry[],
  awaited: StoredCall,
  shell: Shell,
): Promise<void> {
  const { store, clock } = shell.ports;
  const session = call.session === null ? null : await store.session(call.session);
  // Another step runs: the next look is on record.
  if (session?.workflow?.turn) return;
  const fact = await readStanding(call, shell);
  const inputs = await inputsOnRecord(call.id, shell);
  const isLegal = fact !== null && fact.workflow.machine.reachWith(fact.snapshot, call.tool, inputs).kind === 'yes';
  const ending = isLegal ? release(call, inputs, fact, shell) : strand(call, records, awaited, shell);
  // The time in doubt does not count.
  const doubtedAtMs = records.findLast(({ kind }) => kind === 'doubted')?.timeMs ?? call.createdAtMs;
  const deadlineAtMs = clock.nowMs() + Math.max(shell.limits.defaultTimeoutMs, call.deadlineAtMs - doubtedAtMs);
  const concluded = await concludeElsewhere({ ...call, deadlineAtMs }, ending, shell);
  if (concluded === null) return;
  // A conflict is looked at again when it is due.
  const result = await commit(concluded.transition, shell);
  if (!isLegal) markAnswered(result, shell);
}

function release(call: StoredCall, inputs: Json, fact: StepFact, shell: Shell): Ending {
  const action = fact.workflow.actions.get(call.tool);
  const operation = action === undefined ? call.tool : operationOf(action, inputs);
  return {
    events: [{ kind: 'released', atMs: shell.ports.clock.nowMs() }],
    say: (envelope, effect) => said(envelope, effect, 'the stage goes on', call, shell),
    takesTurnFor: operation,
    parts: { expectSeq: fact.seq, expectOpen: true },
  };
}

/** INVARIANT: a step that is not legal any more does nothing more; what its calls have done is told. */
function strand(call: StoredCall, records: readonly JournalEntry[], awaited: StoredCall, shell: Shell): Ending {
  const { attempt } = call;
  const isApplied = awaited.state === 'SUCCEEDED' && awaited.effectClass !== 'pure';
  const hadEffect = isApplied || lastOf(records)?.hadEffect === true;
  const why = 'the session has moved on to a state in which this step is not legal';
  return {
    events: [hadEffect ? { kind: 'failed', attempt, effect: 'applied' } : { kind: 'proved', effect: 'none' }],
    say: (envelope, effect) => said(envelope, effect, why, call, shell),
    record: ({ effect }) => ({ attempt, effect, stranded: true }),
  };
}

function said(
  envelope: Parameters<Ending['say']>[0],
  effect: Parameters<Ending['say']>[1],
  message: string,
  { effectClass }: StoredCall,
  { limits }: Shell,
) {
  const classification = classify('unknown', undefined, effectClass);
  const told = { classification, effect, errorType: 'StageEnded', message, retryAfterSeconds: null };
  return failed(envelope, { ...told, maxMessageChars: limits.maxMessageChars });
}
