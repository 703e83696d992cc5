/**
 * Reads a request in the order in which a client may learn things: headers, Host and Origin, route, readiness, key,
 * role, query, body. Each step returns what it read, or the answer that refuses it. Decides nothing about a call.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { refused } from '../../core/call/answer.ts';
import type { CallId } from '../../core/call/call.ts';
import type { FieldError } from '../../core/call/catalogue.ts';
import { type Identity, may } from '../../core/call/identity.ts';
import type { Readiness } from '../../core/gates/facts.ts';
import { notReady as refusalOf } from '../../core/gates/ready.ts';
import { whyUnknown, whyUnknownToModels } from '../../core/http/door-problems.ts';
import { requestBodies, type RequestName } from '../../core/http/http-bodies.ts';
import { httpRoutes, type HttpRoute, type RouteName } from '../../core/http/http-routes.ts';
import { repeatedHeader } from '../../core/http/repeated-header.ts';
import { compileSchema } from '../../core/schema/compile-schema.ts';
import { type Json, parseExactly } from '../../core/values/json.ts';
import { invariant } from '../../core/values/unreachable.ts';
import { isJson, readBody } from '../shared/read-body.ts';
import { type Answer, refuse, refuseInput, reply } from './answer.ts';
import { checkOrigin } from './check-origin.ts';
import { identify } from './console/identify.ts';
import { findRoute, type Query, readQuery } from './find-route.ts';
import type { HttpDoorOptions, HttpDoorParts, Stranger } from './parts.ts';

export interface Routed {
  readonly name: RouteName;
  readonly route: HttpRoute;
  readonly id: string;
  readonly search: string;
}

/** What is checked of every request, before anything else is read. */
export function refuseHeaders(
  { headers, rawHeaders }: IncomingMessage,
  parts: HttpDoorParts,
  settings: HttpDoorOptions,
): Answer | null {
  const twice = repeatedHeader(rawHeaders);
  if (twice !== null) {
    const wrong = { path: `/headers/${twice}`, expected: 'sent once', got: null };
    return refuseInput(null, [wrong], parts);
  }
  const problem = checkOrigin(headers, settings);
  return problem === null ? null : { kind: 'problem', problem };
}

export function readRoute(
  { method = '', url = '' }: IncomingMessage,
  readiness: Readiness,
  { newCallId }: HttpDoorParts,
  { maxNameChars }: HttpDoorOptions,
): Routed | Answer {
  const found = findRoute(method, url, maxNameChars);
  const route: HttpRoute | null = found.kind === 'route' ? httpRoutes[found.name] : null;
  if (!readiness.ready && route?.needs !== null) {
    // In the form of a refused call, so that a client needs no other.
    const envelope = { requested: null, callId: newCallId() as CallId, session: null, nextActions: [] };
    return reply(refused(envelope, refusalOf(readiness)));
  }
  if (found.kind === 'no_path') return unknownPath();
  if (found.kind === 'no_method')
    return refuse('MethodNotAllowed', `use ${found.allow.join(' or ')}`, { allow: found.allow.join(', ') });
  invariant(route !== null, 'what was found is a route');
  return { name: found.name, route, id: found.id, search: found.search };
}

export const unknownPath = (): Answer =>
  refuse('NoSuchPath', 'nothing is at this path; GET /v1/openapi.json lists what there is');

/** The identity on routes that need no key. */
const nobody: Identity = { tenant: '', role: 'viewer', name: '', keyId: null };
const retrySoon = { 'retry-after': '2' };
const challenge = { 'www-authenticate': 'Bearer realm="recourse"' };

export async function readIdentity(
  request: IncomingMessage,
  { needs, errors }: HttpRoute,
  parts: HttpDoorParts,
): Promise<Identity | Answer> {
  if (needs === null) return nobody;
  const isForModels = errors !== undefined;
  const who = await identify(request, isForModels, parts);
  if (who === 'other_origin')
    return refuse('OriginForbidden', 'only the page of the console itself may use its cookie');
  if ('problem' in who) return refuseStranger(who, isForModels ? whyUnknownToModels : whyUnknown);
  if (parts.admit?.(request, who) === false)
    return refuse('TooManyConnections', 'too many connections of this holder of keys are open: close some', retrySoon);
  if (needs !== 'key' && !may(who, needs))
    return refuse('RoleForbidden', `a key with the role '${who.role}' may not do that`);
  return who;
}

function refuseStranger({ problem }: Stranger, why: Readonly<Record<Stranger['problem'], string>>): Answer {
  if (problem !== 'unavailable') return refuse('Unauthenticated', why[problem], challenge);
  return refuse('KeysUnavailable', why.unavailable, retrySoon);
}

/** Null if the client is gone. */
export async function readInput(
  request: IncomingMessage,
  { name, route, search }: Routed,
  parts: HttpDoorParts,
  settings: HttpDoorOptions,
): Promise<{ readonly query: Query; readonly body: unknown } | Answer | null> {
  const { query, errors } = readQuery(search, route.query, settings.maxNameChars);
  if (errors.length > 0) return refuseInput(name, errors, parts);
  const { body: schema } = route;
  if (schema === null) return { query, body: undefined };
  const hasBody = isAnnounced(request);
  if (hasBody && !isJson(request.headers['content-type']))
    return refuse('UnsupportedMediaType', 'send the body as application/json');
  const maxBodyBytes = schema === 'ModelRequest' ? settings.maxModelBodyBytes : settings.maxBodyBytes;
  const read = hasBody ? await readBody(request, { ...settings, maxBodyBytes }, parseUtf8) : noBody;
  if (read.kind === 'broken') return null;
  if (read.kind !== 'json' && read.kind !== 'none') return refuseBody(read.kind, name, parts, maxBodyBytes);
  const value = read.kind === 'json' ? read.value : undefined;
  if (checkedByGateway.has(schema)) return { query, body: value };
  const body = value === undefined ? {} : value;
  const wrong = wrongInBody(body, schema as RequestName);
  return wrong.length > 0 ? refuseInput(name, wrong, parts) : { query, body };
}

const checkedByGateway: ReadonlySet<string> = new Set(['CallRequest', 'StepRequest', 'ModelRequest']);
const noBody = { kind: 'none' } as const;
/** The rest of the body is not waited for. */
const closeConnection = { connection: 'close' };

const isAnnounced = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** Decoding would replace bytes that are not UTF-8 with other characters, so they are refused. */
function parseUtf8(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new SyntaxError('not UTF-8');
  return parseExactly(bytes.toString('utf8'));
}

function refuseBody(
  kind: 'stalled' | 'too_large' | 'not_json',
  name: RouteName,
  parts: HttpDoorParts,
  maxBodyBytes: number,
): Answer {
  if (kind === 'stalled') return refuse('RequestTimeout', 'send the whole body sooner', closeConnection);
  if (kind === 'not_json') return refuseInput(null, [{ path: '', expected: 'JSON in UTF-8', got: null }], parts);
  const wrong = { path: '', expected: `a body of at most ${maxBodyBytes} bytes`, got: null };
  return { ...refuseInput(name, [wrong], parts, 'InputTooLarge'), headers: closeConnection };
}

type Check = (value: Json) => readonly FieldError[];
const checks = new Map<RequestName, Check>();

/** Checks a body against its published schema. */
function wrongInBody(value: unknown, name: RequestName): readonly FieldError[] {
  const known = checks.get(name);
  if (known !== undefined) return known(value as Json);
  const compiled = compileSchema(requestBodies[name]);
  invariant(compiled.ok, `the schema of ${name} can be compiled`);
  checks.set(name, compiled.check);
  return compiled.check(value as Json);
}
