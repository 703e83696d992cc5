/** Checks settings against the JSON Schema of an extension, and finds the secrets in them. Shows no value of them. */
import { compileSchema } from '../../core/schema/compile-schema.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { nearest } from '../../core/values/nearest.ts';

export interface SettingsProblem {
  /** From the settings down. */
  readonly path: readonly string[];
  readonly message: string;
  readonly fix: string;
}

/** `of`: whose settings they are. Without a schema there may be none. */
export function problemsWithSettings(
  schema: JsonObject | undefined,
  settings: JsonObject,
  of: string,
): readonly SettingsProblem[] {
  if (schema === undefined)
    return Object.keys(settings)
      .slice(0, 1)
      .map((key) => ({ path: [key], message: `${of} has no settings`, fix: 'leave settings out' }));
  const strangers = strangersIn(schema, settings, of);
  if (strangers.length > 0) return strangers;
  const compiled = compileSchema(schema);
  if (!compiled.ok)
    return [
      {
        path: [],
        message: `${of} has a schema of its settings that is not usable: ${compiled.problem}`,
        fix: 'correct the extension',
      },
    ];
  return compiled.check(settings).map(({ path, expected }) => {
    const at = path.split('/').slice(1).map(unescaped);
    const where = at.length === 0 ? 'its settings' : `its setting ${at.join('.')}`;
    return { path: at, message: `${of}: ${where} must be ${expected}`, fix: 'correct the settings' };
  });
}

/** A schema that lists its properties, and says nothing of others, has no others. */
function strangersIn(schema: JsonObject, settings: JsonObject, of: string): readonly SettingsProblem[] {
  const { properties } = schema;
  if (!isObject(properties) || 'patternProperties' in schema) return [];
  if (schema['additionalProperties'] !== undefined && schema['additionalProperties'] !== false) return [];
  const known = Object.keys(properties);
  return Object.keys(settings)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const near = nearest(key, known);
      const all = known.length === 0 ? 'leave it out' : `use one of ${known.join(', ')}`;
      return {
        path: [key],
        message: `${of} has no setting '${key.slice(0, 80)}'`,
        fix: near === null ? all : `did you mean ${near}?`,
      };
    });
}

const unescaped = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~');

/** The texts that the schema says are secrets: `writeOnly: true`, at any depth of its properties and lists. */
export function secretsIn(schema: unknown, value: Json | undefined): readonly string[] {
  if (!isObject(schema) || value === undefined) return [];
  if (schema['writeOnly'] === true) return textsIn(value);
  if (Array.isArray(value)) return value.flatMap((each: Json) => secretsIn(schema['items'], each));
  const { properties } = schema;
  if (!isObject(value) || !isObject(properties)) return [];
  return Object.entries(properties).flatMap(([key, each]) => secretsIn(each, (value as JsonObject)[key]));
}

function textsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null
    ? Object.values(value).flatMap((each) => textsIn(each as Json))
    : [];
}
