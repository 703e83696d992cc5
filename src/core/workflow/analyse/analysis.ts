/** The result of analysing a workflow, for commands and tests. Data only. */

export type FindingCode =
  /** No path leads to a step with this action. */
  | 'unreachable_action'
  /** No path enters this state. */
  | 'unreachable_state'
  /** No path ends here. */
  | 'unreachable_final'
  /** Here nothing can happen any more, and the workflow is not finished. */
  | 'dead_end'
  /** Here everything depends on guards that could all say no. */
  | 'possible_dead_end'
  /** From here on no path leads to an end, although the workflow has ends. */
  | 'livelock'
  /** Here the machine goes from state to state by itself and may never come to rest. */
  | 'restless'
  /** After this edge the machine is in states that cannot be active together, or lacks some. */
  | 'lost_states'
  /** Other edges on the same event from the same state always come first. */
  | 'dead_edge';

export interface Finding {
  readonly code: FindingCode;
  /** An error is proven to be wrong; a warning is wrong or depends on guards; an info is worth a look. */
  readonly severity: 'error' | 'warning' | 'info';
  /**
   * The id of a state or the name of an action; several active states are joined by commas, '' is the workflow itself.
   */
  readonly where: string;
  readonly message: string;
  /** The fewest steps that lead there: names of actions, and `after 30 s in waiting` for time that passes. */
  readonly counterexample: readonly string[];
  /** No guard, limit or context stands between this claim and the truth. */
  readonly proven: boolean;
}

export interface Analysis {
  readonly findings: readonly Finding[];
  /** Sentences about everything that could not be decided. Empty means: all of it was. */
  readonly undecided: readonly string[];
  readonly searched: {
    /** Different ones, those the machine only passes through among them. */
    readonly configurations: number;
    readonly edges: number;
    readonly complete: boolean;
  };
}
