/**
 * Encodes requests to the worker and outcomes from it as flat arrays: cloning the names of properties costs three times
 * as much as cloning their values. Only the functions here read these forms, and they are never stored.
 */
import type { Call } from '../../../core/call/call.ts';
import type { RecordDraft } from '../../../core/journal/record.ts';
import type {
  CallChange,
  CommitResult,
  FenceWrite,
  KeyClaim,
  Session,
  SessionChange,
  Transition,
} from '../../../ports/store.ts';
import type { WriteRequest } from './batch.ts';
import type { EraseRequest } from './erase-call.ts';

type Flat = readonly unknown[];
type Mark = Extract<CallChange, { kind: 'mark' }>;
type Update = Extract<CallChange, { kind: 'update' }>;
type Step = Extract<SessionChange, { kind: 'step' }>;

/** Parts that few transitions have are sent as they are. */
type Rest = Pick<
  Transition,
  'reserve' | 'settle' | 'tokens' | 'accounts' | 'approvals' | 'tickets' | 'reversals' | 'rollbacks' | 'task' | 'blobs'
>;
const noRest: Rest = {
  reserve: [],
  settle: [],
  tokens: [],
  accounts: [],
  approvals: [],
  tickets: [],
  reversals: [],
  rollbacks: [],
  task: null,
  blobs: [],
};

export type FlatRequest = Flat | EraseRequest;

export function flatten(request: WriteRequest): FlatRequest {
  if ('erase' in request) return request;
  const { token, atMs, call, nobodyLeftWithinMs, key, session, records } = request;
  const { reserve, settle, tokens, accounts, approvals, tickets, reversals, rollbacks, task, blobs } = request;
  const isPlain = task === null && isEmpty(request);
  const rest: Rest | null = isPlain
    ? null
    : { reserve, settle, tokens, accounts, approvals, tickets, reversals, rollbacks, task, blobs };
  const flat: unknown[] = [token, atMs, call, null, null, flatKey(key), flatSession(session), rest, nobodyLeftWithinMs];
  if (call !== null && call.kind !== 'mark') {
    flat[2] = flatCall(call.call);
    flat[3] = call.path;
    if (call.kind === 'update')
      flat[4] = [call.expect.state, call.expect.attempt, call.expect.owner, call.expect.dueAtMs];
  }
  for (const record of records) flat.push(flatRecord(record));
  return flat;
}

/** Without a list of lists, which would be made for every transition. */
const isEmpty = (rest: Rest): boolean =>
  rest.reserve.length === 0 &&
  rest.settle.length === 0 &&
  rest.tokens.length === 0 &&
  rest.accounts.length === 0 &&
  rest.approvals.length === 0 &&
  rest.tickets.length === 0 &&
  rest.reversals.length === 0 &&
  rest.rollbacks.length === 0 &&
  rest.blobs.length === 0;

export function restore(flat: FlatRequest): WriteRequest {
  if (!Array.isArray(flat)) return flat as EraseRequest;
  const rest = (flat[7] as Rest | null) ?? noRest;
  const records: RecordDraft[] = [];
  for (let at = 9; at < flat.length; at++) records.push(restoreRecord(flat[at] as Flat));
  return {
    token: flat[0] as string,
    atMs: flat[1] as number,
    call: restoreChange(flat[2] as Flat | Mark | null, flat[3] as Update['path'], flat[4] as Flat | null),
    nobodyLeftWithinMs: flat[8] as number | null,
    key: restoreKey(flat[5] as Flat | null),
    session: restoreSession(flat[6] as Flat | Exclude<SessionChange, Step> | null),
    reserve: rest.reserve,
    settle: rest.settle,
    tokens: rest.tokens,
    accounts: rest.accounts,
    approvals: rest.approvals,
    tickets: rest.tickets,
    reversals: rest.reversals,
    rollbacks: rest.rollbacks,
    task: rest.task,
    blobs: rest.blobs,
    records,
  };
}

/** Written out field by field, as all of this file: spreading objects would cost what the flat form saves. */
const flatCall = (call: Call): Flat => [
  call.id,
  call.tenant,
  call.agent,
  call.session,
  call.turn,
  call.tool,
  call.key,
  call.fingerprint,
  call.effectClass,
  call.state,
  call.attempt,
  call.owner,
  call.tainted,
  call.createdAtMs,
  call.deadlineAtMs,
  call.dueAtMs,
  call.kept === true,
];

const restoreCall = (flat: Flat): Call => ({
  id: flat[0] as Call['id'],
  tenant: flat[1] as string,
  agent: flat[2] as string,
  session: flat[3] as Call['session'],
  turn: flat[4] as string | null,
  tool: flat[5] as string,
  key: flat[6] as string | null,
  fingerprint: flat[7] as string,
  effectClass: flat[8] as Call['effectClass'],
  state: flat[9] as Call['state'],
  attempt: flat[10] as number,
  owner: flat[11] as Call['owner'],
  tainted: flat[12] as boolean,
  createdAtMs: flat[13] as number,
  deadlineAtMs: flat[14] as number,
  dueAtMs: flat[15] as number | null,
  ...(flat[16] === true ? { kept: true } : {}),
});

