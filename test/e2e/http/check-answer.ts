/** What holds for every answer of the HTTP door: it is one that the OpenAPI document describes, down to each member. */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { camelKeys } from '../../support/camel-keys.ts';
import { errorShapeAt } from '../../../src/core/model/provider-error.ts';
import { openapiDocument } from '../../../src/core/http/openapi-paths.ts';

interface Operation {
  readonly responses: Readonly<Record<string, Described>>;
}

interface Described {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, unknown>>;
}

interface Seen {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const document = openapiDocument();
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema({ $id: 'urn:recourse:openapi', ...document });
const checks = new Map<string, ReturnType<typeof ajv.compile>>();

export const operationsSeen = new Set<string>();

/** Where waiting does not help there is none. */
function checkRetryAfter(text: string, header: string | undefined, what: string): void {
  if (text.includes('"type":"rule_block"')) assert.equal(header, undefined, what);
  else assert.match(String(header), /^[1-9]\d*$/, what);
}

export function checkAnswer(method: string, target: string, { status, headers, text }: Seen): void {
  const what = `${method} ${target} gave ${status}: ${text.slice(0, 2_000)}`;
  assert.notEqual(status, 500, what);
  const type = typeIn(headers);
  if (status === 429 || status === 503) checkRetryAfter(text, headers['retry-after'], what);
  if (status === 401) assert.equal(headers['www-authenticate'], 'Bearer realm="recourse"', what);
  if (status === 405) assert.match(String(headers['allow']), /^[A-Z]+(, [A-Z]+)*$/, what);
  if (status >= 400 && type === 'application/problem+json' && method !== 'HEAD') {
    const { status: said } = JSON.parse(text) as { status: number };
    assert.equal(said, status, what);
  }
  if (status >= 400 && errorShapeAt(target.split('?')[0] ?? '') !== null)
    return checkProviderError(method, { status, headers, text }, what);
  checkDescribed(method, target, { status, headers, text }, what);
}

/** At the paths of models errors are those of their providers. */
function checkProviderError(method: string, { headers, text }: Seen, what: string): void {
  assert.equal(typeIn(headers), 'application/json', what);
  assert.match(String(headers['x-should-retry']), /^(?:true|false)$/, what);
  if (method === 'HEAD') return assert.equal(text, '', what);
  const check = ajv.getSchema('urn:recourse:openapi#/components/schemas/ProviderError');
  assert.ok(check?.(JSON.parse(text)) === true, what);
}

const typeIn = (headers: IncomingHttpHeaders): string => String(headers['content-type'] ?? '').split(';')[0] ?? '';

function checkDescribed(method: string, target: string, { status, headers, text }: Seen, what: string): void {
  const type = typeIn(headers);
  const place = placeOf(method === 'HEAD' ? 'GET' : method, target.split('?')[0] ?? '', status);
  operationsSeen.add(`${place} ${status}`);
  const described = resolve(place, status);
  assert.ok(described !== null, `the document does not know this: ${what}`);
  assert.ok(Object.keys(described.described.content ?? {}).includes(type), `of another type (${type}): ${what}`);
  if (method === 'HEAD') return assert.equal(text, '', what);
  if (!/json/.test(type)) return;
  const pointer = `${described.pointer}/content/${type.replaceAll('/', '~1')}/schema`;
  const check = checks.get(pointer) ?? ajv.compile({ $ref: `urn:recourse:openapi#${pointer}` });
  checks.set(pointer, check);
  const body: unknown = JSON.parse(text);
  assert.ok(check(body), `${ajv.errorsText(check.errors)}: ${what}`);
  // The words of OpenAPI and JSON Schema are theirs.
  if (!target.startsWith('/v1/openapi.json')) assert.deepEqual(camelKeys(body), [], what);
}

/** The operation that is meant; what is no operation is described by the shared responses. */
function placeOf(method: string, path: string, status: number): string {
  // A path that is there as it stands comes before one with a place in it.
  const all = Object.entries(document.paths).toSorted(
    ([one], [other]) => Number(other === path) - Number(one === path),
  );
  for (const [template, operations] of all) {
    const pattern = new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{\w+\}/, '[^/]+')}$`);
    const name = method.toLowerCase();
    if (pattern.test(path) && name in operations) return `/paths/${template.replaceAll('/', '~1')}/${name}`;
  }
  return `/components/responses/Status${status}`;
}

function resolve(place: string, status: number): { readonly pointer: string; readonly described: Described } | null {
  const at = (pointer: string): unknown =>
    pointer
      .slice(1)
      .split('/')
      .reduce<unknown>((node, step) => (node as Record<string, unknown> | undefined)?.[unescaped(step)], document);
  if (place.startsWith('/components/')) {
    const shared = at(place) as Described | undefined;
    return shared === undefined ? null : { pointer: place, described: shared };
  }
  const described = (at(place) as Operation).responses[String(status)];
  if (described === undefined) return null;
  if (described.$ref === undefined) return { pointer: fragment(`${place}/responses/${status}`), described };
  const pointer = described.$ref.slice(1);
  return { pointer, described: at(pointer) as Described };
}

const unescaped = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~');

/** As part of a URI. */
const fragment = (pointer: string): string => pointer.replaceAll('{', '%7B').replaceAll('}', '%7D');
