/**
 * Keeps a stage on record: each phase before it begins, with what the earlier ones gave. The last record says where a
 * stage goes on after a crash.
 */
import type { Call } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { isUnderWay } from '../../core/call/lifecycle.ts';
import type { StageAt, StageDone, StageEnd, StageJournal } from '../../ports/stage.ts';
import type { JournalEntry, StoredCall } from '../../ports/store.ts';
import { bare, note, numbered } from '../ending/transition.ts';
import { me, type Shell } from '../shell.ts';
import { commit } from '../upkeep/commit.ts';

export function stageJournal(call: Call, shell: Shell): StageJournal {
  const { store, clock, ids } = shell.ports;
  return {
    last: async () => lastOf(await store.recordsOf(call.id)),
    done: () => doneBy(call, shell),
    nowMs: () => clock.nowMs(),
    chance: () => ids.chance(),
    record: (at) => record(call, at, shell),
    pause: (ms, signal) => pause(ms, signal, shell),
  };
}

/** Null if no phase is on record, or what was kept of it is gone: then the stage begins, and makes no call twice. */
export function lastOf(records: readonly JournalEntry[]): StageAt | null {
  const last = records.findLast(({ kind }) => kind === 'stage_phase');
  const text = last?.payloads.find(({ part }) => part === 'stage')?.text ?? null;
  const at = text === null ? null : (JSON.parse(text) as Json);
  return isObject(at) ? (at as unknown as StageAt) : null;
}

/** What a stage has called, by the names of its calls. */
export async function callsOf(
  { id, tenant, agent }: Pick<Call, 'id' | 'tenant' | 'agent'>,
  { ports, limits }: Shell,
): Promise<readonly StoredCall[]> {
  const { store } = ports;
  const ids = await store.callsByKeys(tenant, agent, `${id}/`, limits.maxRollbackCalls);
  return (await Promise.all(ids.map((each) => store.call(each)))).filter((each) => each !== null);
}

/** The end of a stage that succeeded unheard, for the step that adopts its result. */
export function stageOnRecord(records: readonly JournalEntry[]): StageEnd {
  const settled = records.findLast(({ kind }) => kind === 'settled');
  const { stage_outcome: outcome } = settled === undefined ? {} : (JSON.parse(settled.body) as JsonObject);
  const at = lastOf(records);
  return {
    attempts: at?.attempt ?? 1,
    context: at?.context ?? {},
    outcome: typeof outcome === 'string' ? outcome : null,
    resolution: null,
    waitsFor: null,
  };
}

/** Nobody knows yet whether it happened. */
export const isOpen = ({ state }: StoredCall): boolean => isUnderWay(state) || state === 'IN_DOUBT';

export const wasApplied = ({ state, effectClass }: StoredCall): boolean =>
  state === 'SUCCEEDED' && effectClass !== 'pure';

async function doneBy(call: Call, shell: Shell): Promise<StageDone> {
  const own = await callsOf(call, shell);
  const open = own.find((each) => isOpen(each) || each.state === 'CLOSED_UNKNOWN');
  return { hadEffect: own.some(wasApplied), open: open === undefined ? null : { callId: open.id, tool: open.tool } };
}

async function record(call: Call, at: StageAt, shell: Shell): Promise<boolean> {
  const { store } = shell.ports;
  // INVARIANT: an attempt that another process has taken over writes nothing more.
  const now = await store.call(call.id);
  if (now?.state !== 'DISPATCHED' || now.attempt !== call.attempt || now.owner !== me(shell)) return false;
  const payload = { part: 'stage', text: canonicalText(at as unknown as Json) };
  const records = [note('stage_phase', call, factsOf(at), [payload])];
  return (await commit({ ...bare(shell), session: numbered(call), records }, shell)).kind === 'committed';
}

/** Small facts for the audit; what authors' code gave stands in the payload. */
function factsOf({ phase, attempt, pass, outcome, error, untilMs }: StageAt): JsonObject {
  const about = error === null ? {} : { class: error['class'] ?? null, code: error['code'] ?? null };
  return {
    phase,
    stage_attempt: attempt,
    pass,
    ...(outcome === null ? {} : { outcome }),
    ...about,
    ...(untilMs === null ? {} : { until_ms: untilMs }),
  };
}

function pause(ms: number, signal: AbortSignal, { live, ports }: Shell): Promise<boolean> {
  if (live.draining || signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const finish = (isOver: boolean) => {
      takeBack();
      live.backoffs.delete(leave);
      signal.removeEventListener('abort', leave);
      resolve(isOver);
    };
    const leave = () => finish(false);
    const takeBack = ports.clock.schedule(ms, () => finish(true));
    live.backoffs.add(leave);
    signal.addEventListener('abort', leave, { once: true });
  });
}
