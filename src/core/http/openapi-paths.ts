/** Builds the whole OpenAPI document from openapi.ts and the routes of http-routes.ts. */
import { answerBodies, type BodyName, requestBodies, type RequestName } from './http-bodies.ts';
import { maxWaitSeconds } from './http-route.ts';
import { httpRoutes, type HttpRoute, type QueryField, routeNames } from './http-routes.ts';
import { openapiComponents, type OpenApiDocument, ref, responseName, responseStatuses } from './openapi.ts';
import type { Schema } from './reply-schema.ts';
import { unreachable } from '../values/unreachable.ts';

export function openapiDocument(): OpenApiDocument {
  const { components, ...rest } = openapiComponents();
  return {
    ...rest,
    paths: paths(),
    components: {
      ...components,
      schemas: { ...components.schemas, ...requestBodies, ...answerBodies(ref) },
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      },
    },
  };
}

function paths(): Readonly<Record<string, Schema>> {
  const found: Record<string, Record<string, Schema>> = {};
  for (const name of routeNames) {
    const route: HttpRoute = httpRoutes[name];
    (found[route.path] ??= {})[route.method.toLowerCase()] = operation(name, route);
  }
  return found;
}

function operation(name: string, route: HttpRoute): Schema {
  const headers = callHeaders[route.body ?? ''] ?? [];
  const parameters = [
    ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, id]) => parameter(id ?? '', 'path', { type: 'string' }, true)),
    ...Object.entries(route.query).map(([field, kind]) => parameter(field, 'query', querySchema(kind), false)),
    ...headers,
    ...(route.answer === 'text/event-stream' ? [parameter('Last-Event-ID', 'header', lastEventSchema, false)] : []),
  ];
  return {
    operationId: name,
    summary: route.summary,
    security: route.needs === null ? [] : [{ key: [] }, ...(route.errors === undefined ? [] : [{ apiKey: [] }])],
    ...(route.needs === null ? {} : { 'x-needs': route.needs }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === null ? {} : { requestBody: bodyOf(route.body) }),
    responses: { ...answers(route), ...refusals(route) },
  };
}

const nameSchema: Schema = { type: 'string', minLength: 1, maxLength: 256 };
const keyHeader = parameter('Idempotency-Key', 'header', nameSchema, false);
// What cannot be understood in it is not asked for (RFC 7240).
const preferHeader = parameter('Prefer', 'header', { type: 'string', examples: ['wait=10'] }, false);
const callHeaders: Readonly<Record<string, readonly Schema[]>> = {
  CallRequest: [keyHeader, preferHeader],
  StepRequest: [keyHeader, preferHeader],
  ModelRequest: [
    keyHeader,
    parameter('Recourse-Session', 'header', nameSchema, false),
    parameter('Recourse-Turn', 'header', nameSchema, false),
  ],
};

function parameter(name: string, place: 'path' | 'query' | 'header', schema: Schema, required: boolean): Schema {
  return { name, in: place, required, schema };
}

const positionSchema: Schema = { type: 'string', pattern: '^[0-9]{1,15}\\.[0-9]{1,15}$' };
/** An empty one is none. */
const lastEventSchema: Schema = { type: 'string', pattern: '^(?:[0-9]{1,15}\\.[0-9]{1,15})?$' };

function querySchema(field: QueryField): Schema {
  switch (field.kind) {
    case 'text':
      return { type: 'string', minLength: 1 };
    case 'count':
      return { type: 'integer', minimum: 0, maximum: field.max };
    case 'seconds':
      return { type: 'number', minimum: 0, maximum: maxWaitSeconds };
    case 'choice':
      return { enum: field.of };
    case 'position':
      return positionSchema;
    default:
      return unreachable(field);
  }
}

function bodyOf(name: BodyName): Schema {
  const schema: Schema = name in requestBodies ? requestBodies[name as RequestName] : {};
  // What has no required member may be left out altogether.
  const required = Array.isArray(schema['required']) && schema['required'].length > 0;
  return { required, content: { 'application/json': { schema: ref(name) } } };
}

function answers({ answer, path }: HttpRoute): Readonly<Record<string, Schema>> {
  if (answer === 'Reply') return { 200: shared(200), 202: shared(202) };
  const content = contentOf(answer);
  const success = { 200: { description: 'success', content } };
  return path === '/readyz' ? { ...success, 503: { description: 'not ready', headers: retryAfter, content } } : success;
}

function contentOf(answer: Exclude<HttpRoute['answer'], 'Reply'>): Schema {
  if (answer === 'ModelAnswer')
    return {
      'application/json': { schema: ref(answer) },
      'text/event-stream': { schema: { type: 'string' } },
    };
  if (answer === 'text/plain') return { [answer]: { schema: { type: 'string' } } };
  if (answer === 'text/event-stream') return { [answer]: { schema: ref('StreamEvent') } };
  return { 'application/json': { schema: ref(answer) } };
}

const retryAfter = { 'Retry-After': { schema: { type: 'integer', minimum: 0 } } };
const shared = (status: number): Schema => ({ $ref: `#/components/responses/${responseName(status)}` });

const providerError: Schema = {
  description: 'a refusal or a failure, in the words of the provider',
  content: { 'application/json': { schema: ref('ProviderError') } },
};

/** Whoever needs no key and sends nothing can only be turned away. */
const withoutKey: readonly number[] = [400, 403, 405, 408, 422, 431];

/** Whatever may go wrong with any call may go wrong on any route with a key. */
function refusals(route: HttpRoute): Readonly<Record<string, Schema>> {
  const all = responseStatuses().filter((status) => status >= 400);
  if (route.errors !== undefined) return Object.fromEntries(all.map((status) => [String(status), providerError]));
  const here = route.needs === null && route.body === null ? withoutKey : all;
  const found = Object.fromEntries(here.map((status) => [String(status), shared(status)]));
  if (route.answer !== 'PolicyApplied') return found;
  const either = { oneOf: [ref('ValidationFailedProblem'), ref('PolicyRefused')] };
  const content = { 'application/problem+json': { schema: either } };
  return { ...found, 422: { description: 'the policy is not valid; nothing changed', content } };
}
