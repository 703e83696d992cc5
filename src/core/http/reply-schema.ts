/** The JSON Schema (2020-12) of replies: one closed branch for each kind, built from the taxonomy. */
import {
  always,
  anything,
  closedObject,
  errorFieldSchemas,
  listOf,
  notNegative,
  oneOfNames,
  pairsOfClassAndCode,
  sharedDefinitions,
  text,
  textOrNull,
  texts,
  wholeNumber,
  type Ref,
  type Schema,
} from './reply-schema-fields.ts';
import { codes, effects, errors, type ErrorCode, type ErrorName } from '../taxonomy.ts';
import { invariant } from '../values/unreachable.ts';

export type { Ref, Schema } from './reply-schema-fields.ts';

export const errorNames = Object.keys(errors) as readonly ErrorName[];

/** The whole schema, as published in docs/reference/reply.schema.json. */
export function replySchema(): Schema {
  const ref: Ref = (definition) => ({ $ref: `#/$defs/${definition}` });
  const { Reply, ...definitions } = replyDefinitions(ref);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:recourse:reply',
    title: 'Reply',
    description: 'What a caller gets back from the gateway, on every door.',
    ...Reply,
    $defs: definitions,
  };
}

/** Every definition by name, the union of all replies under `Reply`. */
export function replyDefinitions(ref: Ref): Readonly<Record<string, Schema>> {
  const branches = errorNames.map((name) => [definitionName(name, 'Reply'), errorBranch(name, ref)] as const);
  return {
    Reply: { oneOf: [ref('SuccessReply'), ref('PendingReply'), ref('ErrorReply')] },
    SuccessReply: successBranch(ref),
    PendingReply: pendingBranch(ref),
    ErrorReply: { oneOf: errorNames.map((name) => ref(definitionName(name, 'Reply'))) },
    ...Object.fromEntries(branches),
    ...sharedDefinitions(ref),
  };
}

/** Members that a wire puts next to the reply's own. */
export interface Beside {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly optional: readonly string[];
}

/** The closed branch of one error name. */
export function errorBranch(name: ErrorName, ref: Ref, beside: Beside = { properties: {}, optional: [] }): Schema {
  const entry = errors[name];
  const carried: readonly ErrorCode[] = entry.codes;
  const classes = [...new Set(carried.map((code) => codes[code].class))];
  const common: Record<string, Schema> = {
    error: { const: name },
    requested: textOrNull,
    class: oneOfNames(classes),
    code: oneOfNames(carried),
    message: text,
    effect: entry.effect === 'none' ? { const: 'none' } : oneOfNames(Object.keys(effects)),
    resolution: ref('Resolution'),
    valid_next_actions: texts,
    next_total: wholeNumber,
    call_id: text,
    session: textOrNull,
    state: anything,
    seq: wholeNumber,
    done: always,
  };
  const closed = closedObject(
    { ...beside.properties, ...common, ...ownFields(name, ref), replayed: always, notices: listOf(ref('Notice')) },
    [...beside.optional, ...entry.optional_fields, 'next_total', 'state', 'seq', 'done', 'replayed', 'notices'],
  );
  const rules = [...pairsOfClassAndCode(carried), ...blockerNamed(name)];
  const together = rules.length === 0 ? {} : { allOf: rules };
  return { title: entry.title, description: entry.meaning, ...closed, ...together };
}

/** `invalid_transition` and `Reply` make `InvalidTransitionReply`, the name of the TypeScript type. */
export function definitionName(error: ErrorName, suffix: 'Reply' | 'Problem'): string {
  const words = error.split('_').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  return words.join('') + suffix;
}

function ownFields(name: ErrorName, ref: Ref): Readonly<Record<string, Schema>> {
  const schemas = errorFieldSchemas(ref);
  const names: readonly string[] = [...errors[name].fields, ...errors[name].optional_fields];
  const fields = names.map((field) => {
    const schema = schemas[field];
    invariant(schema !== undefined, `the field ${field} of ${name} has no schema`);
    return [field, schema] as const;
  });
  return Object.fromEntries(fields);
}

/** A fence always names what it protects: a call, a ticket, or both. */
function blockerNamed(name: ErrorName): readonly Schema[] {
  if (name !== 'fenced') return [];
  const named = errors.fenced.optional_fields.map((field) => ({ properties: { [field]: text }, required: [field] }));
  return [{ anyOf: named }];
}

function successBranch(ref: Ref): Schema {
  const required = {
    action: text,
    result: anything,
    state: anything,
    valid_next_actions: texts,
    call_id: text,
    session: textOrNull,
    seq: wholeNumber,
  };
  const optional = {
    next_total: wholeNumber,
    replayed: always,
    reversal_token: text,
    attempts: wholeNumber,
    errors: listOf(ref('PartialError')),
    done: always,
    next_action_schemas: { type: 'object' },
    notices: listOf(ref('Notice')),
  };
  const closed = closedObject({ ...required, ...optional }, Object.keys(optional));
  return { title: 'Success', description: 'The action ran, and this is its result.', ...closed };
}

function pendingBranch(ref: Ref): Schema {
  const properties = {
    pending: always,
    call_id: text,
    requested: text,
    session: textOrNull,
    retry_after_seconds: notNegative,
    notices: listOf(ref('Notice')),
  };
  const closed = closedObject(properties, ['notices']);
  return {
    title: 'Pending',
    description: 'The call goes on for longer than its caller waits; ask for it later.',
    ...closed,
  };
}