function restoreChange(flat: Flat | Mark | null, path: Update['path'], expect: Flat | null): CallChange | null {
  if (flat === null || !Array.isArray(flat)) return flat as Mark | null;
  const call = restoreCall(flat);
  if (expect === null) return { kind: 'insert', call, path };
  return {
    kind: 'update',
    call,
    path,
    expect: {
      state: expect[0] as Update['expect']['state'],
      attempt: expect[1] as number,
      owner: expect[2] as Call['owner'],
      dueAtMs: expect[3] as number | null,
    },
  };
}

const flatKey = (key: KeyClaim | null): Flat | null =>
  key === null ? null : [key.tenant, key.agent, key.key, key.fingerprint, key.callId, key.keepMs];

function restoreKey(flat: Flat | null): KeyClaim | null {
  if (flat === null) return null;
  return {
    tenant: flat[0] as string,
    agent: flat[1] as string,
    key: flat[2] as string,
    fingerprint: flat[3] as string,
    callId: flat[4] as Call['id'],
    keepMs: flat[5] as number,
  };
}

function flatSession(change: SessionChange | null): Flat | Exclude<SessionChange, Step> | null {
  if (change?.kind !== 'step') return change;
  const { id, advance, expectSeq, expectOpen, workflow, fence, endsTurn } = change;
  if (endsTurn !== undefined) return [id, advance, expectSeq, expectOpen, workflow, fence ?? null, endsTurn];
  return fence === undefined
    ? [id, advance, expectSeq, expectOpen, workflow]
    : [id, advance, expectSeq, expectOpen, workflow, fence];
}

function restoreSession(flat: Flat | Exclude<SessionChange, Step> | null): SessionChange | null {
  if (flat === null || !Array.isArray(flat)) return flat as Exclude<SessionChange, Step> | null;
  const [id, advance, expectSeq, expectOpen, workflow, fence, endsTurn] = flat as [
    Step['id'],
    boolean,
    number | null,
    boolean,
    Step['workflow'],
    (FenceWrite | null)?,
    string?,
  ];
  const step = { kind: 'step', id, advance, expectSeq, expectOpen, workflow } as const;
  const fenced = fence === undefined || fence === null ? step : { ...step, fence };
  return endsTurn === undefined ? fenced : { ...fenced, endsTurn };
}

/** Kind, call, session and body, then part and text of each payload. */
function flatRecord({ kind, call, session, body, payloads }: RecordDraft): Flat {
  const flat: unknown[] = [kind, call, session, body];
  for (const { part, text } of payloads) flat.push(part, text);
  return flat;
}

function restoreRecord(flat: Flat): RecordDraft {
  const payloads: { part: string; text: string }[] = [];
  for (let at = 4; at < flat.length; at += 2) payloads.push({ part: flat[at] as string, text: flat[at + 1] as string });
  return {
    kind: flat[0] as RecordDraft['kind'],
    call: flat[1] as RecordDraft['call'],
    session: flat[2] as RecordDraft['session'],
    body: flat[3] as string,
    payloads,
  };
}

/** The results in the order of the requests, and the plain sessions that changed; null if that is not known. */
export interface Outcome {
  readonly results: readonly CommitResult[];
  readonly sessions: readonly Session[] | null;
}

/**
 * As JSON: one text is cheaper to clone than many objects. A committed result is three numbers; any other goes as it
 * is.
 */
export function writeOutcome({ results, sessions }: Outcome): string {
  return JSON.stringify([results.map(flatResult), sessions === null ? null : sessions.map(flatPlain)]);
}

export function readOutcome(text: string): Outcome {
  const [results, sessions] = JSON.parse(text) as [(number[] | CommitResult)[], Flat[] | null];
  return {
    results: results.map(restoreResult),
    sessions: sessions === null ? null : sessions.map(restorePlain),
  };
}

function flatResult(result: CommitResult): readonly number[] | CommitResult {
  if (result.kind !== 'committed') return result;
  const { seq, position } = result;
  return position === null ? [seq] : [seq, position.epoch, position.seq];
}

function restoreResult(flat: readonly number[] | CommitResult): CommitResult {
  if (!Array.isArray(flat)) return flat as CommitResult;
  const [committed, epoch, seq] = flat as [number, number?, number?];
  const position = epoch === undefined || seq === undefined ? null : { epoch, seq };
  return { kind: 'committed', seq: committed, position };
}

const flatPlain = (session: Session): Flat => [
  session.id,
  session.tenant,
  session.agent,
  session.standing,
  session.state,
  session.seq,
  session.entries,
  session.openedAtMs,
  session.usedAtMs,
];

const restorePlain = (flat: Flat): Session => ({
  id: flat[0] as Session['id'],
  tenant: flat[1] as string,
  agent: flat[2] as string,
  standing: flat[3] as boolean,
  state: flat[4] as Session['state'],
  seq: flat[5] as number,
  entries: flat[6] as number,
  openedAtMs: flat[7] as number,
  usedAtMs: flat[8] as number,
  workflow: null,
});
