/**
 * What can an HTTP caller expect: which bodies, with which status?
 * An OpenAPI 3.1 document without paths; the HTTP door adds its own. All of it comes from the taxonomy.
 * Must not describe a status that http-status.ts does not give.
 */
import { statusesOf } from './http-status.ts';
import { definitionName, errorBranch, errorNames, replyDefinitions } from './reply-schema.ts';
import type { Beside, Ref, Schema } from './reply-schema.ts';
import { errors, type ErrorCode, type ErrorName } from './taxonomy.ts';

const ref: Ref = (definition) => ({ $ref: `#/components/schemas/${definition}` });

/** What RFC 9457 puts beside the reply's own members. */
const problemMembers: Beside = {
  properties: {
    type: { type: 'string', format: 'uri-reference' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string', format: 'uri-reference' },
  },
  optional: ['detail', 'instance'],
};

const retryAfter: Schema = {
  description: 'Whole seconds until it makes sense to ask again.',
  schema: { type: 'integer', minimum: 0 },
};

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Schema>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Schema>>;
  };
}

export function openapiComponents(): OpenApiDocument {
  return {
    openapi: '3.1.0',
    info: {
      title: 'recourse-gateway',
      version: '1',
      description: 'One typed reply for every tool call. The body decides; the status only repeats what it says.',
    },
    paths: {},
    components: { schemas: schemas(), responses: responses() },
  };
}

/** The name under which components.responses holds the response of a status. */
export function responseName(status: number): string {
  return `Status${status}`;
}

function schemas(): Readonly<Record<string, Schema>> {
  const definitions = replyDefinitions(ref);
  const mapping = errorNames.map((name) => [name, ref(definitionName(name, 'Reply'))['$ref']] as const);
  const discriminator = { propertyName: 'error', mapping: Object.fromEntries(mapping) };
  const problems = errorNames.map(
    (name) => [definitionName(name, 'Problem'), errorBranch(name, ref, problemMembers)] as const,
  );
  return {
    ...definitions,
    ErrorReply: { ...definitions['ErrorReply'], discriminator },
    ...Object.fromEntries(problems),
  };
}

function responses(): Readonly<Record<string, Schema>> {
  const statuses = [...new Set([200, 202, ...errorNames.flatMap((name) => allStatuses(name))])];
  const entries = statuses.toSorted((a, b) => a - b).map((status) => [responseName(status), response(status)] as const);
  return Object.fromEntries(entries);
}

function allStatuses(name: ErrorName): readonly number[] {
  return errors[name].codes.flatMap((code) => statusesOf(name, code));
}

function response(status: number): Schema {
  const failures = errorNames.filter((name) => allStatuses(name).includes(status));
  const titles = failures.map((name) => `${name}: ${errors[name].title.toLowerCase()}`);
  const waits = status === 429 || status === 503 ? { headers: { 'Retry-After': retryAfter } } : {};
  // A call that is held or goes on is no problem yet, so 2xx is plain JSON.
  if (status < 300) {
    const replies = failures.map((name) => restricted(name, status, 'Reply'));
    const plain = status === 200 ? [ref('SuccessReply')] : [ref('PendingReply'), ...replies];
    const description = status === 200 ? 'success' : ['pending', ...titles].join('; ');
    return { description, content: { 'application/json': { schema: either(plain) } } };
  }
  const problems = failures.map((name) => restricted(name, status, 'Problem'));
  return {
    description: titles.join('; '),
    ...waits,
    content: { 'application/problem+json': { schema: either(problems) } },
  };
}

/** The branch of an error name, narrowed to the codes that have this status. */
function restricted(name: ErrorName, status: number, suffix: 'Reply' | 'Problem'): Schema {
  const all: readonly ErrorCode[] = errors[name].codes;
  const here = all.filter((code) => statusesOf(name, code).includes(status));
  const branch = ref(definitionName(name, suffix));
  return here.length === all.length ? branch : { allOf: [branch, { properties: { code: { enum: here } } }] };
}

function either(options: readonly Schema[]): Schema {
  return options.length === 1 && options[0] !== undefined ? options[0] : { oneOf: options };
}
