/**
 * The records of the journal. The shell writes drafts; the store adds place, salts and hash. Payloads are kept apart
 * from the header, so that one can be erased and the chain still verifies.
 */
import type { CallId, SessionId } from '../call/call.ts';

export const recordKinds = {
  epoch_open: 'a writer opened the journal and names the head it found',
  epoch_close: 'the writer closed the journal in good order',
  anchor: 'every thousandth record: opening verifies from here',
  session_opened: 'a session began',
  session_cancelled: 'a session was cancelled; its calls are refused from here on',
  session_forked: 'a session began where another one stood',
  session_resumed: 'a process that had not written to the session before goes on with it',
  session_reset: 'a session went back to where its workflow begins',
  session_migrated: 'a session was carried over to a changed workflow',
  session_stopped: 'a session was stopped until somebody resets it',
  session_closed: 'a session was given up: unused for too long, or in favour of others',
  timer_fired: "a timer of the workflow moved the session's state",
  adopted: "a step took the result of an earlier one that was in doubt, and moved the session's state",
  turn_cancelled: 'a turn was cancelled; its calls are refused from here on',
  refused: 'a gate refused the call; nothing ran',
  held: 'the call waits for a person; nothing ran',
  approval_opened: 'a person was asked to approve a call',
  approval_awaited: 'a session waits for the approval of a call that is in another one',
  approval_approved: 'a person approved a call, as it was asked for or changed',
  approval_denied: 'a person denied a call',
  approval_revoked: 'a person took back what was decided about a call',
  approval_used: 'a call runs under its approval, which covers no other',
  approval_expired: 'an approval ran out of time',
  approval_voided: 'what an approval was bound to has changed, so it covers nothing',
  ticket_opened: 'a person must settle something about the call',
  ticket_closed: 'a ticket about the call was closed',
  ticket_taken: 'a person took a ticket, or gave it back',
  ticket_commented: 'a person wrote something about a ticket',
  ticket_resolved: 'a person answered a ticket',
  ticket_overdue: 'nobody has answered a ticket in time',
  ticket_expired: 'a ticket ended because nobody answered it',
  ticket_continued: 'the call of a ticket went on, or could not',
  session_completed: 'an agent said that it is done, and nothing stood against it',
  task_opened: 'the call succeeded, and its work goes on until it is reported',
  task_reported: 'the work of a call was reported as complete',
  budget_warned: 'the call runs, and a budget is at or beyond its warning mark',
  budget_changed: 'a person said what has been spent of a budget',
  breaker_opened: 'an upstream failed so often that one process sends nothing to it for a while',
  breaker_closed: 'an upstream answered again, and the process that had stopped sends to it as before',
  runtime_gap: 'something happened on which policy cannot decide',
  refusals_repeated: 'the same refusal was given again, so many times',
  prepared: 'the call may run, and is on record before it does',
  dispatched: 'one incarnation won the right to send one attempt',
  settled: 'the attempt ended and the call got its outcome',
  retry_planned: 'the attempt ended without effect or is safe to repeat; it will be sent again',
  stage_phase: 'a stage begins this phase, with what the earlier ones gave',
  attempt_started: 'the call is sent again',
  attempt_finished: 'an attempt failed, and this is what came of it',
  failure_classified: 'a failed attempt got its verdict',
  verdict_changed: 'an attempt failed in another way than the one before it',
  compensation_selected: 'the playbook chose what is done about a failure',
  attempt_scheduled: 'the call will be sent again at this time',
  dispatch_settled: 'nothing more is done about the failures of the call, and this is the outcome',
  reversal_refused: 'the call could not be reversed',
  reversal_ordered: 'the gateway was asked to undo the call',
  reversal_redeemed: 'a reversing call began, which undoes the call',
  rollback_started: 'the calls of the session are undone, the last first; it takes no new ones',
  rollback_step: 'a call of the session was undone, or this is why it was not',
  rollback_finished: 'every call of the session was looked at',
  probed: 'a read was made to find out whether the call in doubt took effect',
  doubted: 'nobody can say whether the attempt took effect',
  stop_asked: 'the agent of the call wants it stopped, and another process runs it',
  cancelled: 'the call was cancelled before anything was sent',
  expired: 'the call passed its deadline and was never sent',
  orphaned: 'an attempt that nobody waited for any more came back',
  interaction: 'somebody was asked while a call ran or failed, and this is what came of it',
  client_asked: "a body asked its agent's user or model, and this is what came of it",
  suppressed_error: 'an error was ignored on purpose, for the reason given',
  requester_left: 'whoever asked is gone and has not seen the reply',
  attached: 'an equal call took the place of a requester who left',
  erased: 'a payload was erased; its commitment stays',
  key_masked: 'a tool gave a live key of this gateway, which was masked before anything was recorded or answered',
  reply_altered: 'a stored reply is not what its record committed to, and was not told',
  policy_applied: 'from here on calls are decided by another policy',
  playbook_adopted: 'the playbook that was in force before there was any release counts as released',
  playbook_forced: 'a playbook that no release covers was put in force all the same',
  feedback_added: 'a person said that a call was handled wrong',
  change_proposed: 'a change of what is done about failures was proposed and replayed',
  change_released: 'a proposed change was released, and its playbook may be put in force',
  release_rolled_back: 'a release was taken back, and the playbook before it counts again',
  clock_held: 'the clock went back and was held at the highest time seen',
} as const;

export type RecordKind = keyof typeof recordKinds;

/** The kinds that move a call to another state: exactly one of them for each step of its life. */
export const stateKinds: ReadonlySet<string> = new Set<RecordKind>([
  'refused',
  'held',
  'prepared',
  'dispatched',
  'settled',
  'retry_planned',
  'doubted',
  'cancelled',
  'expired',
]);

/** A part of a record that can be erased by itself. */
export interface Payload {
  readonly part: string;
  /** Canonical JSON, byte for byte as it is hashed. */
  readonly text: string;
}

export interface RecordDraft {
  readonly kind: RecordKind;
  readonly call: CallId | null;
  readonly session: SessionId | null;
  /** Canonical JSON: the facts and the decision. Holds no personal data; that belongs in payloads. */
  readonly body: string;
  readonly payloads: readonly Payload[];
}

/** Where a record stands: one chain for each incarnation of a writer, counted from 1. */
export interface Position {
  readonly epoch: number;
  readonly seq: number;
}

export interface Commitment {
  readonly part: string;
  readonly hash: Uint8Array;
}

export interface Header extends Position {
  readonly chain: Uint8Array;
  /** The order of records within a session; 0 where there is none. */
  readonly sessionSeq: number;
  readonly timeMs: number;
  readonly kind: string;
  /** Which call and session it is about: part of what is hashed, so that a record cannot change sides. */
  readonly call: string | null;
  readonly session: string | null;
  readonly commitments: readonly Commitment[];
  readonly body: string;
}

/** Bytes and hashes, which the core cannot make by itself. */
export interface Hashing {
  sha256(bytes: Uint8Array): Uint8Array;
  utf8(text: string): Uint8Array;
  text(bytes: Uint8Array): string;
}

/** Records that decide a call, and those that count how often a refusal was given again. */
export const decisionKinds = [
  'prepared',
  'refused',
  'held',
  'refusals_repeated',
] as const satisfies readonly RecordKind[];
export type DecisionKind = (typeof decisionKinds)[number];
