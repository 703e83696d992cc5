/** The types that check-types.ts and inspect-expression.ts know values by. */

/** Numbers of JSON are doubles. */
export type CelFieldType = 'bool' | 'double' | 'dyn' | 'list' | 'map' | 'string' | 'timestamp';

/** An object that has these fields and no others. */
export interface CelObject {
  readonly fields: Readonly<Record<string, CelType>>;
  /** Fields that are not always there, each with why: reading one must be guarded by `has()` or `in`. */
  readonly sometimes?: Readonly<Record<string, string>>;
}

export type CelType = CelFieldType | CelObject;

export function fieldIn({ fields }: CelObject, name: string): CelType | null {
  return Object.hasOwn(fields, name) ? (fields[name] ?? null) : null;
}

/** What the engine calls a type, in our words; dyn for everything that is none of them, null included. */
export function fieldTypeOf(name: string): CelFieldType {
  const [sort = ''] = name.split('<');
  if (sort === 'int') return 'double';
  return sort === 'bool' || sort === 'double' || sort === 'list' || sort === 'map' || sort === 'string' ? sort : 'dyn';
}
