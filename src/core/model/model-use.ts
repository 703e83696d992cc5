/**
 * What the gates ask of a tool that uses models: which model a request asks for, whether that can answer it, and how
 * much it can use. Types only.
 */
import type { Json, JsonObject } from '../values/json.ts';

export interface ModelUse {
  /** The model that these arguments ask for, aliases resolved; null if they name none. */
  nameIn(args: Json): string | null;
  /**
   * Why that model cannot answer this request; null if nothing is known against it. `permits`: the models that may be
   * offered in its place.
   */
  problemWith(args: Json, permits: (model: string) => boolean): ModelProblem | null;
}

export type CapabilityCode = 'MissingStreaming' | 'MissingToolCalling' | 'ContextWindowTooSmall';

export type ModelProblem =
  | { readonly kind: 'undeclared'; readonly model: string | null; readonly known: readonly string[] }
  /** `qualified`: the declared models that could answer. */
  | {
      readonly kind: 'lacks';
      readonly code: CapabilityCode;
      readonly model: string;
      readonly says: string;
      readonly qualified: readonly string[];
    };

/**
 * What an attempt uses, in the words of budgets: `input_tokens`, `output_tokens`, `total_tokens`, and `cost` such as
 * `0.0125 USD` if its price is known.
 */
export interface Metered {
  /** The most that a request with these arguments can use; null if nothing bounds it. */
  most(args: Json): JsonObject | null;
  /** What a result says that it used; null if it does not say. */
  used(args: Json, result: Json): JsonObject | null;
}
