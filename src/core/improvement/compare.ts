/**
 * What would come out otherwise under another playbook: of calls that failed, from their records, and of goldens. Pure:
 * sends nothing and reads no clock.
 */
import { differencesOf, type Golden, type GoldenRun } from '../recovery/golden.ts';
import type { ToolRecovery } from '../recovery/playbook.ts';
import type { RecordedGolden } from '../recovery/record-golden.ts';
import { runGolden } from '../recovery/run-golden.ts';
import { isObject, type JsonObject } from '../values/json.ts';

/** What came of a call, or would come of it. */
export interface CallOutcome {
  /** `none`: it needed no compensation. `open`: it would be sent again, and what comes then is not on record. */
  readonly outcome: string;
  readonly compensations: readonly string[];
  readonly sends: number;
  readonly state: string;
  readonly effect: string;
}

export interface ComparedCall {
  readonly call_id: string;
  readonly tool: string;
  readonly was: CallOutcome;
  readonly then: CallOutcome;
}

export interface ComparedGolden {
  readonly name: string;
  readonly ref: string;
  /** What differs from what it expects; empty if nothing does. */
  readonly wrong: readonly string[];
}

type Recorded = Extract<RecordedGolden, { ok: true }>;

/** `playbook` is the one that would be in force for the tool. */
export function compareCall({ golden, recovery }: Recorded, callId: string, playbook: ToolRecovery): ComparedCall {
  const was = runGolden(golden, recovery);
  // Its own entries are those that were in force.
  const then = runGolden({ ...golden, playbook: {}, retry: null }, playbook);
  return { call_id: callId, tool: golden.call.tool, was: outcomeOf(was), then: outcomeOf(then) };
}

export const isChanged = ({ was, then }: ComparedCall): boolean => JSON.stringify(was) !== JSON.stringify(then);

/** The goldens that hold today and would not hold then. */
export function brokenGoldens(
  goldens: readonly Golden[],
  now: (tool: string) => ToolRecovery,
  then: (tool: string) => ToolRecovery,
): readonly ComparedGolden[] {
  const wrongUnder = (golden: Golden, recovery: (tool: string) => ToolRecovery) =>
    differencesOf(golden, runGolden(golden, recovery(golden.call.tool)));
  return goldens.flatMap((golden) => {
    const wrong = wrongUnder(golden, then);
    if (wrong.length === 0 || wrongUnder(golden, now).length > 0) return [];
    return [{ name: golden.name, ref: golden.ref, wrong }];
  });
}

function outcomeOf({ events, outcome, sends, state, effect, isShort }: GoldenRun): CallOutcome {
  const compensations = events.flatMap(({ kind, fields }) =>
    kind === 'compensation_selected' ? [said(fields['compensation'])] : [],
  );
  return { outcome: isShort ? 'open' : (outcome?.kind ?? 'none'), compensations, sends, state, effect };
}

/** The kind of a compensation, with its queue if it has one. */
function said(compensation: unknown): string {
  if (!isObject(compensation)) return 'none';
  const { kind, queue } = compensation as JsonObject;
  return typeof queue === 'string' ? `${String(kind)} ${queue}` : String(kind);
}
