/**
 * The OpenAPI 3.1 document without its paths, built from the taxonomy and the door's problems. Lists only statuses
 * that http-status.ts or door-problems.ts give.
 */
import { doorCodesOf, doorProblems } from './door-problems.ts';
import { statusesOf } from './http-status.ts';
import {
  type Beside,
  definitionName,
  errorBranch,
  errorNames,
  type Ref,
  replyDefinitions,
  type Schema,
} from './reply-schema.ts';
import { closedObject } from './reply-schema-fields.ts';
import { errors, type ErrorCode, type ErrorName } from '../taxonomy.ts';

export const ref: Ref = (definition) => ({ $ref: `#/components/schemas/${definition}` });

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

/** Where there is no call: no `error`, and a code of the door itself. */
const doorProblemSchema: Schema = closedObject({
  type: { type: 'string', format: 'uri-reference' },
  title: { type: 'string' },
  status: { type: 'integer' },
  detail: { type: 'string' },
  code: { enum: Object.keys(doorProblems) },
});

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Schema>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Schema>>;
    readonly securitySchemes?: Readonly<Record<string, Schema>>;
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
    DoorProblem: doorProblemSchema,
  };
}

/** Every status that an answer can have, in order. */
export function responseStatuses(): readonly number[] {
  const doors = Object.values(doorProblems).map(({ status }) => status);
  const statuses = new Set([200, 202, ...doors, ...errorNames.flatMap((name) => allStatuses(name))]);
  return [...statuses].toSorted((a, b) => a - b);
}

function responses(): Readonly<Record<string, Schema>> {
  return Object.fromEntries(responseStatuses().map((status) => [responseName(status), response(status)]));
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
  const own = doorCodesOf(status);
  const door = { allOf: [ref('DoorProblem'), { properties: { code: { enum: own } } }] };
  const problems = [
    ...failures.map((name) => restricted(name, status, 'Problem')),
    ...(own.length === 0 ? [] : [door]),
  ];
  const said = [...titles, ...own.map((code) => `${code}: ${doorProblems[code].title.toLowerCase()}`)];
  return {
    description: said.join('; '),
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
