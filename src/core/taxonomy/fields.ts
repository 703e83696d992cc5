/** The field types that entries may declare, as data, so that TypeScript types and JSON Schemas come from one place. */
import type { Entry } from './entry.ts';
import type { ToolError } from './kinds.ts';

/** The words an entry uses for the type of a field, and the TypeScript type of each. */
export interface FieldTypes {
  readonly string: string;
  readonly strings: readonly string[];
  readonly seconds: number;
  readonly count: number;
  readonly milliseconds: readonly number[];
  /** RFC 3339, UTC, whole seconds. */
  readonly instant: string;
  readonly true: true;
  readonly retry_or_abort: 'retry' | 'abort';
  readonly tool_error: ToolError;
  readonly json: unknown;
}

export type FieldType = keyof FieldTypes;
export type Fields = Readonly<Record<string, FieldType>>;

export interface EntryWithFields extends Entry {
  readonly fields: Fields;
}

type ValuesOf<Declared extends Fields> = { readonly [Name in keyof Declared]: FieldTypes[Declared[Name]] };
type Flat<Shape> = { readonly [Name in keyof Shape]: Shape[Name] };

/** The union that a list of entries with fields describes, discriminated by the property named Tag. */
export type Tagged<Tag extends string, List extends Readonly<Record<string, EntryWithFields>>> = {
  [Name in keyof List]: Flat<{ readonly [Property in Tag]: Name } & ValuesOf<List[Name]['fields']>>;
}[keyof List];
