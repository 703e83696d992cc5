/** Makes a tool of one operation of an OpenAPI document, or says why it cannot be one. Nothing is half-made. */
import { isObject, type Json, type JsonObject } from '../../../core/values/json.ts';
import { parseTemplate } from '../../../core/values/text-template.ts';
import {
  argument,
  type BodyEncoding,
  type BodyPlan,
  httpMethods,
  isSafeMethod,
  type PlannedParameter,
  type RequestPlan,
} from '../plan-request.ts';
import type { Bundler } from './bundle-schemas.ts';
import { type Loose, type OpenApiDocument, resolve } from './parse-document.ts';
import { type ReadParameter, readParameters } from './read-parameters.ts';

export interface OperationTool {
  readonly description: string;
  readonly plan: RequestPlan;
  readonly input: JsonObject;
  /** Null if none is declared, or if it is too large to be checked. */
  readonly output: JsonObject | null;
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly shared: Loose;
  readonly operation: Loose;
}

export interface OperationParts {
  readonly document: OpenApiDocument;
  readonly bundler: Bundler;
  /** Names in lower case of headers that the configuration sets. */
  readonly configured: ReadonlySet<string>;
}

const maxInputChars = 200_000;
const maxOutputChars = 64_000;
const maxDescriptionChars = 2_000;

/** A text is the reason for a refusal. */
export function readOperation(given: Operation, parts: OperationParts): OperationTool | string {
  const { method, path, shared, operation } = given;
  const { document, bundler, configured } = parts;
  if (!(httpMethods as readonly string[]).includes(method)) return `its method is ${method}`;
  if (isElsewhere(operation, document) || isElsewhere(shared, document)) return 'it is served at an address of its own';
  const needed = securityProblem(document, operation);
  if (needed !== null) return needed;
  const parameters = readParameters(document, [shared['parameters'], operation['parameters']], configured);
  if (typeof parameters === 'string') return parameters;
  const args = nameArguments(parameters);
  const body = readBody(document, method, operation['requestBody'], new Set(args.keys()));
  if (typeof body === 'string') return body;
  const route = routeOf(path, args);
  if (typeof route === 'string') return route;
  const input = bundler.bundle(inputOf(args, body), 'input', maxInputChars);
  if (!input.ok) return input.problem;
  const output = outputOf(document, operation['responses'], bundler);
  if (typeof output === 'string') return output;
  const used = new Set(args.keys());
  const planned = (where: ReadParameter['in']): readonly PlannedParameter[] =>
    [...args].flatMap(([name, each]) =>
      each.in === where ? [{ name: each.name, value: (values) => argument(values, name), style: each.style }] : [],
    );
  const plan: RequestPlan = {
    method,
    path: route,
    query: planned('query'),
    restInQuery: false,
    headers: planned('header'),
    body: body.plan,
    used,
  };
  return { description: describe(operation), plan, input: input.schema, output };
}

/** Whether it has servers of its own that are not those of the document; their scheme does not matter. */
function isElsewhere({ servers }: Loose, { root }: OpenApiDocument): boolean {
  const known = addressesIn(root['servers']);
  return addressesIn(servers).some((address) => !known.includes(address));
}

function addressesIn(servers: unknown): readonly string[] {
  const all = Array.isArray(servers) ? (servers as readonly unknown[]).filter(isObject) : [];
  return all.map(({ url }) =>
    String(url)
      .replace(/^https?:/, '')
      .replace(/\/$/, ''),
  );
}

/** Credentials come from the headers and the url of the configuration; what cannot come from there is refused. */
function securityProblem(document: OpenApiDocument, operation: Loose): string | null {
  const asked = operation['security'] ?? document.root['security'];
  if (!Array.isArray(asked) || asked.length === 0) return null;
  const components = isObject(document.root['components']) ? document.root['components'] : {};
  const schemes = isObject(components['securitySchemes']) ? components['securitySchemes'] : {};
  const problems = (asked as readonly unknown[]).map((choice) => {
    const names = isObject(choice) ? Object.keys(choice) : [];
    const needed = names.map((name) => resolve(document, schemes[name]));
    if (needed.some((scheme) => isObject(scheme) && scheme['in'] === 'cookie')) return 'it needs a login by cookie';
    return needed.some((scheme) => isObject(scheme) && scheme['type'] === 'mutualTLS') ? 'it needs mutual TLS' : null;
  });
  return problems.every((problem) => problem !== null) ? (problems[0] ?? null) : null;
}

