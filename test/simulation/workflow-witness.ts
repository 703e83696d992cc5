/**
 * Sees what happens to workflow sessions and keeps an account of its own: whose turn it is, how often the state moved,
 * and which results were adopted. Invariants: `turn`, `state`, `adopt`.
 */
import type { CallChange, SessionChange, Transition } from '../../src/ports/store.ts';
import { hashing, type MemoryRecord } from './memory-journal.ts';
import { countIn } from './workflow-setting.ts';

type Step = Extract<SessionChange, { kind: 'step' }>;

interface SessionAccount {
  turn: string | null;
  moves: number;
  count: number;
}

/** The records of what moves a state beside a success. */
const movers: ReadonlySet<string> = new Set(['timer_fired', 'session_reset', 'session_migrated']);
/** A failure or a refusal that moves the state says by which edge. */
const takesEdge = (kind: string, body: string): boolean =>
  (kind === 'settled' || kind === 'refused') && typeof (JSON.parse(body) as { edge?: unknown }).edge === 'string';
const underWay: ReadonlySet<string> = new Set(['PREPARED', 'DISPATCHED', 'RETRY_WAIT']);

export type WorkflowWitness = ReturnType<typeof createWorkflowWitness>;

export function createWorkflowWitness(
  breaks: (invariant: string, detail: string) => void,
  stateOf: (call: string) => string,
) {
  const sessions = new Map<string, SessionAccount>();
  const adoptedBy = new Map<string, string>();

  const watchTurn = (account: SessionAccount, id: string, { turn, call }: NonNullable<Step['workflow']>) => {
    if ((turn === 'take' || turn === 'free') && account.turn !== null && account.turn !== call)
      breaks('turn', `${id}: ${call} finds the turn of ${account.turn} and goes on`);
    if (turn === 'take') account.turn = call;
    if (turn !== 'release' || account.turn !== call) return;
    if (underWay.has(stateOf(call ?? ''))) breaks('turn', `${id}: ${call} gives its turn back while it is under way`);
    account.turn = null;
  };

  const watchState = (
    account: SessionAccount,
    change: Step,
    call: CallChange | null,
    records: readonly MemoryRecord[],
  ) => {
    const resumed = records.find(({ kind }) => kind === 'session_resumed');
    const from = resumed === undefined ? null : (JSON.parse(resumed.body) as { step?: number }).step;
    // What expects no sequence may be told of a state that was there a moment ago.
    if (from !== null && change.expectSeq !== null && from !== account.moves)
      breaks('state', `${change.id} is resumed at ${from}, and stands at ${account.moves}`);
    const success = call !== null && call.kind !== 'mark' && endsWithSuccess(call, records);
    const moved = change.workflow?.snapshot ?? null;
    const why = success || records.some(({ kind, body }) => movers.has(kind) || takesEdge(kind, body));
    if ((moved !== null) !== why)
      breaks(
        'state',
        `${change.id} ${moved === null ? 'stays' : 'moves'} with ${records.map(({ kind }) => kind).join(' ')}`,
      );
    if (change.advance !== (moved !== null)) breaks('state', `${change.id}: the sequence and the state part`);
    if (moved === null) return;
    account.moves += 1;
    const count = countIn(moved.text);
    if (success && count !== account.count + 1) breaks('state', `${change.id} counts ${count} after ${account.count}`);
    account.count = count;
  };

  return {
    isStep: (session: string | null): boolean => session !== null && sessions.has(session),
    movesOf: (session: string): number => sessions.get(session)?.moves ?? 0,
    countOf: (session: string): number => sessions.get(session)?.count ?? 0,
    /** Over all sessions: how often a state moved, and how many of these moves were adoptions. */
    totals: () => ({
      moves: [...sessions.values()].reduce((sum, { moves }) => sum + moves, 0),
      adoptions: adoptedBy.size,
    }),
    wasAdopted: (call: string): boolean => adoptedBy.has(call),
    /** Whose result this call took; null if it did its own work. */
    adoptedFrom: (call: string): string | null => [...adoptedBy].find(([, by]) => by === call)?.[0] ?? null,

    /** After the call itself was accounted for. */
    applied({ session, call }: Transition, records: readonly MemoryRecord[]): void {
      if (session?.kind === 'open' && session.session.workflow !== null) {
        const count = session.snapshot === null ? 0 : countIn(session.snapshot.text);
        sessions.set(session.session.id, { turn: null, moves: session.session.seq, count });
      }
      const account = session?.kind === 'step' ? sessions.get(session.id) : undefined;
      if (session?.kind === 'step' && account !== undefined) {
        if (session.workflow !== null) watchTurn(account, session.id, session.workflow);
        watchState(account, session, call, records);
      }
      // INVARIANT: a call that rests has no turn, whatever path it came by.
      for (const [id, { turn }] of sessions)
        if (turn !== null && !underWay.has(stateOf(turn)) && stateOf(turn) !== '(none)')
          breaks('turn', `${id}: ${turn} is ${stateOf(turn)} and still has the turn`);
    },

    /** Before the call is accounted for: it takes the result of another, and has no effect of its own. */
    foresee(records: readonly MemoryRecord[]): void {
      for (const { kind, body, call } of records) {
        if (kind !== 'adopted' || call === null) continue;
        const { from } = JSON.parse(body) as { from?: string };
        if (from === undefined) continue;
        if (adoptedBy.has(from)) breaks('adopt', `${from} was adopted by ${adoptedBy.get(from)} and by ${call}`);
        if (stateOf(from) !== 'SUCCEEDED') breaks('adopt', `${from} is ${stateOf(from)}, and ${call} adopts it`);
        adoptedBy.set(from, call);
      }
    },

    sent(session: string | null, call: string): void {
      const account = session === null ? undefined : sessions.get(session);
      // A call that another process took over within its send window rests on record: its body counts as an orphan.
      const isOver = stateOf(call) !== '(none)' && !underWay.has(stateOf(call));
      if (account !== undefined && account.turn !== call && !isOver)
        breaks('turn', `${call} is sent while ${account.turn ?? 'nobody'} has the turn of ${session}`);
    },
  };
}

/** A success that its requester could hear of. One that comes to light after a doubt moves nothing by itself. */
function endsWithSuccess(change: Exclude<CallChange, { kind: 'mark' }>, records: readonly MemoryRecord[]): boolean {
  if (!change.path.includes('SUCCEEDED')) return false;
  if (change.kind === 'update' && change.expect.state === 'IN_DOUBT') return false;
  for (const record of records) {
    const payload = record.payloads[record.parts.indexOf('reply')];
    if (payload !== undefined && payload !== null)
      return !('error' in (JSON.parse(hashing.text(payload.bytes)) as object));
  }
  return false;
}
