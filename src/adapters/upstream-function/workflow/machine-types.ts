/**
 * Types that read actions, context and id from a machine. By shape, because a project may have another release of
 * XState, and types of two releases are not subtypes of each other. Types only.
 */
import type { StateMachine } from 'xstate';

/** A machine of any release of XState 5. */
export interface AnyMachine {
  readonly id: string;
  readonly config: object;
  readonly root: object;
  getInitialSnapshot(...given: never): { readonly context: object };
  transition(snapshot: never, event: never, scope: never): unknown;
}

export type ContextOf<Machine extends AnyMachine> = ReturnType<Machine['getInitialSnapshot']>['context'];

/** An event that no agent sends says so: `{ type: 'tick'; inputs: never }`. How a step ended has an `error`. */
type NameOf<Event> = Event extends { readonly type: infer Type extends string }
  ? Event extends { readonly inputs: never } | { readonly error: unknown }
    ? never
    : Type
  : never;

/** The actions a machine must be given: the types of its events; any, if its events are not typed. */
export type ActionNames<Machine extends AnyMachine> = NameOf<Parameters<Machine['transition']>[1]>;

// oxlint-disable no-unused-vars -- a type argument can only be reached by its place
/** The machine's id as `setup` keeps it in its type; `createMachine` keeps none. */
export type IdOf<Machine extends AnyMachine> =
  Machine extends StateMachine<
    infer _Context,
    infer _Event,
    infer _Children,
    infer _Actor,
    infer _Action,
    infer _Guard,
    infer _Delay,
    infer _StateValue,
    infer _Tag,
    infer _Input,
    infer _Output,
    infer _Emitted,
    infer _Meta,
    infer Schema,
    infer _TransitionMeta
  >
    ? Schema extends { readonly id: infer Id extends string }
      ? string extends Id
        ? string
        : Id
      : string
    : ShortestId<IdsOf<ReturnType<Machine['getInitialSnapshot']>>>;
// oxlint-enable no-unused-vars

/**
 * Another release of XState gives away the ids of all states, the machine's own among them, as the keys of their
 * `meta`.
 */
type IdsOf<Snapshot> = Snapshot extends { getMeta(): infer Metas }
  ? string extends keyof Metas
    ? string
    : string & keyof Metas
  : string;

/** The one that all others begin with. States with ids of their own leave several: then nothing is known. */
type ShortestId<Ids extends string> =
  Exclude<Ids, `${Ids}.${string}` | '(machine)'> extends infer Id extends string ? OnlyOne<Id> : string;

type OnlyOne<Id extends string, Each = Id> = [Id] extends [never]
  ? string
  : Each extends Id
    ? [Id] extends [Each]
      ? Id
      : string
    : never;