/** By argument. Models take letters, digits, `_ . -` as names; two places of one name are told apart. */
function nameArguments(parameters: readonly ReadParameter[]): ReadonlyMap<string, ReadParameter> {
  const named = new Map<string, ReadParameter>();
  for (const each of parameters) {
    const base = safeName(each.name);
    let name = named.has(base) ? `${base}_${each.in}` : base;
    for (let again = 2; named.has(name); again++) name = `${base}_${each.in}_${again}`;
    named.set(name, each);
  }
  return named;
}

const safeName = (name: string): string => name.replaceAll(/[^A-Za-z0-9_.-]/g, '_').slice(0, 64) || '_';

/** The path with arguments in place of parameters. */
function routeOf(path: string, args: ReadonlyMap<string, ReadParameter>): RequestPlan['path'] | string {
  const parsed = parseTemplate(path);
  if (!parsed.ok) return `its path is no template: ${parsed.problem}`;
  const byName = new Map([...args].flatMap(([name, each]) => (each.in === 'path' ? [[each.name, name] as const] : [])));
  const route: RequestPlan['path'][number][] = [];
  for (const part of parsed.parts) {
    const name = part.kind === 'name' ? byName.get(part.name) : undefined;
    if (part.kind === 'name' && name === undefined) return `its path has {${part.name}}, which is no parameter`;
    route.push(name === undefined ? part : { kind: 'name', name });
  }
  return route;
}

interface ReadBody {
  readonly plan: BodyPlan;
  /** Fields of the arguments that are its own. */
  readonly properties: JsonObject;
  readonly required: readonly string[];
}

const noBody: ReadBody = { plan: { kind: 'none' }, properties: {}, required: [] };

function readBody(
  document: OpenApiDocument,
  method: string,
  given: unknown,
  taken: ReadonlySet<string>,
): ReadBody | string {
  if (given === undefined) return noBody;
  const body = resolve(document, given);
  if (typeof body === 'string') return `its body cannot be read: ${body}`;
  const content = isObject(body['content']) ? body['content'] : {};
  const chosen = chooseMedia(content);
  if (chosen === null) {
    const types = Object.keys(content).join(', ').slice(0, 80);
    return types === '' ? noBody : `its body is ${types}`;
  }
  const schema = resolve(document, chosen.media['schema'] ?? {});
  if (typeof schema === 'string') return `its body cannot be read: ${schema}`;
  const isRequired = body['required'] === true;
  if (isSafeMethod(method))
    return isRequired || propertiesOf(schema) !== null ? `it has a body, which ${method} cannot send` : noBody;
  return planBody(chosen, schema, isRequired, taken);
}

const propertiesOf = ({ properties }: Loose): JsonObject | null =>
  isObject(properties) && Object.keys(properties).length > 0 ? (properties as JsonObject) : null;

/** Its fields become arguments where that cannot be mistaken; otherwise it is one argument. */
function planBody(
  { media, encoding }: Media,
  schema: Loose,
  isRequired: boolean,
  taken: ReadonlySet<string>,
): ReadBody {
  const deep = deepFields(media);
  const properties = propertiesOf(schema);
  const required = (Array.isArray(schema['required']) ? schema['required'] : []) as readonly string[];
  if (properties !== null && isPlainObject(schema) && (isRequired || required.length === 0)) {
    const sent = required.filter((name) => !isReadOnly(properties[name]));
    const isClear = Object.keys(properties).every((name) => !taken.has(name) && safeName(name) === name);
    if (isClear) return { plan: { kind: 'rest', encoding, deep }, properties, required: sent };
  }
  const name = freeName('body', taken);
  const value = (args: JsonObject) => argument(args, name);
  return {
    plan: { kind: 'value', value, encoding, deep },
    properties: { [name]: (media['schema'] ?? {}) as Json },
    required: isRequired ? [name] : [],
  };
}

