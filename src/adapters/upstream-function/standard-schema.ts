/**
 * The interface that zod, valibot, arktype and others share (Standard Schema v1), copied as types so that none of them is
 * a dependency. Must not grow beyond what the specification says.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a caller writes. */
export type InputOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['input'];

/** What the check makes of it. */
export type OutputOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'];

export function isStandardSchema(value: unknown): value is StandardSchema {
  // Some libraries make schemas that are functions.
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return false;
  const { '~standard': standard } = value as { '~standard'?: unknown };
  return typeof standard === 'object' && standard !== null && 'validate' in standard;
}
