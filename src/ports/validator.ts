/** Runs an author's own check of the arguments. Never rejects; may replace the arguments. */
import type { FieldError } from '../core/call/catalogue.ts';
import type { Json, JsonObject } from '../core/values/json.ts';

export type Validated =
  | { readonly ok: true; readonly args: Json }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

/** The workflow in which the arguments are the inputs of a step, and where its session stands. */
export interface StepOf {
  readonly workflow: string;
  readonly context: JsonObject;
}

export interface Validator {
  validate(tool: string, args: Json, step: StepOf | null): Promise<Validated>;
}