const choices = ['allOf', 'oneOf', 'anyOf', 'not', 'if', 'patternProperties'];

/** Whether it is an object with these fields and no others. */
function isPlainObject(schema: Loose): boolean {
  const { type, additionalProperties: more } = schema;
  const isObjectType = type === 'object' || type === undefined;
  return isObjectType && (more === undefined || more === false) && !choices.some((key) => key in schema);
}

const isReadOnly = (schema: unknown): boolean => isObject(schema) && schema['readOnly'] === true;

function freeName(base: string, taken: ReadonlySet<string>): string {
  let name = base;
  while (taken.has(name)) name += '_';
  return name;
}

interface Media {
  readonly media: Loose;
  readonly encoding: BodyEncoding;
}

/** JSON first, then a form; null for anything else, such as files. */
function chooseMedia(content: Loose): Media | null {
  const types = Object.entries(content).filter((entry): entry is [string, Loose] => isObject(entry[1]));
  const json = types.find(([type]) => isJsonType(type));
  if (json !== undefined) return { media: json[1], encoding: 'json' };
  const form = types.find(([type]) => /^application\/x-www-form-urlencoded/i.test(type));
  return form === undefined ? null : { media: form[1], encoding: 'form' };
}

const isJsonType = (type: string): boolean => /^(?:[^;]*[/+]json\s*(?:;.*)?|\*\/\*)$/i.test(type);

function deepFields({ encoding }: Loose): ReadonlySet<string> {
  const fields = isObject(encoding) ? Object.entries(encoding) : [];
  return new Set(fields.flatMap(([name, each]) => (isObject(each) && each['style'] === 'deepObject' ? [name] : [])));
}

function inputOf(args: ReadonlyMap<string, ReadParameter>, body: ReadBody): JsonObject {
  const properties = [...args].map(([name, { schema, description }]) => {
    const isPlain = isObject(schema) && !('$ref' in schema) && !('description' in schema);
    return [name, isPlain && description !== null ? { ...schema, description } : schema] as const;
  });
  const required = [...args].flatMap(([name, each]) => (each.required ? [name] : []));
  return {
    type: 'object',
    properties: { ...(Object.fromEntries(properties) as JsonObject), ...body.properties },
    required: [...required, ...body.required],
    additionalProperties: false,
  };
}

/** Any of the successes that are declared; null if one of them is no JSON. */
function outputOf(document: OpenApiDocument, responses: unknown, bundler: Bundler): JsonObject | null | string {
  const successes = Object.entries(isObject(responses) ? responses : {}).filter(([status]) =>
    /^2(?:\d\d|XX)$/i.test(status),
  );
  const schemas: Json[] = [];
  for (const [, given] of successes) {
    const response = resolve(document, given);
    if (typeof response === 'string') return `a response cannot be read: ${response}`;
    const content = Object.entries(isObject(response['content']) ? response['content'] : {});
    if (content.length === 0) schemas.push({ type: 'null' });
    for (const [type, media] of content) {
      if (!isJsonType(type) || !isObject(media) || media['schema'] === undefined) return null;
      schemas.push(media['schema'] as Json);
    }
  }
  if (!schemas.some((schema) => isObject(schema) && schema['type'] !== 'null')) return null;
  const bundled = bundler.bundle(schemas.length === 1 ? schemas[0] : { anyOf: schemas }, 'output', maxOutputChars);
  if (bundled.ok) return bundled.schema;
  return bundled.isTooLarge ? null : bundled.problem;
}

function describe({ summary, description }: Loose): string {
  const texts = [summary, description].filter((text): text is string => typeof text === 'string' && text !== '');
  return texts.join('\n').slice(0, maxDescriptionChars).toWellFormed();
}
