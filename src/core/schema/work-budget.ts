/**
 * The work budget of one check. Schema and value both come from outside and could together need exponential time.
 * Every followed reference and every matched pattern is charged.
 */
export interface WorkBudget {
  references: number;
  patternSteps: number;
  /** Built once: throwing it must not cost a stack trace each time. */
  readonly exhausted: WorkExhausted;
}

export class WorkExhausted extends Error {
  override name = 'WorkExhausted';
}

export interface WorkLimits {
  /** References that one check follows. */
  readonly maxReferences: number;
  /** Size of the pattern times length of the text, summed over one check. */
  readonly maxPatternSteps: number;
}

export function createBudget(): WorkBudget {
  return { references: 0, patternSteps: 0, exhausted: new WorkExhausted('the check needs too much work') };
}

export function refill(budget: WorkBudget, limits: WorkLimits): void {
  budget.references = limits.maxReferences;
  budget.patternSteps = limits.maxPatternSteps;
}
