/**
 * A condition as proofs see it: comparisons of values with constants, joined by and, or and not. Everything else
 * counts as free. Data only; read-condition.ts makes it.
 */
export type Constant = null | boolean | number | string;

export type Sign = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** A value that is read: the same text is the same value within one call. */
export interface Term {
  readonly text: string;
  /** From a variable inwards: `args.card.kind` is `['args', 'card', 'kind']`. Null for what is calculated. */
  readonly path: readonly (string | number)[] | null;
}

export type Condition =
  | { readonly kind: 'always'; readonly holds: boolean; readonly text: string }
  | { readonly kind: 'all' | 'any'; readonly parts: readonly Condition[]; readonly text: string }
  | { readonly kind: 'not'; readonly part: Condition; readonly text: string }
  | {
      readonly kind: 'compare';
      readonly term: Term;
      readonly sign: Sign;
      readonly to: Constant;
      readonly text: string;
    }
  | { readonly kind: 'among'; readonly term: Term; readonly list: readonly Constant[]; readonly text: string }
  /** `has`: the value is there. `truth`: the value itself stands for a condition, and is true or false. */
  | { readonly kind: 'has' | 'truth'; readonly term: Term; readonly text: string }
  /** True or false by reasons that are not followed. */
  | { readonly kind: 'free'; readonly text: string };

export interface ReadCondition {
  readonly root: Condition;
  /** The variables it reads. */
  readonly reads: ReadonlySet<string>;
  /** No loop and no function: evaluating it cannot run out of steps. */
  readonly isCheap: boolean;
}
