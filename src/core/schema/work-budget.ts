/**
 * How much work may one check cost? A schema is written by strangers and so is the value it judges: both together can
 * ask for exponentially many steps. Every reference followed and every pattern matched is paid for from here.
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
