/**
 * The language for describing configuration files as data. The reader and the published JSON Schema both use it, so
 * that they cannot differ. Must not read anything.
 */
export type Shape =
  | TextShape
  | { readonly kind: 'flag'; readonly says: string }
  /** A key without a value. */
  | { readonly kind: 'nothing'; readonly says: string }
  | { readonly kind: 'count' | 'number'; readonly says: string; readonly least: number; readonly most: number }
  /** Written as `30s`, read as milliseconds. */
  | { readonly kind: 'duration'; readonly says: string; readonly leastMs: number; readonly mostMs: number }
  /** An expression; the place of its problems is found in it. */
  | { readonly kind: 'cel'; readonly says: string }
  | {
      readonly kind: 'json';
      readonly says: string;
      readonly sort: 'anything' | 'map' | 'text';
      /** `${NAME}` in its texts stands for a variable of the environment. */
      readonly template?: true;
    }
  | FieldsShape
  | NamedShape
  | ListShape
  | EitherShape
  /** Stands for a shape that contains itself, or is used often. */
  | { readonly kind: 'again'; readonly name: string; readonly shape: () => Shape };

export interface TextShape {
  readonly kind: 'text';
  readonly says: string;
  readonly oneOf?: readonly string[];
  /** A regular expression without flags, and what it means. */
  readonly pattern?: readonly [source: string, says: string];
  /** `${NAME}` stands for a variable of the environment. */
  readonly template?: true;
}

export interface Field {
  readonly shape: Shape;
  readonly required?: true;
}

export interface ListShape {
  readonly kind: 'list';
  readonly says: string;
  readonly items: Shape;
  readonly least: number;
  readonly most: number;
}

/** A key that somebody may expect here: why there is none, what to do, and the key that then is not missing. */
export interface Stranger {
  readonly says: string;
  readonly fix: string;
  readonly insteadOf?: string;
}

/** These keys and no others. */
export interface FieldsShape {
  readonly kind: 'fields';
  readonly says: string;
  readonly fields: Readonly<Record<string, Field>>;
  /** Exactly one of these is there. */
  readonly oneOf?: readonly string[];
  readonly strangers?: Readonly<Record<string, Stranger>>;
}

/** Any keys of this form, all with the same shape of value. */
export interface NamedShape {
  readonly kind: 'named';
  readonly says: string;
  readonly key: readonly [source: string, says: string];
  readonly values: Shape;
}

/** Told apart by what is written: a text, a map or a list. */
export interface EitherShape {
  readonly kind: 'either';
  readonly says: string;
  readonly text?: Shape;
  readonly map?: Shape;
  /** A map that has any of these fields. */
  readonly mapWith?: FieldsShape;
  readonly list?: Shape;
}

export const nameKey = ['^[A-Za-z0-9_-]{1,64}$', '1 to 64 letters, digits, _ or -'] as const;

export const text = (says: string, more: Omit<TextShape, 'kind' | 'says'> = {}): Shape => ({
  kind: 'text',
  says,
  ...more,
});
export const flag = (says: string): Shape => ({ kind: 'flag', says });
export const count = (says: string, least: number, most: number): Shape => ({ kind: 'count', says, least, most });
export const duration = (says: string, leastMs = 1, mostMs = 86_400_000): Shape => ({
  kind: 'duration',
  says,
  leastMs,
  mostMs,
});
export const cel = (says: string): Shape => ({ kind: 'cel', says });
export const listOf = (says: string, items: Shape, least = 0, most = 1_000): Shape => ({
  kind: 'list',
  says,
  items,
  least,
  most,
});
export const named = (says: string, values: Shape, key: NamedShape['key'] = nameKey): Shape => ({
  kind: 'named',
  says,
  key,
  values,
});
