/**
 * The next move that a reply advises, with the names of TypeScript: `retry_after_seconds` is `retryAfterSeconds`.
 * The types are made from those of the wire, so that neither can change alone.
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
