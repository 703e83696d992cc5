/** Where a session stands, in the words of the wire. */
import type { Json, JsonObject } from '../../core/values/json.ts';
import { nextActions, standingOf, stateOf, type StepFact } from '../../core/workflow/step.ts';
import type { Session } from '../../ports/store.ts';

/** Where a session stands, and what may come next. */
export interface SessionView {
  readonly session: string;
  readonly workflow: string;
  readonly seq: number;
  readonly status: 'open' | 'done' | 'stopped' | 'cancelled' | 'closed';
  /** As the workflow's author shows it. */
  readonly state: Json;
  readonly state_digest: string;
  readonly valid_next_actions: readonly string[];
  readonly next_action_schemas: Readonly<Record<string, JsonObject | null>>;
  /** RFC 3339. */
  readonly opened_at: string;
  readonly last_used_at: string;
  readonly expires_at: string | null;
}

/** `fact` was read from this very session: state and next actions are of one moment. */
export function view(session: Session, fact: StepFact, ttlMs: number | null = null): SessionView {
  const open = session.state === 'open';
  const next = open ? nextActions(fact) : [];
  return {
    session: session.id,
    workflow: fact.workflow.name,
    seq: session.seq,
    status: open && standingOf(fact).done ? 'done' : session.state,
    state: stateOf(fact),
    state_digest: fact.digest,
    valid_next_actions: next,
    next_action_schemas: Object.fromEntries(
      next.map((name) => [name, fact.workflow.actions.get(name)?.inputSchema ?? null]),
    ),
    opened_at: time(session.openedAtMs),
    last_used_at: time(session.usedAtMs),
    expires_at: ttlMs === null || !open ? null : time(session.usedAtMs + ttlMs),
  };
}

const time = (atMs: number): string => new Date(Math.min(atMs, 8.64e15)).toISOString();
