/**
 * A compiled workflow: its machine, its actions, and how much state an agent sees. XState machines and YAML both
 * compile to this type.
 */
import type { Catalogue, ToolEntry } from '../call/catalogue.ts';
import type { Json, JsonObject } from '../values/json.ts';
import type { BlockedEdge } from '../call/reply.ts';
import type { WorkflowGraph } from './graph.ts';

/** A delayed transition that waits: `event` is given to the machine when its time has come. */
export interface WorkflowTimer {
  readonly id: string;
  readonly event: JsonObject;
  readonly dueAtMs: number;
}

/** Where a session of the workflow stands. Plain JSON, frozen to its depths; its canonical text is what is stored. */
export interface Snapshot {
  /** The active states, as XState writes them: a name, or names of regions with what is active in each. */
  readonly value: Json;
  readonly context: JsonObject;
  readonly done: boolean;
  /** What history states remember; {} without any. */
  readonly history: JsonObject;
  readonly timers: readonly WorkflowTimer[];
}

/** What a migration gives: where a session is put. */
export type Position = Pick<Snapshot, 'value' | 'context'>;

/** Where a session stood, and under which machine: as its manifest writes it, null if nobody knows. */
export interface Earlier {
  readonly snapshot: Snapshot;
  readonly machine: Json;
}

/**
 * Whether the action may be taken here. `depends` means that a guard looked at the inputs: it counts as reachable, and
 * is judged again with them. `broken` means that a guard threw by itself.
 */
export type Reach =
  | { readonly kind: 'yes' }
  | { readonly kind: 'depends' }
  | { readonly kind: 'no'; readonly blockedBy: readonly BlockedEdge[] }
  | {
      readonly kind: 'broken';
      readonly guard: string;
      readonly problem: string;
      readonly blockedBy: readonly BlockedEdge[];
    };

export type Moved =
  | { readonly kind: 'moved'; readonly snapshot: Snapshot }
  /** The author's own code threw, made something that is not JSON, or did not come to rest: nothing moved. */
  | { readonly kind: 'failed'; readonly errorType: string; readonly problem: string };

/** An outcome that is not a success moved the state by an edge of its own, or no edge was there. */
export type Reacted = Moved | { readonly kind: 'stays' };

/** How a step ended otherwise than by the edge of its action: `type` is `<action>.<outcome>`. */
export interface OutcomeEvent {
  readonly type: string;
  readonly inputs: Json;
  readonly error?: JsonObject;
  readonly result?: Json;
}

/** Pure: the same snapshot and the same event give the same answer. Never throws. */
export interface Machine {
  start(nowMs: number): Moved;
  /** Without inputs: guards that look at them make it `depends`. */
  reach(snapshot: Snapshot, action: string): Reach;
  /** With the inputs that passed the input gate; never `depends`. */
  reachWith(snapshot: Snapshot, action: string, inputs: Json): Reach;
  /** Every action that is `yes` or `depends`, in the order of declaration; empty when the workflow is done. */
  next(snapshot: Snapshot): readonly string[];
  /**
   * The action succeeded with this result. `shown`: what the state may be made of, where that is not all of the inputs.
   */
  apply(snapshot: Snapshot, action: string, inputs: Json, result: Json, nowMs: number, shown?: Json): Moved;
  /** A step failed, was refused, or ended as a stage names it. Whether that moves anything is for the guards to say. */
  react(snapshot: Snapshot, event: OutcomeEvent, nowMs: number): Reacted;
  /** The timer's time has come. */
  fire(snapshot: Snapshot, timer: WorkflowTimer, nowMs: number): Moved;
  /**
   * A session of an earlier version goes on here: a delay that runs in both keeps its time, others begin now, and what
   * does not run here is gone.
   */
  enterAt(earlier: Earlier, to: Position, nowMs: number): Moved;
  /** What is invalid here in a snapshot of an earlier version; null if nothing is. */
  problemWith(snapshot: Snapshot): string | null;
}

/** An action as the gates see it: a tool of the workflow's own catalogue, and what only a step has. */
export interface ActionEntry extends ToolEntry {
  /** The tool of the gateway that is called; null if the action has a body of its own. */
  readonly boundTool: string | null;
  /**
   * A step may begin while a timed-out body of the same action still runs. Reads may, unless the author says otherwise.
   */
  readonly overlap: boolean;
  /**
   * What is fenced while a step is in doubt: the tool and, if declared, what the inputs say it is about. Never throws.
   */
  readonly operationOf: (inputs: Json) => string;
  /** Null when the operation depends on the inputs. */
  readonly operation: string | null;
  /** All of its operations: each is this, or begins with it and a colon. */
  readonly operations: string;
}

/** How much of the state a reply shows: all of it, some fields of the context, or nothing. */
export type Projection = 'full' | 'none' | readonly string[];

export interface RefusalRules {
  /** From this many refusals in a row on, the message repeats what to do. */
  readonly sharpenAfter: number;
  /** At this many the session is stopped; null never stops it. */
  readonly stopAfter: number | null;
}

/** From the version it is keyed by to today's: gives the new value and context, or throws. */
export type Migration = (old: { readonly value: Json; readonly context: JsonObject }) => {
  readonly value: Json;
  readonly context: JsonObject;
};

export interface Workflow {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly machine: Machine;
  readonly graph: WorkflowGraph;
  /** In the order of declaration. */
  readonly actions: ReadonlyMap<string, ActionEntry>;
  /** The same actions as the gates' catalogue. */
  readonly catalogue: Catalogue;
  readonly projection: Projection;
  readonly refusals: RefusalRules;
  readonly migrations: ReadonlyMap<string, Migration>;
  /** Messages of an author's code reach agents with their stack; recorded. */
  readonly debugMessages: boolean;
  /** Canonical JSON `{version, machine, actions: {name: …}, tools: {name: …}}`: what a session is pinned to. */
  readonly manifest: string;
}
