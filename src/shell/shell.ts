/** What the shell works with: the ports, the rules it was given, and what this incarnation holds in memory. */
import type { CancelScope } from '../core/answer.ts';
import type { Call, CallId, IncarnationId, SessionId } from '../core/call.ts';
import type { Catalogue } from '../core/catalogue.ts';
import type { Ladder } from '../core/decide.ts';
import type { Readiness } from '../core/facts.ts';
import type { Position } from '../core/journal/record.ts';
import type { Limits } from '../core/limits.ts';
import type { Reply } from '../core/reply.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Notifier } from '../ports/notifier.ts';
import type { Store, Transition } from '../ports/store.ts';
import type { Upstream } from '../ports/upstream.ts';
import type { Validator } from '../ports/validator.ts';

export interface Ports {
  readonly store: Store;
  readonly upstream: Upstream;
  readonly validator: Validator;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly notify: Notifier;
  /** SHA-256 of a text, in hex. */
  readonly sha256: (text: string) => string;
}

/** A reply and where it is recorded; null if it could not be. */
export interface Answer {
  readonly reply: Reply;
  readonly position: Position | null;
}

/** A call that this incarnation is sending. */
export interface Running {
  readonly call: Call;
  readonly outcome: Promise<Answer>;
  /** Ends the wait at once; what the body does afterwards is an orphan. */
  readonly cancel: (scope: CancelScope) => void;
}

/** Lost with the process, and nothing depends on it but speed and waiting. */
export interface Live {
  readiness: Readiness;
  readonly running: Map<CallId, Running>;
  /** Calls that have not been answered yet, whether or not they run. */
  readonly unanswered: Set<Promise<Reply>>;
  /** Bodies that nobody waits for any more and that have not come back. */
  orphans: number;
  storeDown: boolean;
  /** The store is closed: nothing can be recorded any more. */
  closed: boolean;
  readonly standing: Map<string, SessionId>;
  readonly knownBlobs: Set<string>;
  readonly refusals: Map<string, { readonly callId: CallId; readonly atMs: number; count: number }>;
  /** Outcomes that could not be recorded yet; the sweeper tries again. */
  readonly unrecorded: Unrecorded[];
}

/** `ifMovedOn` says what to do when the call is no longer where the transition expects it. */
export interface Unrecorded {
  readonly transition: Transition;
  readonly ifMovedOn: (() => Promise<void>) | null;
}

export interface Shell {
  readonly ports: Ports;
  readonly limits: Limits;
  readonly ladder: Ladder;
  readonly catalogue: Catalogue;
  readonly live: Live;
}

export function createShell(parts: Omit<Shell, 'live'>): Shell {
  return {
    ...parts,
    live: {
      readiness: { ready: false, doing: 'starting', retryAfterSeconds: 2 },
      running: new Map(),
      unanswered: new Set(),
      orphans: 0,
      storeDown: false,
      closed: false,
      standing: new Map(),
      knownBlobs: new Set(),
      refusals: new Map(),
      unrecorded: [],
    },
  };
}

export const me = (shell: Shell): IncarnationId => shell.ports.store.incarnation;

/** A body that nobody waits for any more still takes its place. */
export function isFull({ live, limits }: Shell): boolean {
  return live.running.size + live.orphans >= limits.maxInFlight;
}

/** Without a workflow every declared tool is a next action, in the order of declaration. */
export const nextActions = (shell: Shell): readonly string[] => [...shell.catalogue.keys()];
