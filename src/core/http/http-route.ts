/** The type of an entry in the route table, and the limits of paged lists. */
import type { BodyName } from './http-bodies.ts';
import type { Permission } from '../call/identity.ts';
import type { ErrorShape } from '../model/provider-error.ts';

/** How one parameter of a query is written. */
export type QueryField =
  | { readonly kind: 'text' }
  | { readonly kind: 'count'; readonly max: number }
  | { readonly kind: 'seconds' }
  | { readonly kind: 'choice'; readonly of: readonly string[] }
  /** `epoch.seq` of a record. */
  | { readonly kind: 'position' };

export interface HttpRoute {
  readonly method: 'GET' | 'POST';
  /** `{id}` stands for one segment. */
  readonly path: string;
  /** What the key must permit; `key` for any valid key, null for no key. */
  readonly needs: Permission | 'key' | null;
  readonly summary: string;
  readonly query: Readonly<Record<string, QueryField>>;
  /** Null if none is read. */
  readonly body: BodyName | null;
  /** What a success is: a body of components.schemas, a reply of a call, or text that is no JSON. */
  readonly answer: BodyName | 'Reply' | 'text/event-stream' | 'text/plain';
  /** Errors are in the words of a provider of models, not problems. */
  readonly errors?: ErrorShape;
}

/** How many a page of a list holds at most, and if nobody says how many. */
export const maxPage = 200;
export const defaultPage = 50;
/** The longest wait that a query can name. */
export const maxWaitSeconds = 86_400;

export const text = { kind: 'text' } as const;
export const limit = { kind: 'count', max: maxPage } as const;
