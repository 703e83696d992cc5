/**
 * A schema that an author declared, as JSON Schema or Standard Schema: validates values and arguments, is listed, and
 * is written into the manifest. Validation never rejects: a schema that throws has refused the value.
 */
import { canonicalise, cut } from '../../core/values/canonical.ts';
import type { FieldError, InputRule } from '../../core/call/catalogue.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { compileSchema } from '../../core/schema/compile-schema.ts';
import { judgeByStandard, vendorOf, type Judgement, isStandardSchema, type StandardSchema } from './standard-schema.ts';
import type { Validated } from '../../ports/validator.ts';
import { findNotJson } from './find-not-json.ts';

export interface DeclaredSchema {
  readonly rule: InputRule;
  readonly judge: (value: unknown) => Promise<Judgement>;
  /** As it stands in the manifest. */
  readonly written: Json;
  /** As JSON Schema; null if the schema cannot be converted. */
  readonly listed: JsonObject | null;
}

export type Declaration =
  | { readonly ok: true; readonly declared: DeclaredSchema }
  | { readonly ok: false; readonly problem: string; readonly fix: string };

const maxWrittenDepth = 100;

export function declareSchema(schema: unknown): Declaration {
  if (isStandardSchema(schema)) return { ok: true, declared: declareStandard(schema) };
  if (!isObject(schema))
    return { ok: false, problem: 'is neither a JSON Schema object nor a Standard Schema', fix: aSchema };
  const keys = Object.keys(schema);
  if (keys.length > 0 && !keys.some((key) => schemaKeywords.has(key))) {
    const problem = `has no keyword of JSON Schema, only ${cut(keys.join(', '), 80)}`;
    return { ok: false, problem, fix: aSchema };
  }
  const compiled = compileSchema(schema);
  if (!compiled.ok) return { ok: false, problem: `does not compile: ${compiled.problem}`, fix: 'correct the schema' };
  const written = canonicalise(schema, { maxDepth: maxWrittenDepth });
  if (!written.ok)
    return { ok: false, problem: `cannot be written down: ${written.problem}`, fix: 'write plain JSON into it' };
  const { check } = compiled;
  const plain = JSON.parse(written.text) as JsonObject;
  return {
    ok: true,
    declared: {
      rule: { kind: 'schema', check },
      judge: async (value) => judgeByCheck(check, value),
      written: plain,
      listed: plain,
    },
  };
}

const aSchema =
  "write { type: 'object', properties: { … } }, or use a library with Standard Schema (zod 3.24 or later)";

/**
 * Keywords of JSON Schema, drafts 7 to 2020-12. Ajv ignores unknown ones, so a plain list of fields would accept
 * everything.
 */
const schemaKeywords: ReadonlySet<string> = new Set(
  (
    '$schema $id $ref $defs $comment $anchor $dynamicRef $dynamicAnchor $vocabulary definitions type enum const properties required ' +
    'additionalProperties patternProperties propertyNames minProperties maxProperties dependentRequired dependentSchemas dependencies ' +
    'items prefixItems additionalItems contains minContains maxContains minItems maxItems uniqueItems unevaluatedItems unevaluatedProperties ' +
    'minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf allOf anyOf oneOf not if then else ' +
    'title description default examples deprecated readOnly writeOnly contentEncoding contentMediaType contentSchema'
  ).split(' '),
);

function declareStandard(schema: StandardSchema): DeclaredSchema {
  const listed = listedStandard(schema);
  return {
    rule: { kind: 'validator' },
    judge: (value) => judgeByStandard(schema, value),
    written: listed ?? { vendor: vendorOf(schema), opaque: true },
    listed,
  };
}

/** A result is validated as JSON: a Date is its text. */
function judgeByCheck(check: (value: Json) => readonly FieldError[], value: unknown): Judgement {
  try {
    const travels = findNotJson(value) === null ? value : JSON.parse(JSON.stringify(value) ?? 'null');
    const errors = check(travels as Json);
    return errors.length === 0 ? { ok: true, value } : { ok: false, errors };
  } catch {
    return { ok: false, errors: [{ path: '', expected: 'a value that JSON can carry', got: null }] };
  }
}

/** The input side of the schema: results of transforms stay inside the gateway. */
function listedStandard(schema: StandardSchema): JsonObject | null {
  const standard = schema['~standard'] as { jsonSchema?: { input?: unknown } };
  try {
    const write = standard.jsonSchema?.input;
    if (typeof write !== 'function') return null;
    const written = canonicalise(write.call(standard.jsonSchema, { target: 'draft-2020-12' }), {
      maxDepth: maxWrittenDepth,
    });
    const plain: unknown = written.ok ? JSON.parse(written.text) : null;
    return isObject(plain) ? (plain as JsonObject) : null;
  } catch {
    return null;
  }
}

export async function judgeArguments(schema: Pick<DeclaredSchema, 'judge'>, args: unknown): Promise<Validated> {
  // The schema may be code, so it gets a copy.
  const given = asJson(args, 'the caller');
  if (!given.ok) return given;
  const judgement = await schema.judge(given.args);
  return judgement.ok ? asJson(judgement.value, 'the input schema') : judgement;
}

/** Copies a value as JSON, or refuses it. `maker` is who made it. */
export function asJson(value: unknown, maker: string): Validated {
  try {
    const found = findNotJson(value);
    // Copied, because its maker may still change it.
    if (found === null) return { ok: true, args: JSON.parse(JSON.stringify(value)) as Json };
    return refused(found.path, `a value that JSON can carry; ${maker} made ${found.what} of it`);
  } catch {
    return refused('', `a value that JSON can carry; what ${maker} made of it cannot be read`);
  }
}

function refused(path: string, expected: string): Validated {
  return { ok: false, errors: [{ path, expected, got: null }] };
}
