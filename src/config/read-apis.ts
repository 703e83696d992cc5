/** Reads the HTTP APIs under `tools` and reports what does not fit together. Reads no documents and sends nothing. */
import { compileSchema } from '../core/schema/compile-schema.ts';
import { isObject, type Json, type JsonObject } from '../core/values/json.ts';
import { nearest } from '../core/values/nearest.ts';
import { namesInTemplate, parseTemplate } from '../core/values/text-template.ts';
import {
  type ApiConfig,
  type ApiKeyPlace,
  type ApiRule,
  type ApiTool,
  conflictNames,
  type OpenApiConfig,
  type RedirectRule,
} from './config.ts';
import type { Place, Tell } from './problem.ts';
import { readServerRecovery, readToolRecovery } from './read-recovery.ts';
import { toRule } from './read-servers.ts';
import { keyPlaceOf, placeOf } from './shape/read-shape.ts';
import { itemsOf, mapOf, numberOf, textOf, textsOf, withoutGaps } from './yaml/plain-values.ts';
import type { Tree } from './yaml/yaml-tree.ts';

/** The place of a key under the API. */
type At = (...path: readonly string[]) => Place;

export function readApis(tools: JsonObject, tree: Tree, tell: Tell): readonly ApiConfig[] {
  return Object.entries(tools).flatMap(([name, server]) =>
    isObject(mapOf(server)['http']) ? [toApi(name, mapOf(server), tree, tell)] : [],
  );
}

function toApi(name: string, read: JsonObject, tree: Tree, tell: Tell): ApiConfig {
  const at: At = (...path) => keyPlaceOf(tree, ['tools', name, ...path]);
  const http = mapOf(read['http']);
  const url = textOf(http['url']) ?? '';
  if (url !== '' && !url.includes('${') && URL.parse(url) === null)
    tell(placeOf(tree, ['tools', name, 'http', 'url']), 'this is no address', 'write the whole of it');
  for (const key of ['annotations', 'on_error', 'egress'])
    if (key in read) tell(at(key), `'${key}' has no meaning with http`, 'leave it out');
  const key = toKey(http['key']);
  const openapi = toOpenApi(http['openapi'], at);
  const entries = Object.entries(mapOf(read['tools'])).map(([match, rule]) => ({
    ...toEntry(match, mapOf(rule), at, tell),
    ...readToolRecovery(mapOf(rule), ['tools', name, 'tools', match], { tree, tell }),
  }));
  const written = entries.filter((entry): entry is ApiTool => 'path' in entry);
  const rules = entries.filter((entry) => !('path' in entry));
  for (const { match, at: place } of openapi === null ? rules : [])
    tell(place, `'${match}' has no request, and there is no openapi document`, 'add request: { method, path }');
  if (openapi === null && entries.length === 0 && url !== '')
    tell(at(), `'${name}' has no tools`, 'add http.openapi, or tools with a request');
  for (const tool of written) checkKey(tool, key, tell);
  return {
    name,
    at: at(),
    url,
    headers: textsOf(http['headers']),
    timeoutMs: numberOf(read['timeout']),
    ...(read['names'] === 'bare' ? { names: 'bare' } : {}),
    redirects: (textOf(http['redirects']) ?? 'none') as RedirectRule,
    key,
    conflicts: Object.fromEntries(
      conflictNames.map((kind) => [kind, itemsOf(mapOf(http['conflicts'])[kind])]),
    ) as ApiConfig['conflicts'],
    limits: withoutGaps({
      connectTimeoutMs: numberOf(http['connect_timeout']),
      headersTimeoutMs: numberOf(http['headers_timeout']),
      bodyTimeoutMs: numberOf(http['body_timeout']),
      maxResponseBytes: numberOf(http['max_response']),
      maxRedirects: numberOf(http['max_redirects']),
      maxConnections: numberOf(http['connections']),
    }),
    openapi,
    tools: written,
    rules,
    ...readServerRecovery(read, ['tools', name], { tree, tell }),
  };
}

function toKey(key: Json | undefined): ApiKeyPlace {
  if (key === 'none') return { kind: 'none' };
  const { header, field } = mapOf(key);
  if (typeof field === 'string') return { kind: 'field', name: field };
  return { kind: 'header', name: typeof header === 'string' ? header : 'Idempotency-Key' };
}

