/**
 * Ends the doubt of a stage, once none of its calls is in doubt: where a call put it in doubt, the step takes its turn
 * again and goes on, and its calls answer with what is on record. Where the step is not legal any more, or its time is
 * over, the stage ends, and what its calls have done is told.
 */
import { cancelled, type CancelScope, failed } from '../../core/call/answer.ts';
import { classify } from '../../core/recovery/classify.ts';
import type { Json } from '../../core/values/json.ts';
import { operationOf, type StepFact } from '../../core/workflow/step.ts';
import type { JournalEntry, StoredCall } from '../../ports/store.ts';
import { concludeElsewhere } from '../ending/conclude.ts';
import type { Ending } from '../ending/ending.ts';
import { inputsOnRecord, readStanding } from '../ending/error-edge.ts';
import { bare } from '../ending/transition.ts';
import { readBody } from '../look/history.ts';
import { toolOf } from '../session/position.ts';
import type { Shell } from '../shell.ts';
import { callsOf, isOpen, wasApplied } from './stage-journal.ts';
import { commit, markAnswered } from '../upkeep/commit.ts';

/** False for a call that is no stage. */
export async function resumeStage(call: StoredCall, shell: Shell): Promise<boolean> {
  const { store, clock } = shell.ports;
  const { tool } = await toolOf(call, shell);
  if (tool?.isStage !== true) return false;
  const records = await store.recordsOf(call.id);
  const own = await callsOf(call, shell);
  // What nobody will ever know of a call, nobody knows of its stage: a person settles that too.
  const isLost = own.some(({ state }) => state === 'CLOSED_UNKNOWN');
  const isHeld = own.some((each) => isOpen(each));
  const atMs = isLost ? null : clock.nowMs() + shell.limits.firstProbeMs;
  const due = { expectAtMs: call.dueAtMs, atMs };
  const mark = { kind: 'mark', id: call.id, requester: null, repeats: 0, due } as const;
  // INVARIANT: the next look is on record before this one does anything.
  const looked = await commit({ ...bare(shell), call: mark }, shell);
  if (isLost || isHeld || looked.kind !== 'committed' || stillRuns(call, shell)) return true;
  await goOn({ ...call, dueAtMs: atMs }, records, own, shell);
  return true;
}

/** Its body runs on in this process, although nobody waits for it. */
const stillRuns = ({ id, session }: StoredCall, { live }: Shell): boolean =>
  live.running.has(id) || (session !== null && live.orphanSteps.get(session)?.has(id) === true);

async function goOn(
  call: StoredCall,
  records: readonly JournalEntry[],
  own: readonly StoredCall[],
  shell: Shell,
): Promise<void> {
  const session = call.session === null ? null : await shell.ports.store.session(call.session);
  // Another step runs: the next look is on record.
  if (session?.workflow?.turn) return;
  const doubted = records.findLast(({ kind }) => kind === 'doubted');
  const said = doubted === undefined ? {} : (readBody(doubted.body) as DoubtOnRecord);
  const sinceMs = doubted?.timeMs ?? call.createdAtMs;
  const goes = said.waits_for === undefined ? null : await releasing(call, sinceMs, shell);
  const why = said.waits_for === undefined ? tooLate : movedOn;
  const { from, ending } = goes ?? { from: call, ending: strand(call, why, own, shell, said.end?.scope) };
  const concluded = await concludeElsewhere(from, ending, shell);
  if (concluded === null) return;
  // A conflict is looked at again when it is due.
  const result = await commit(concluded.transition, shell);
  if (goes === null) markAnswered(result, shell);
}

/** As far as it matters here. */
interface DoubtOnRecord {
  readonly waits_for?: string;
  readonly end?: { readonly scope?: CancelScope };
}

const tooLate = 'the stage did not come to its end in its time';
const movedOn = 'the session has moved on to a state in which this step is not legal';

/** Null if the step is not legal any more. The time in doubt does not count. */
async function releasing(call: StoredCall, sinceMs: number, shell: Shell) {
  const fact = await readStanding(call, shell);
  const inputs = await inputsOnRecord(call.id, shell);
  const reach = fact?.workflow.machine.reachWith(fact.snapshot, call.tool, inputs);
  if (fact === null || reach?.kind !== 'yes') return null;
  const leftMs = Math.max(shell.limits.defaultTimeoutMs, call.deadlineAtMs - sinceMs);
  const from = { ...call, deadlineAtMs: shell.ports.clock.nowMs() + leftMs };
  return { from, ending: release(call, inputs, fact, shell) };
}

function release(call: StoredCall, inputs: Json, fact: StepFact, shell: Shell): Ending {
  const action = fact.workflow.actions.get(call.tool);
  const operation = action === undefined ? call.tool : operationOf(action, inputs);
  return {
    // INVARIANT: what its calls have done is not forgotten if it is never sent again.
    events: [{ kind: 'released', atMs: shell.ports.clock.nowMs(), mayHaveEffect: true }],
    say: (envelope, effect) => said(envelope, effect, 'the stage goes on', call, shell),
    takesTurnFor: operation,
    parts: { expectSeq: fact.seq, expectOpen: true },
  };
}

/** INVARIANT: a stage that does not go on does nothing more; what its calls have done is told. */
function strand(call: StoredCall, why: string, own: readonly StoredCall[], shell: Shell, scope?: CancelScope): Ending {
  const { attempt } = call;
  const hadEffect = own.some(wasApplied);
  return {
    events: [hadEffect ? { kind: 'failed', attempt, effect: 'applied' } : { kind: 'proved', effect: 'none' }],
    say: (envelope, effect) =>
      scope === undefined ? said(envelope, effect, why, call, shell) : cancelled(envelope, scope, effect),
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
