/**
 * What must hold once the world is quiet: no state without its record, no record without its hash, nobody left waiting.
 */
import { stateKinds } from '../../src/core/journal/record.ts';
import { createVerifier, type Head, hex } from '../../src/core/journal/verify.ts';
import { callStates } from '../../src/core/taxonomy.ts';
import { isObject } from '../../src/core/values/json.ts';
import { hashing, type MemoryRecord } from './memory-journal.ts';
import { type MemoryState, nameOf, unfinishedStates } from './memory-state.ts';
import type { Witness } from './witness.ts';
import { countIn } from './workflow-setting.ts';

/** Every chain by itself: incarnations that live side by side cannot name each other's last record. */
export function checkChains({ chains }: MemoryState, witness: Witness): void {
  const places = new Set<string>();
  for (const { epoch, records } of chains) {
    const verifier = createVerifier(
      hashing,
      headNamedBy(
        records[0],
        chains.flatMap((chain) => chain.records),
      ),
    );
    for (const record of records) {
      const place = `${record.epoch}/${record.seq}`;
      if (places.has(place)) witness.breaks('17', `two records stand at ${place}`);
      places.add(place);
      verifier.add(record);
    }
    const [problem] = verifier.report().problems;
    if (problem !== undefined) witness.breaks('17', `chain ${epoch} breaks at ${problem.seq}: ${problem.problem}`);
  }
}

/** The head that an epoch_open names, if it is really there. */
function headNamedBy(first: MemoryRecord | undefined, all: readonly MemoryRecord[]): Head | null {
  const { previous } = JSON.parse(first?.body ?? '{}') as {
    previous?: { epoch: number; seq: number; hash: string } | null;
  };
  if (previous === undefined || previous === null) return null;
  const found = all.find(
    ({ epoch, seq, hash }) => epoch === previous.epoch && seq === previous.seq && hex(hash) === previous.hash,
  );
  return found === undefined ? null : { epoch: found.epoch, seq: found.seq, hash: found.hash };
}

/** Invariants 15, 16 and 18: the journal alone tells the state of every call and session, and what was declared. */
export function checkRecords(state: MemoryState, witness: Witness): void {
  for (const [id, { call }] of state.calls) {
    const seen = witness.calls.get(id);
    const told = (state.recordsByCall.get(id) ?? []).flatMap(({ kind, body }) => statesIn(kind, body));
    if (told.join() !== seen?.path.join())
      witness.breaks('16', `${id} went ${seen?.path.join()}, its records say ${told.join()}`);
    if (told.at(-1) !== call.state)
      witness.breaks('18', `the journal leaves ${id} ${told.at(-1)}, the store says ${call.state}`);
  }
  for (const id of witness.calls.keys())
    if (witness.calls.get(id)?.state !== '(none)' && !state.calls.has(id)) witness.breaks('13', `${id} is gone`);
  for (const { id, entries, seq } of state.sessions.values()) {
    if (entries !== witness.entriesOf(id))
      witness.breaks('15', `${id} counts ${entries} records, ${witness.entriesOf(id)} were written`);
    if (seq !== witness.successesOf(id))
      witness.breaks('15', `${id} is at ${seq} after ${witness.successesOf(id)} successes`);
  }
  for (const { records } of state.chains)
    for (const { kind, body, call } of records) {
      if (kind !== 'prepared') continue;
      const { manifest } = JSON.parse(body) as { manifest: string };
      if (!state.blobs.has(manifest)) witness.breaks('18', `${call} was decided under a manifest that nobody kept`);
    }
}

/** The state of each workflow session is what its steps made of it, and nobody who has ended has its turn. */
export function checkWalks(state: MemoryState, { workflows, breaks }: Witness): void {
  for (const { id, seq, workflow } of state.sessions.values()) {
    if (workflow === null) continue;
    const kept = state.snapshots.get(nameOf(id, String(seq)));
    if (kept === undefined) breaks('state', `${id} is at ${seq}, and no state is kept for it`);
    else if (countIn(kept) !== workflows.countOf(id))
      breaks('state', `${id} counts ${countIn(kept)}, its steps made ${workflows.countOf(id)}`);
    if (seq !== workflows.movesOf(id)) breaks('state', `${id} is at ${seq} after ${workflows.movesOf(id)} moves`);
    const holder = workflow.turn === null ? null : state.calls.get(workflow.turn.call)?.call;
    if (holder !== null && (holder === undefined || !unfinishedStates.has(holder.state)))
      breaks('turn', `${id}: the turn is ${workflow.turn?.call}'s, who is ${holder?.state ?? 'not known'}`);
  }
}

function statesIn(kind: string, body: string): readonly string[] {
  const parsed: unknown = JSON.parse(body);
  return stateKinds.has(kind) && isObject(parsed) && typeof parsed['state'] === 'string' ? [parsed['state']] : [];
}

/** Invariant 19, after faults have stopped and the bound has passed. */
export function checkLiveness(state: MemoryState, unanswered: readonly string[], witness: Witness): void {
  for (const { call } of state.calls.values())
    if (!callStates[call.state].terminal && call.state !== 'IN_DOUBT')
      witness.breaks('19', `${call.id} is still ${call.state}, due at ${call.dueAtMs}`);
  for (const what of unanswered) witness.breaks('19', `nobody answered: ${what}`);
}

export interface HeardResult {
  readonly callId: string;
  readonly attempt: number;
  readonly life: { readonly alive: boolean };
}

/**
 * What a process heard, it may not forget while it lives: a result ends every doubt about its attempt. Only a call that
 * was waiting for its next attempt when the result came keeps it as an orphan, and may end in doubt all the same.
 */
export function forgottenResult(
  answers: readonly HeardResult[],
  state: MemoryState,
  witness: Witness,
): HeardResult | undefined {
  return answers.find(({ callId, attempt, life }) => {
    const call = state.calls.get(callId)?.call;
    if (!life.alive || call === undefined || call.attempt !== attempt || call.state !== 'IN_DOUBT') return false;
    return witness.calls.get(callId)?.path.at(-2) === 'DISPATCHED';
  });
}