function toOpenApi(openapi: Json | undefined, at: At): OpenApiConfig | null {
  const { file, operations } = typeof openapi === 'string' ? { file: openapi, operations: [] } : mapOf(openapi);
  if (typeof file !== 'string') return null;
  return { at: at('http', 'openapi'), file, operations: itemsOf(operations) };
}

function toEntry(match: string, rule: JsonObject, at: At, tell: Tell): ApiRule | ApiTool {
  const place = at('tools', match);
  const said = (message: string, fix: string) => tell(place, message, fix);
  if ('on_error' in rule) tell(at('tools', match, 'on_error'), "'on_error' has no meaning with http", 'leave it out');
  const common = { ...toRule(match, rule, said), at: place };
  if (!isObject(rule['request'])) {
    for (const key of ['description', 'input', 'output'])
      if (key in rule)
        tell(at('tools', match, key), `'${key}' needs a request beside it`, 'add request, or leave it out');
    return common;
  }
  if (!/^[A-Za-z0-9_.-]{1,128}$/.test(match))
    said(`'${match}' is not usable as the name of a tool with a request`, 'use 1 to 128 letters, digits, _ - or .');
  const request = mapOf(rule['request']);
  const tool: ApiTool = {
    ...common,
    description: textOf(rule['description']) ?? '',
    method: textOf(request['method']) ?? 'GET',
    path: textOf(request['path']) ?? '/',
    query: isObject(request['query']) ? mapOf(request['query']) : null,
    headers: textsOf(request['headers']),
    body: request['body'],
    input: isObject(rule['input']) ? mapOf(rule['input']) : null,
    output: isObject(rule['output']) ? mapOf(rule['output']) : null,
  };
  checkRequest(tool, (...path) => at('tools', match, ...path), tell);
  return tool;
}

function checkRequest({ method, path, query, headers, body, input, output }: ApiTool, at: At, tell: Tell): void {
  if (body !== undefined && ['GET', 'HEAD', 'OPTIONS'].includes(method))
    tell(at('request', 'body'), `a ${method} has no body`, 'leave it out, or use another method');
  for (const [key, schema] of [
    ['input', input],
    ['output', output],
  ] as const) {
    const compiled = schema === null ? null : compileSchema(schema);
    if (compiled?.ok === false) tell(at(key), `this schema is not usable: ${compiled.problem}`, 'correct the schema');
  }
  const known = isObject(input?.['properties']) ? Object.keys(input['properties']) : null;
  for (const [key, value] of Object.entries({ path, query, headers, body: body ?? null }))
    for (const text of textsIn(value)) checkTemplate(text, known, at('request', key), tell);
}

/** `known`: the arguments; null if any may be given. */
function checkTemplate(text: string, known: readonly string[] | null, at: Place, tell: Tell): void {
  const parsed = parseTemplate(text);
  if (!parsed.ok) tell(at, `this is no template: ${parsed.problem}`, 'write {name}, or {{ for the sign itself');
  if (known === null) return;
  for (const name of namesInTemplate(text).filter((each) => !known.includes(each))) {
    const near = nearest(name, known);
    const fix = near === null ? 'add it to the properties of input' : `did you mean {${near}}?`;
    tell(at, `there is no argument '${name}' in input`, fix);
  }
}

function textsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** A key in a field needs a body. */
function checkKey({ match, method, body, effect, at }: ApiTool, key: ApiKeyPlace, tell: Tell): void {
  const hasBody = body !== undefined || ['POST', 'PUT', 'PATCH'].includes(method);
  const isRead = effect === 'pure' || (effect === null && ['GET', 'HEAD', 'OPTIONS'].includes(method));
  if (key.kind === 'field' && !hasBody && !isRead)
    tell(at, `the key goes into a field of the body, and '${match}' has none`, 'use key: { header: … }, or add a body');
  if (key.kind === 'none' && effect === 'keyed')
    tell(at, `'${match}' is keyed, and key: none sends no key`, 'say where the key goes, or correct effect');
}
