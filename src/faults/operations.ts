/** The operations of the faulty upstream as data: HTTP routes, MCP tools and the OpenAPI document are made from it. */
import { compileSchema } from '../core/schema/compile-schema.ts';
import type { JsonObject } from '../core/values/json.ts';

export interface Operation {
  readonly says: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** A name in braces is an argument. */
  readonly path: string;
  readonly takes: readonly (keyof typeof fields)[];
  readonly gives: readonly (keyof typeof fields)[];
  readonly keyed?: true;
}

const id = { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' };
const amount = { type: 'integer', minimum: 1, maximum: 100_000_000 };
const refund = {
  type: 'object',
  properties: { id, amount, key: { type: ['string', 'null'] } },
  required: ['id', 'amount', 'key'],
};
const fields = {
  id,
  order: id,
  amount,
  text: { type: 'string', minLength: 1, maxLength: 1_000 },
  refunded: { type: 'integer' },
  refunds: { type: 'array', items: refund },
  cancelled: { type: 'boolean' },
} as const;

export const operations = {
  refund: {
    says: 'Refunds an amount of an order. Deduplicates by Idempotency-Key.',
    method: 'POST',
    path: '/refunds',
    takes: ['order', 'amount'],
    gives: ['id', 'order', 'amount'],
    keyed: true,
  },
  find_refund: {
    says: 'Lists the refunds of an order: tells whether one happened.',
    method: 'GET',
    path: '/refunds',
    takes: ['order'],
    gives: ['order', 'refunds'],
  },
  get_order: {
    says: 'Reads an order, with the sum of its refunds. Every order exists.',
    method: 'GET',
    path: '/orders/{order}',
    takes: ['order'],
    gives: ['order', 'refunded'],
  },
  add_note: {
    says: 'Adds a note to an order. Deduplicates nothing.',
    method: 'POST',
    path: '/notes',
    takes: ['order', 'text'],
    gives: ['id', 'order', 'text'],
  },
  cancel_refund: {
    says: 'Cancels a refund by its id.',
    method: 'DELETE',
    path: '/refunds/{id}',
    takes: ['id'],
    gives: ['id', 'cancelled'],
  },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;
export const operationNames = Object.keys(operations) as readonly OperationName[];

const schemaOf = (names: readonly (keyof typeof fields)[]) => ({
  type: 'object' as const,
  properties: Object.fromEntries(names.map((name) => [name, fields[name]])),
  required: [...names],
  additionalProperties: false,
});

/** As MCP lists them. */
export const tools = operationNames.map((name) => ({
  name,
  description: operations[name].says,
  inputSchema: schemaOf(operations[name].takes),
  outputSchema: schemaOf(operations[name].gives),
  annotations: { readOnlyHint: operations[name].method === 'GET' },
}));

const checks = new Map(tools.map((tool) => [tool.name, compileSchema(tool.inputSchema)]));

/** What is wrong with the arguments, in a sentence; null if they are usable. */
export function wrongArgs(name: OperationName, args: JsonObject): string | null {
  const compiled = checks.get(name);
  const errors = compiled?.ok === true ? compiled.check(args) : [];
  return errors.length === 0 ? null : errors.map(({ path, expected }) => `${path}: expected ${expected}`).join('; ');
}

/** The operation of a request over HTTP, and the arguments in its address. */
export function routeOf(method: string, url: URL): { operation: OperationName; args: JsonObject } | null {
  for (const name of operationNames) {
    const { method: expected, path, takes } = operations[name];
    if (expected !== method) continue;
    const pattern = new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[\\w-]{1,64})')}$`);
    const match = pattern.exec(url.pathname);
    if (match === null) continue;
    const query = method === 'GET' ? takes.filter((each) => url.searchParams.has(each)) : [];
    const args = Object.fromEntries(query.map((each) => [each, url.searchParams.get(each)]));
    return { operation: name, args: { ...args, ...match.groups } };
  }
  return null;
}

export function openApi(server: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const name of operationNames) {
    const operation: Operation = operations[name];
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = {
      operationId: name,
      summary: operation.says,
      ...requestOf(operation),
      responses: {
        200: { description: 'done', content: jsonOf(schemaOf(operation.gives)) },
        default: { description: 'a problem', content: { 'application/problem+json': { schema: { type: 'object' } } } },
      },
    };
  }
  const info = { title: 'recourse faults', version: '1', description: 'A payment service with faults on demand.' };
  return { openapi: '3.1.0', info, servers: [{ url: server }], paths };
}

function requestOf({ method, path, takes, keyed }: Operation): object {
  if (method === 'POST') {
    const key = { name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', maxLength: 255 } };
    const body = { requestBody: { required: true, content: jsonOf(schemaOf(takes)) } };
    return keyed === true ? { ...body, parameters: [key] } : body;
  }
  const placeOf = (name: string) => (path.includes(`{${name}}`) ? 'path' : 'query');
  return {
    parameters: takes.map((name) => ({ name, in: placeOf(name), required: true, schema: fields[name] })),
  };
}

const jsonOf = (schema: object) => ({ 'application/json': { schema } });
