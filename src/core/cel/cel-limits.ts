/** Limits on the size and cost of an expression. The engine has no run-time limit of its own. */
import type { PatternLimits } from '../schema/linear-pattern.ts';

export interface CelLimits extends PatternLimits {
  readonly maxExpressionChars: number;
  /** Brackets, calls and selections inside each other. */
  readonly maxExpressionDepth: number;
  readonly maxExpressionNodes: number;
  /** Loops (`all`, `exists`, `map`, `filter`, …) inside each other. */
  readonly maxLoopNesting: number;
  /** Nodes evaluated in one evaluation; what is compared, searched or joined costs by its size. */
  readonly maxSteps: number;
  /** Size of a pattern times length of the text, summed over one evaluation. */
  readonly maxPatternSteps: number;
  readonly maxResultDepth: number;
  /** Values inside the result, itself included. */
  readonly maxResultNodes: number;
}

export const defaultCelLimits: CelLimits = {
  maxExpressionChars: 4_096,
  maxExpressionDepth: 40,
  maxExpressionNodes: 1_000,
  maxLoopNesting: 2,
  maxSteps: 250_000,
  maxPatternChars: 500,
  maxPatternSize: 10_000,
  maxPatternSteps: 5_000_000,
  maxResultDepth: 64,
  maxResultNodes: 20_000,
};
