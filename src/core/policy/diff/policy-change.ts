/** The type of a difference between two policies. Data only; diff-policies.ts makes it. */

/**
 * Whether more may pass than before, or with less. `maybe_weaker` where that cannot be decided; `other` where it is not
 * about that.
 */
export type Direction = 'weaker' | 'maybe_weaker' | 'other' | 'stronger';

export interface PolicyDetail {
  /** For a person. */
  readonly says: string;
  readonly direction: Direction;
}

export interface PolicyChange {
  readonly change: 'added' | 'removed' | 'changed';
  /** Null for what holds for all of them. */
  readonly agent: string | null;
  /** Weakenings first. */
  readonly details: readonly PolicyDetail[];
}
