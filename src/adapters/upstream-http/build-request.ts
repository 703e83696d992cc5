/**
 * Builds the HTTP request of one attempt from its plan and its arguments. Refuses what cannot be sent as it was meant:
 * a missing or empty path argument, a dot segment, a header that is not one line. Pure.
 */
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { type HttpRequest, loginIn, reservedHeaders } from '../shared/http/http-request.ts';
import type { HttpTarget, KeyPlace } from './http-config.ts';
import {
  argument,
  type BodyEncoding,
  type ParameterStyle,
  plainText,
  type PlannedParameter,
  type RequestPlan,
} from './plan-request.ts';

export type BuiltRequest =
  | { readonly ok: true; readonly request: HttpRequest }
  | { readonly ok: false; readonly problem: string };

type Built<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly problem: string };

const built = <Value>(value: Value): Built<Value> => ({ ok: true, value });
const refused = (problem: string) => ({ ok: false, problem }) as const;

/** `key`: null for a tool that only reads. */
export function buildRequest(
  target: HttpTarget,
  plan: RequestPlan,
  args: JsonObject,
  key: string | null,
): BuiltRequest {
  const rest = Object.entries(args).filter(([name]) => !plan.used.has(name));
  const path = fillPath(plan, args);
  if (!path.ok) return path;
  const url = new URL(target.url);
  const pairs = plan.query.flatMap((parameter) => queryPairs(parameter, args));
  if (plan.restInQuery) pairs.push(...rest.flatMap(([name, value]) => pairsOf(name, value, 'repeat')));
  url.pathname = joinPaths(url.pathname, path.value);
  if (hasDotSegment(url, target, path.value)) return refused('an argument would change the path of the request');
  for (const [name, value] of pairs) url.searchParams.append(name, value);
  const place = key === null ? ({ kind: 'none' } as const) : target.key;
  const body = fillBody(plan, args, Object.fromEntries(rest), place, key ?? '');
  if (!body.ok) return body;
  const headers = fillHeaders(target, plan, args, body.value.type);
  if (!headers.ok) return headers;
  if (key !== null && place.kind === 'header') headers.value.set(place.name.toLowerCase(), key);
  const { method } = plan;
  const hasKey = place.kind !== 'none';
  return { ok: true, request: { method, url, headers: headers.value, body: body.value.text, hasKey } };
}

function fillPath({ path }: RequestPlan, args: JsonObject): Built<string> {
  let text = '';
  for (const part of path) {
    if (part.kind === 'text') {
      text += encodeLiteral(part.text);
      continue;
    }
    const value = argument(args, part.name);
    const items = Array.isArray(value) ? (value as readonly Json[]) : [value];
    const isPlain = items.every((item) => ['string', 'number', 'boolean'].includes(typeof item));
    if (value === undefined || value === null) return refused(`the argument '${part.name}' of the path is missing`);
    const written = items.map((item) => encodeURIComponent(String(item).toWellFormed())).join(',');
    if (!isPlain || written === '') return refused(`the argument '${part.name}' of the path is no text`);
    text += written;
  }
  return built(text);
}

/** What is encoded in a template already stays so. */
function encodeLiteral(text: string): string {
  const encoded = encodeURI(text.toWellFormed()).replaceAll('?', '%3F').replaceAll('#', '%23');
  return encoded.replaceAll(/%25([0-9A-Fa-f]{2})/g, '%$1');
}

function joinPaths(base: string, path: string): string {
  if (path === '') return base;
  return `${base.replace(/\/$/, '')}${path.startsWith('/') ? '' : '/'}${path}`;
}

/** INVARIANT: an argument stays one segment of the path. Parsing an address removes `.` and `..`, also encoded ones. */
function hasDotSegment(url: URL, target: HttpTarget, path: string): boolean {
  return url.pathname !== joinPaths(new URL(target.url).pathname, path);
}

function queryPairs(
  { name, value, style }: PlannedParameter,
  args: JsonObject,
): readonly (readonly [string, string])[] {
  const filled = value(args);
  return filled === undefined ? [] : pairsOf(name, filled, style);
}

const separators: Readonly<Partial<Record<ParameterStyle, string>>> = { comma: ',', space: ' ', pipe: '|' };

function pairsOf(name: string, value: Json, style: ParameterStyle): readonly (readonly [string, string])[] {
  if (style === 'deep') return deepPairs(name, value);
  if (value === null) return [];
  if (!Array.isArray(value) || style === 'json') return [[name, plainText(value)]];
  const items = (value as readonly Json[]).map(plainText);
  return style === 'repeat' ? items.map((item) => [name, item]) : [[name, items.join(separators[style] ?? ',')]];
}

/** `a[b][0]=c`, as many APIs take forms and filters. */
function deepPairs(name: string, value: Json): readonly (readonly [string, string])[] {
  if (value === null) return [[name, '']];
  if (typeof value !== 'object') return [[name, plainText(value)]];
  return Object.entries(value).flatMap(([key, each]) => deepPairs(`${name}[${key}]`, each as Json));
}

interface WrittenBody {
  readonly text: string | null;
  readonly type: string | null;
}

const noBody: WrittenBody = { text: null, type: null };

function fillBody(
  { body }: RequestPlan,
  args: JsonObject,
  rest: JsonObject,
  place: KeyPlace,
  key: string,
): Built<WrittenBody> {
  const isField = place.kind === 'field';
  if (body.kind === 'none') return isField ? refused('the request has no body for its key') : built(noBody);
  const value = body.kind === 'rest' ? rest : body.value(args);
  if (!isField) return built(value === undefined ? noBody : writeBody(value, body.encoding, body.deep));
  if (value !== undefined && !isObject(value)) return refused('the body of the request has no fields for its key');
  return built(writeBody({ ...value, [place.name]: key }, body.encoding, body.deep));
}

function writeBody(value: Json, encoding: BodyEncoding, deep: ReadonlySet<string>): WrittenBody {
  if (encoding === 'json') return { text: JSON.stringify(value), type: 'application/json' };
  const fields = isObject(value) ? Object.entries(value as JsonObject) : [];
  const pairs = fields.flatMap(([name, each]) => pairsOf(name, each, deep.has(name) ? 'deep' : 'repeat'));
  const text = new URLSearchParams(pairs.map(([name, each]): [string, string] => [name, each])).toString();
  return { text, type: 'application/x-www-form-urlencoded' };
}

const oneLine = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

function fillHeaders(
  target: HttpTarget,
  plan: RequestPlan,
  args: JsonObject,
  bodyType: string | null,
): Built<Map<string, string>> {
  const headers = new Map([
    ['accept', 'application/json, */*;q=0.5'],
    ['accept-encoding', 'identity'],
    ['user-agent', 'recourse'],
  ]);
  if (bodyType !== null) headers.set('content-type', bodyType);
  const login = loginIn(target.url);
  if (login !== null) headers.set('authorization', login);
  for (const [name, value] of Object.entries(target.headers)) headers.set(name.toLowerCase(), value);
  for (const { name, value, style } of plan.headers) {
    const [pair] = pairsOf(name, value(args) ?? null, style);
    if (pair === undefined) continue;
    if (!oneLine.test(pair[1])) return refused(`the header '${name}' would not be one line of plain characters`);
    headers.set(name.toLowerCase(), pair[1]);
  }
  for (const name of reservedHeaders) headers.delete(name);
  return built(headers);
}
