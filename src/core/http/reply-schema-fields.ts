/**
 * The JSON Schema of each field of a reply. Enums come from the taxonomy. The caller's `ref` makes references, since
 * their place differs by document.
 */
import {
  classes,
  codes,
  compensations,
  dispatchOutcomes,
  type ErrorCode,
  type Fields,
  type FieldType,
  kinds,
  noticeCodes,
  resolutions,
  verdicts,
} from '../taxonomy.ts';

/** A JSON Schema, as plain data. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

/** Makes the reference to a named definition. */
export type Ref = (definition: string) => Schema;

export const text: Schema = { type: 'string' };
export const textOrNull: Schema = { type: ['string', 'null'] };
export const texts: Schema = { type: 'array', items: text };
export const anything: Schema = {};
export const always: Schema = { const: true };
export const wholeNumber: Schema = { type: 'integer', minimum: 0 };
export const notNegative: Schema = { type: 'number', minimum: 0 };

/** An object that has exactly these properties. */
export function closedObject(properties: Readonly<Record<string, Schema>>, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

export function listOf(items: Schema): Schema {
  return { type: 'array', items };
}

export function oneOfNames(names: readonly string[]): Schema {
  return names.length === 1 ? { const: names[0] } : { enum: names };
}

/** Keeps class and code together: a reply never has the code of one class and the name of another. */
export function pairsOfClassAndCode(allowed: readonly ErrorCode[]): readonly Schema[] {
  const byClass = new Map<string, ErrorCode[]>();
  for (const code of allowed) byClass.set(codes[code].class, [...(byClass.get(codes[code].class) ?? []), code]);
  if (byClass.size === 1) return [];
  const pairs = [...byClass].map(([name, members]) => ({
    properties: { class: { const: name }, code: oneOfNames(members) },
  }));
  return [{ anyOf: pairs }];
}

/** The fields of one error name, by their wire names. */
export function errorFieldSchemas(ref: Ref): Readonly<Record<string, Schema>> {
  return {
    blocked_by: listOf(closedObject({ from: text, to: textOrNull, guard: text })),
    known_actions: texts,
    known_total: wholeNumber,
    did_you_mean: textOrNull,
    reason: text,
    details: closedObject({ field: text, got: anything }),
    errors: listOf(closedObject({ path: text, expected: text, got: anything })),
    human_message: text,
    rule_ref: text,
    budget_id: text,
    provider: text,
    blocking_call_id: text,
    ticket_id: text,
    timeout_seconds: notNegative,
    error_type: text,
    error_message: text,
    verdict: oneOfNames(Object.keys(verdicts)),
    compensation: { anyOf: [ref('Compensation'), { type: 'null' }] },
    outcome: { anyOf: [ref('DispatchOutcome'), { type: 'null' }] },
    attempts: wholeNumber,
    evidence: listOf(ref('ChangedEvidence')),
    in_flight_call_id: text,
    correlation_id: text,
  };
}

/** What several replies share, by the name of its definition. */
export function sharedDefinitions(ref: Ref): Readonly<Record<string, Schema>> {
  const allCodes = Object.keys(codes) as ErrorCode[];
  const partialError = closedObject(
    {
      class: oneOfNames(Object.keys(classes)),
      code: oneOfNames(allCodes),
      item: { anyOf: [text, { type: 'number' }] },
      message: text,
      effect: { const: 'unknown' },
    },
    ['message', 'effect'],
  );
  const notice = { code: oneOfNames(noticeCodes), human_message: text, resolution: ref('Resolution'), budget_id: text };
  return {
    Resolution: taggedUnion('type', resolutions, ref),
    Compensation: taggedUnion('kind', compensations, ref),
    DispatchOutcome: taggedUnion('kind', dispatchOutcomes, ref),
    ToolError: toolError(),
    PartialError: { ...partialError, allOf: pairsOfClassAndCode(allCodes) },
    ChangedEvidence: closedObject({ read: text, tool: text, was: text, is: text, says: anything, cut: always }, [
      'cut',
    ]),
    Notice: closedObject(notice, ['budget_id']),
  };
}

function taggedUnion(tag: string, list: Readonly<Record<string, { readonly fields: Fields }>>, ref: Ref): Schema {
  const branches = Object.entries(list).map(([name, entry]) => {
    const fields = Object.entries(entry.fields).map(([field, type]) => [field, fieldSchema(type, ref)] as const);
    return closedObject({ [tag]: { const: name }, ...Object.fromEntries(fields) });
  });
  return { oneOf: branches };
}

function fieldSchema(type: FieldType, ref: Ref): Schema {
  const schemas: Readonly<Record<FieldType, Schema>> = {
    string: text,
    strings: texts,
    seconds: notNegative,
    count: wholeNumber,
    milliseconds: listOf(notNegative),
    instant: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$' },
    true: always,
    retry_or_abort: oneOfNames(['retry', 'abort']),
    tool_error: ref('ToolError'),
    json: anything,
  };
  return schemas[type];
}

function toolError(): Schema {
  const subjects = Object.values(kinds).flatMap((kind) => [...kind.subjects]);
  const properties = {
    kind: oneOfNames(Object.keys(kinds)),
    subject: oneOfNames(subjects),
    message: text,
    retry_after: notNegative,
  };
  return closedObject(properties, ['subject', 'retry_after']);
}
