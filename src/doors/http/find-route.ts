/**
 * Finds the route of a method and a target, and reads the query by the fields of that route. Does not know who asks.
 */
import type { FieldError } from '../../core/call/catalogue.ts';
import { maxWaitSeconds } from '../../core/http/http-route.ts';
import {
  httpRoutes,
  type HttpRoute,
  type QueryField,
  type RouteName,
  routeNames,
} from '../../core/http/http-routes.ts';
import { unreachable } from '../../core/values/unreachable.ts';

export type QueryValue = string | number;
export type Query = Readonly<Record<string, QueryValue>>;

export type FoundRoute =
  | { readonly kind: 'route'; readonly name: RouteName; readonly id: string; readonly search: string }
  | { readonly kind: 'no_method'; readonly allow: readonly string[] }
  | { readonly kind: 'no_path' };

interface Place {
  readonly methods: Readonly<Record<string, RouteName>>;
  readonly allow: readonly string[];
}

/** `{id}` is the third segment wherever there is one, so a path without it is its own name. */
const places = new Map<string, Place>();
for (const name of routeNames) {
  const { method, path }: HttpRoute = httpRoutes[name];
  const before = places.get(path)?.methods ?? {};
  const methods = { ...before, [method]: name, ...(method === 'GET' ? { HEAD: name } : {}) };
  places.set(path, { methods, allow: Object.keys(methods).toSorted() });
}

const outsideV1 = new Set([...places.keys()].filter((path) => !path.startsWith('/v1/')));

/** Whether this target belongs to the door. */
export function isOurs(target: string): boolean {
  const path = pathOf(target);
  return path === '/v1' || path.startsWith('/v1/') || outsideV1.has(path);
}

export const pathOf = (target: string): string => {
  const end = target.indexOf('?');
  return end < 0 ? target : target.slice(0, end);
};

export function findRoute(method: string, target: string, maxIdChars: number): FoundRoute {
  const path = pathOf(target);
  const search = target.slice(path.length + 1);
  const plain = places.get(path);
  if (plain !== undefined && !path.includes('{')) return pick(plain, method, '', search);
  const [, version, kind, id = '', ...rest] = path.split('/');
  const place = places.get(['', version, kind, '{id}', ...rest].join('/'));
  const read = id === '' || id.length > maxIdChars * 3 ? null : decoded(id);
  if (place === undefined || read === null || read.length > maxIdChars) return { kind: 'no_path' };
  return pick(place, method, read, search);
}

function pick({ methods, allow }: Place, method: string, id: string, search: string): FoundRoute {
  const name = Object.hasOwn(methods, method) ? methods[method] : undefined;
  return name === undefined ? { kind: 'no_method', allow } : { kind: 'route', name, id, search };
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

/** Reports every wrong parameter, unknown ones included. */
export function readQuery(
  search: string,
  fields: Readonly<Record<string, QueryField>>,
  maxChars: number,
): { readonly query: Query; readonly errors: readonly FieldError[] } {
  if (search === '') return nothing;
  const query: Record<string, QueryValue> = {};
  const errors: FieldError[] = [];
  const known = Object.keys(fields);
  for (const [name, value] of new URLSearchParams(search)) {
    if (errors.length >= maxErrors) break;
    const shown = name.slice(0, maxShown);
    const wrong = (expected: string) =>
      void errors.push({
        path: `/${shown.replaceAll('~', '~0').replaceAll('/', '~1')}`,
        expected,
        got: value.slice(0, maxShown),
      });
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) wrong(known.length === 0 ? 'left out' : `one of: ${known.join(', ')}`);
    else if (Object.hasOwn(query, name)) wrong('given once');
    else {
      const read = readField(value, field, maxChars);
      if (read === null) wrong(expectedOf(field, maxChars));
      else query[name] = read;
    }
  }
  return { query, errors };
}

const nothing = { query: {}, errors: [] } as const;
const maxErrors = 20;
const maxShown = 80;

function readField(value: string, field: QueryField, maxChars: number): QueryValue | null {
  switch (field.kind) {
    case 'text':
      return value !== '' && value.length <= maxChars && value.isWellFormed() ? value : null;
    case 'count':
      return /^\d{1,16}$/.test(value) && Number(value) <= field.max ? Number(value) : null;
    case 'seconds':
      return isNumber.test(value) && Number(value) <= maxWaitSeconds ? Number(value) : null;
    case 'choice':
      return field.of.includes(value) ? value : null;
    case 'position':
      return isPosition(value) ? value : null;
    default:
      return unreachable(field);
  }
}

/** A non-negative number in JSON notation. */
const isNumber = /^(?:0|[1-9]\d{0,15})(?:\.\d{1,32})?(?:e[+-]?\d{1,3})?$/i;

export const isPosition = (text: string): boolean => /^\d{1,15}\.\d{1,15}$/.test(text);

function expectedOf(field: QueryField, maxChars: number): string {
  switch (field.kind) {
    case 'text':
      return `a text of 1 to ${maxChars} characters`;
    case 'count':
      return `a whole number from 0 to ${field.max}`;
    case 'seconds':
      return `seconds from 0 to ${maxWaitSeconds}`;
    case 'choice':
      return `one of: ${field.of.join(', ')}`;
    case 'position':
      return 'the position of a record, such as 3.17';
    default:
      return unreachable(field);
  }
}
