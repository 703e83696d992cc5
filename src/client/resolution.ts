/**
 * The advice of a reply with TypeScript names: `retry_after_seconds` becomes `retryAfterSeconds`. The types are
 * derived from those of the wire.
 */
import type { Resolution as WireResolution } from '../core/taxonomy.ts';

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail> & string>}` : Name;

type Renamed<Branch> = Branch extends unknown
  ? { readonly [Name in keyof Branch as Camel<Name> & string]: Branch[Name] }
  : never;

/** Narrow it by `type`. */
export type Resolution = Renamed<WireResolution>;
export type ResolutionOf<Type extends Resolution['type']> = Extract<Resolution, { readonly type: Type }>;

/** Values stay as they are, `type` too: it is a word of the wire. */
export function resolutionOf(wire: WireResolution): Resolution {
  const renamed = Object.entries(wire).map(([name, value]) => [camelCase(name), value] as const);
  return Object.fromEntries(renamed) as Resolution;
}

const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
