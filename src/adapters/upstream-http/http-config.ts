/** The configuration of one HTTP upstream: where it is, and how its answers are read. Plain data. */
import type { FieldError } from '../../core/call/catalogue.ts';
import type { EffectClass } from '../../core/taxonomy.ts';
import type { Json } from '../../core/values/json.ts';
import type { HttpLimits } from './http-limits.ts';
import type { RequestPlan } from './plan-request.ts';

export const redirectRules = ['none', 'same_origin', 'follow'] as const;
/** `follow` leaves the origin too; what never goes there is listed in follow-redirects.ts. */
export type RedirectRule = (typeof redirectRules)[number];

/** Where the idempotency key goes. `field` is a field of the JSON body. */
export type KeyPlace =
  | { readonly kind: 'header'; readonly name: string }
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'none' };

export const defaultKeyPlace: KeyPlace = { kind: 'header', name: 'Idempotency-Key' };

/** Codes of an upstream that say what became of our key, or that evidence is stale, beside the ones known anyway. */
export interface ConflictCodes {
  readonly in_flight: readonly string[];
  readonly completed: readonly string[];
  readonly mismatch: readonly string[];
  /** For status 412; `*` stands for every 412. */
  readonly evidence: readonly string[];
}

export const noConflictCodes: ConflictCodes = { in_flight: [], completed: [], mismatch: [], evidence: [] };

export interface HttpTarget {
  /** For messages. */
  readonly name: string;
  /** The beginning of every address; a query in it goes with every request. */
  readonly url: string;
  /** Of every request. Their values are secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly redirects: RedirectRule;
  readonly key: KeyPlace;
  readonly conflicts: ConflictCodes;
  readonly limits: Partial<HttpLimits>;
}

export interface HttpTool {
  /** As attempts name it. */
  readonly name: string;
  readonly effectClass: EffectClass;
  readonly plan: RequestPlan;
  /** What is wrong with a result; null if it has no output schema. */
  readonly checkOutput: ((output: Json) => readonly FieldError[] | Promise<readonly FieldError[]>) | null;
}

export class HttpConfigError extends Error {
  override name = 'HttpConfigError';

  constructor(upstream: string, problem: string, fix: string) {
    super(`http upstream '${upstream.slice(0, 128)}': ${problem}; ${fix}`);
  }
}
