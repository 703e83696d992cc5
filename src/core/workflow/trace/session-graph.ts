/** The wire types of a workflow session that people look at: its graph with the path, and one of its states. */
import type { Json } from '../../values/json.ts';
import type { WorkflowDrawing } from '../draw/to-drawing.ts';
import type { Trace } from './trace-path.ts';

/** One entry of the path: what happened, and where the session stood after it. */
export interface PathEntry {
  /** The number of its first record in the session. */
  readonly entry: number;
  /** 'attempt', or the kind of the record: session_opened, timer_fired, session_reset, … */
  readonly kind: string;
  readonly at: string;
  readonly action: string | null;
  readonly call_id: string | null;
  /** 'succeeded', an error's name, or 'running'; null for what is no attempt. */
  readonly outcome: string | null;
  readonly code: string | null;
  readonly reason: string | null;
  /** The session's sequence after it. */
  readonly seq: number;
  /** Nothing was sent, and nobody is asked. */
  readonly refused: boolean;
  /** How often it was asked, for a refusal that was repeated; 1 for anything else. */
  readonly times: number;
  /** The active states after it, outermost first; null if the state is not kept. */
  readonly active: readonly string[] | null;
}

export interface SessionGraph extends Trace {
  readonly session: string;
  readonly agent: string;
  readonly workflow: string;
  readonly version: string;
  readonly seq: number;
  readonly status: 'open' | 'done' | 'stopped' | 'cancelled' | 'closed';
  readonly reason: string | null;
  readonly active: readonly string[];
  /** What differs from the version that the session is pinned to; empty if nothing does. */
  readonly drift: readonly string[];
  readonly drawing: WorkflowDrawing;
  /** The newest entries, the oldest of them first. */
  readonly path: readonly PathEntry[];
  /** False if there are earlier entries. */
  readonly complete: boolean;
}

export interface SessionState {
  readonly session: string;
  readonly seq: number;
  readonly active: readonly string[];
  /** As the workflow's author shows it in replies. */
  readonly state: Json;
  readonly done: boolean;
  readonly timers: readonly { readonly id: string; readonly due_at: string }[];
}
