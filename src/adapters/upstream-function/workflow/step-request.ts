/** Types of `gateway.step` requests: one shape for each action of each workflow. Types only. */
import type { ActionsOf, InputsOf, MountedWorkflow, ResultsOf } from './mount.ts';

interface StepOptions {
  /** Without it a new session is opened, which the reply names. */
  readonly session?: string;
  readonly key?: string;
  readonly turn?: string;
  readonly expected_seq?: number;
  readonly wait_seconds?: number;
  readonly deadline_seconds?: number;
}

export type StepRequest<Workflows extends readonly MountedWorkflow[]> = StepOf<
  Workflows[number],
  MayGoUnnamed<Workflows>
>;

/** Where there is one workflow, or the compiler does not know how many there are. */
type MayGoUnnamed<Workflows extends readonly MountedWorkflow[]> = number extends Workflows['length']
  ? true
  : Workflows['length'] extends 1
    ? true
    : false;

/** Distributes over the workflows, to allow the actions of each. */
type StepOf<Workflow extends MountedWorkflow, Unnamed> = Workflow extends MountedWorkflow
  ? {
      [Action in ActionsOf<Workflow>]: StepOptions & { readonly action: Action } & Naming<Workflow['name'], Unnamed> &
        Writing<InputsOf<Workflow, Action>>;
    }[ActionsOf<Workflow>]
  : never;

type Naming<Name, Unnamed> = Unnamed extends true
  ? {
      /** May be left out where there is one workflow. */
      readonly workflow?: Name;
    }
  : { readonly workflow: Name };

/** Inputs that need nothing may be left out. */
type Writing<Inputs> = Record<never, never> extends Inputs ? { readonly inputs?: Inputs } : { readonly inputs: Inputs };

/**
 * What a success of this action carries as its `result`, in the workflow that is named, or in any that has the action.
 */
export type StepResult<Workflows extends readonly MountedWorkflow[], Name, Action> = ResultIn<
  Workflows[number],
  Name,
  Action
>;

type ResultIn<Workflow extends MountedWorkflow, Name, Action> = Workflow extends MountedWorkflow
  ? Name extends Workflow['name']
    ? ResultOfAction<Workflow, Action>
    : unknown extends Name
      ? ResultOfAction<Workflow, Action>
      : never
  : never;

type ResultOfAction<Workflow extends MountedWorkflow, Action> =
  Action extends ActionsOf<Workflow> ? ResultsOf<Workflow, Action> : never;
