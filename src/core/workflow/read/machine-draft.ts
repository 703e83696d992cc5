/**
 * A machine as read: states, edges, guards and context changes. Author code is wrapped in functions that throw only
 * AuthorFault.
 */
import type { StateValue } from 'xstate';
import type { Json, JsonObject } from '../../values/json.ts';
import type { GraphEdge, GraphState } from '../graph.ts';

export type GuardRule =
  | {
      readonly kind: 'test';
      readonly name: string;
      readonly holds: (context: JsonObject, event: unknown) => boolean;
      readonly written: Json;
      /** Its name is its text, in CEL. */
      readonly isExpression: boolean;
    }
  | { readonly kind: 'all' | 'any'; readonly name: string; readonly parts: readonly GuardRule[] }
  | { readonly kind: 'not'; readonly name: string; readonly part: GuardRule }
  /** By the state itself if it was named by its id, else by what must be active. */
  | { readonly kind: 'in'; readonly name: string; readonly state: StateDraft | null; readonly value: StateValue };

export type ActionRule =
  | {
      readonly kind: 'assign';
      /** The changed fields, frozen. */
      readonly assign: (context: JsonObject, event: unknown) => JsonObject;
      readonly written: Json;
    }
  | {
      readonly kind: 'raise';
      readonly event: (context: JsonObject, event: unknown) => JsonObject;
      /** Null if the event is made by a function. */
      readonly type: string | null;
      readonly id: string | null;
      /** Null: at once. */
      readonly delay: DelayRule | null;
      readonly written: Json;
    };

export type DelayRule = number | ((context: JsonObject, event: unknown) => number);

export interface EdgeDraft {
  readonly from: StateDraft;
  readonly kind: GraphEdge['kind'];
  /** The action, its outcome, or an event that the machine raises; null for other kinds. */
  readonly event: string | null;
  /** For `after`: milliseconds, or the name of a delay. */
  readonly delay: number | string | null;
  /** Null stays where it is. */
  readonly to: readonly StateDraft[] | null;
  readonly guard: GuardRule | null;
  readonly actions: readonly ActionRule[];
  readonly reenter: boolean;
  /** It neither goes anywhere nor does anything: XState reads that as a no that parents cannot lift. */
  readonly isForbidden: boolean;
}

export interface InitialDraft {
  readonly to: StateDraft;
  readonly actions: readonly ActionRule[];
}

/** The parts that are not readonly are filled while the machine is read. */
export interface StateDraft {
  /** The path from the root, joined by dots; '' is the root. */
  readonly id: string;
  readonly name: string;
  readonly parent: StateDraft | null;
  readonly type: GraphState['type'];
  readonly history: 'shallow' | 'deep' | null;
  readonly description: string | null;
  readonly children: StateDraft[];
  readonly edges: EdgeDraft[];
  /** The edges of kinds `action` and `outcome`, by their event. */
  readonly byEvent: Map<string, EdgeDraft[]>;
  entry: readonly ActionRule[];
  exit: readonly ActionRule[];
  initial: InitialDraft | null;
  /** Where a history state leads if it remembers nothing; null: where its parent begins. */
  historyTo: readonly StateDraft[] | null;
}

export interface MachineDraft {
  readonly name: string;
  readonly root: StateDraft;
  /** In document order, the root first. */
  readonly states: readonly StateDraft[];
  readonly byId: ReadonlyMap<string, StateDraft>;
  /** Named delays that edges use. */
  readonly delays: ReadonlyMap<string, DelayRule>;
  /** The context of a session that begins. Throws an AuthorFault. */
  readonly context: () => JsonObject;
  readonly contextWritten: Json;
  readonly delaysWritten: JsonObject;
}

/** For messages. */
export function placeOf(state: StateDraft): string {
  return state.parent === null ? 'the root' : `state '${state.id}'`;
}
