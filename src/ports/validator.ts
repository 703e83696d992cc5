/** Runs an author's own check of the arguments. Never rejects; may replace the arguments. */
import type { FieldError } from '../core/catalogue.ts';
import type { Json } from '../core/json.ts';

export type Validated =
  | { readonly ok: true; readonly args: Json }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

export interface Validator {
  validate(tool: string, args: Json): Promise<Validated>;
}
