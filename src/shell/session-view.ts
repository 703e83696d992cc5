/** Where a session stands, in the words of the wire. */
import type { Json, JsonObject } from '../core/json.ts';
import { nextActions, project, type StepFact } from '../core/workflow/step.ts';
import type { Session } from '../ports/store.ts';

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

/** `at`: where it stands, if what is next is judged from somewhere else. */
export function view(
  session: Session,
  fact: StepFact,
  ttlMs: number | null = null,
  at: Pick<StepFact, 'snapshot' | 'digest'> = fact,
): SessionView {
  const open = session.state === 'open';
  const next = open ? nextActions(fact) : [];
  return {
    session: session.id,
    workflow: fact.workflow.name,
    seq: session.seq,
    status: open && at.snapshot.done ? 'done' : session.state,
    state: project(at.snapshot, fact.workflow.projection),
    state_digest: at.digest,
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
