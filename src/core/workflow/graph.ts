/**
 * The graph of a workflow as data: every state and edge, in document order. Drawings and analysis read nothing else.
 */
export interface GraphState {
  /** The path from the root, joined by dots: `brewing.steaming`. The root itself is not listed. */
  readonly id: string;
  /** The last part of the path. */
  readonly name: string;
  /** Null for the top level. */
  readonly parent: string | null;
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  /** The child entered first; null unless compound. */
  readonly initial: string | null;
  readonly description: string | null;
  /** For history: what it remembers; `shallow` if not given. */
  readonly history?: 'shallow' | 'deep';
  /** For history: where it leads before there is anything to remember; where its parent begins if not given. */
  readonly fallback?: readonly string[];
  /** The events that entering or leaving it raises at once; none if not given. */
  readonly raises?: readonly string[];
  /** Entering or leaving it writes to the context; it does not if not given. */
  readonly assigns?: boolean;
}

export interface GraphEdge {
  /** '' is the root. */
  readonly from: string;
  /** Null stays where it is. More than one when a parallel state is entered at several places. */
  readonly to: readonly string[] | null;
  readonly kind: 'action' | 'outcome' | 'always' | 'after' | 'done';
  /** The action's name; for an outcome `<action>.<outcome>`, such as `pay.failed`; null for other kinds. */
  readonly action: string | null;
  /** The guard's name, or its source for CEL; null without one. */
  readonly guard: string | null;
  /**
   * What the guard asks, for proofs: the same text is the same question, wherever it stands. `not(…)`, `and(…, …)` and
   * `or(…, …)` are understood, and so are `!`, `&&`, `||`, `true` and `false` of CEL; in quotes nothing is. Not given:
   * nothing is known but its name.
   */
  readonly asks?: string;
  /** For `after`: milliseconds, or the name of a delay. */
  readonly delay: number | string | null;
  /** Leaves and enters its source again where it could have stayed; it does not if not given. */
  readonly reenter?: boolean;
  /** Takes the event away from the states around it and does nothing, as `on: {x: undefined}` does. */
  readonly forbids?: boolean;
  /** The events that taking it raises at once; none if not given. */
  readonly raises?: readonly string[];
  /** Taking it writes to the context; it does not if not given. */
  readonly assigns?: boolean;
}

export interface WorkflowGraph {
  readonly name: string;
  readonly type: 'compound' | 'parallel' | 'atomic';
  /** The state entered first; null if the root is parallel. */
  readonly initial: string | null;
  readonly states: readonly GraphState[];
  readonly edges: readonly GraphEdge[];
  /** The events that actions of the machine raise by themselves; none if not given. */
  readonly raises?: readonly string[];
  /** Those of them that agents can send as well, because an action has the name; none if not given. */
  readonly raisedActions?: readonly string[];
}
