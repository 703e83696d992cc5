/**
 * Makes JSON Schemas (2020-12) of the schemas in an OpenAPI document. What a schema refers to goes into its `$defs`, so
 * that cycles stay; each referenced schema is translated once. A reference that leaves the document is a problem.
 */
import { isObject, type Json, type JsonObject } from '../../../core/values/json.ts';
import { type OpenApiDocument, show, valueAt } from './parse-document.ts';

/** Fields that only the other side sends are not required here. */
export type Side = 'input' | 'output';

export type Bundled =
  | { readonly ok: true; readonly schema: JsonObject }
  | { readonly ok: false; readonly problem: string; readonly isTooLarge: boolean };

export interface Bundler {
  /** `maxChars`: of the schema with everything that it refers to. */
  bundle(schema: unknown, side: Side, maxChars: number): Bundled;
}

interface Translated {
  readonly schema: Json;
  readonly refs: ReadonlySet<string>;
  readonly chars: number;
  readonly problem: string | null;
}

const maxDepth = 90;
/** Of OpenAPI; they say nothing about a value. */
const dropped: ReadonlySet<string> = new Set([
  'discriminator',
  'xml',
  'externalDocs',
  'example',
  'examples',
  '$schema',
  'nullable',
]);
const mapsOfSchemas: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
]);
const values: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'required', 'type', 'dependentRequired']);
const unsupported: readonly string[] = ['$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$recursiveRef'];

export function createBundler({ root, is30 }: OpenApiDocument): Bundler {
  const known = { input: new Map<string, Translated>(), output: new Map<string, Translated>() };
  const names = new Map<string, string>();
  const taken = new Set<string>();

  /** The name of what a reference points to, in `$defs`. */
  function nameOf(ref: string): string {
    const before = names.get(ref);
    if (before !== undefined) return before;
    const base = (ref.split('/').at(-1) ?? '').replaceAll(/[^A-Za-z0-9_.-]/g, '_').slice(0, 60) || 'schema';
    let name = base;
    for (let again = 2; taken.has(name); again++) name = `${base}_${again}`;
    taken.add(name);
    names.set(ref, name);
    return name;
  }

  function translate(given: unknown, side: Side): Translated {
    const refs = new Set<string>();
    let problem: string | null = null;
    const complain = (says: string) => void (problem ??= says);
    const schema = walk(given, maxDepth);

    function walk(value: unknown, depth: number): Json {
      if (depth <= 0) complain('a schema in it is nested too deep');
      if (typeof value === 'boolean') return value;
      if (!isObject(value) || depth <= 0) return {};
      const here: Record<string, Json> = refer(value['$ref']);
      // Until 3.1 what stands beside a reference is ignored.
      if (is30 && '$ref' in here) return here;
      for (const [key, each] of Object.entries(value)) {
        if (key === '$ref' || key.startsWith('x-') || dropped.has(key)) continue;
        if (unsupported.includes(key)) complain(`a schema in it uses ${key}`);
        here[key] = walkKeyword(key, each, depth - 1);
      }
      forSide(here, value, side);
      return is30 ? from30(here, value) : here;
    }

    function refer(ref: unknown): Record<string, Json> {
      if (ref === undefined) return {};
      if (typeof ref !== 'string' || !ref.startsWith('#/')) {
        complain(`a schema in it refers to ${show(ref)}, outside the document`);
        return {};
      }
      refs.add(ref);
      return { $ref: `#/$defs/${nameOf(ref)}` };
    }

    function walkKeyword(key: string, value: unknown, depth: number): Json {
      if (values.has(key)) return value as Json;
      if (mapsOfSchemas.has(key) && isObject(value))
        return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, walk(each, depth)]));
      if (Array.isArray(value))
        return value.map((each: unknown) => (isObject(each) ? walk(each, depth) : (each as Json)));
      return isObject(value) ? walk(value, depth) : (value as Json);
    }

    return { schema, refs, chars: JSON.stringify(schema).length, problem };
  }

  function translated(ref: string, side: Side): Translated {
    const before = known[side].get(ref);
    if (before !== undefined) return before;
    const found = valueAt(root, ref);
    const missing = {
      schema: {},
      refs: new Set<string>(),
      chars: 2,
      problem: `it refers to ${show(ref)}, which is not there`,
    };
    const made = found === undefined ? missing : translate(found, side);
    known[side].set(ref, made);
    return made;
  }

  return {
    bundle(given, side, maxChars) {
      const own = translate(given, side);
      const needed = new Map<string, Translated>();
      const waiting = [...own.refs];
      let { chars, problem } = own;
      while (waiting.length > 0 && problem === null) {
        const ref = waiting.pop() ?? '';
        if (needed.has(ref)) continue;
        const made = translated(ref, side);
        needed.set(ref, made);
        chars += made.chars;
        ({ problem } = made);
        if (chars > maxChars)
          return { ok: false, problem: `a schema in it is above ${maxChars} characters`, isTooLarge: true };
        waiting.push(...made.refs);
      }
      if (problem !== null) return { ok: false, problem, isTooLarge: false };
      const schema = isObject(own.schema) ? (own.schema as JsonObject) : own.schema === false ? { not: {} } : {};
      if (needed.size === 0) return { ok: true, schema };
      const $defs = Object.fromEntries([...needed].map(([ref, made]) => [nameOf(ref), made.schema]));
      return { ok: true, schema: { ...schema, $defs } };
    },
  };
}

/** A required field that this side does not send is not required of it. */
function forSide(
  here: Record<string, Json>,
  { required, properties }: Readonly<Record<string, unknown>>,
  side: Side,
): void {
  if (!Array.isArray(required) || !isObject(properties)) return;
  const mark = side === 'input' ? 'readOnly' : 'writeOnly';
  const kept = required.filter((name: unknown) => {
    const field = typeof name === 'string' && Object.hasOwn(properties, name) ? properties[name] : null;
    return !isObject(field) || field[mark] !== true;
  });
  here['required'] = kept as Json;
}

/** 3.0 writes null and exclusive limits in its own way. */
function from30(here: Record<string, Json>, given: Readonly<Record<string, unknown>>): Json {
  for (const [flag, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof here[flag] !== 'boolean') continue;
    const isExclusive = here[flag];
    delete here[flag];
    if (!isExclusive || typeof here[limit] !== 'number') continue;
    here[flag] = here[limit];
    delete here[limit];
  }
  if (given['nullable'] !== true) return here;
  if (Array.isArray(here['enum']) && !here['enum'].includes(null)) here['enum'] = [...(here['enum'] as Json[]), null];
  if (typeof here['type'] === 'string') return { ...here, type: [here['type'], 'null'] };
  // Without a type null may come beside whatever the rest allows.
  return ['allOf', 'oneOf', 'anyOf', 'enum'].some((key) => key in here) ? { anyOf: [here, { type: 'null' }] } : here;
}
