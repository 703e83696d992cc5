/** Thrown by our own functions as an error of the expression, not of a value. */
export class WrongValue extends Error {
  override name = 'EvaluationError';
  readonly summary: string;

  constructor(summary: string) {
    super(summary);
    this.summary = summary;
  }
}
