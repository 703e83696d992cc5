/** Parses the text of an OpenAPI document, JSON or YAML, and follows references inside it. Loads nothing else. */
import { parseDocument as parseYaml } from 'yaml';
import { isObject } from '../../../core/values/json.ts';

export type Loose = Readonly<Record<string, unknown>>;

export interface OpenApiDocument {
  readonly root: Loose;
  readonly is30: boolean;
}

export type ParsedDocument =
  | { readonly ok: true; readonly document: OpenApiDocument }
  | { readonly ok: false; readonly problem: string; readonly fix: string };

/** For larger ones JSON is parsed many times faster. */
const maxYamlChars = 8 << 20;

export function parseDocument(text: string): ParsedDocument {
  const root = parseText(text);
  if (typeof root === 'string') return { ok: false, problem: root, fix: 'name an OpenAPI document in JSON or YAML' };
  const version = root['openapi'];
  if (typeof version !== 'string' || !/^3\.[01](?:\.|$)/.test(version)) {
    const found = typeof version === 'string' ? `OpenAPI ${version.slice(0, 20)}` : 'no OpenAPI 3 document';
    return { ok: false, problem: `this is ${found}`, fix: 'use version 3.0 or 3.1; older ones can be converted' };
  }
  return { ok: true, document: { root, is30: version.startsWith('3.0') } };
}

/** The document, or what is wrong with it. */
function parseText(text: string): Loose | string {
  try {
    const value: unknown = /^\s*\{/.test(text) ? JSON.parse(text) : parseYamlText(text);
    return isObject(value) ? value : 'this is no map';
  } catch (error) {
    return `it cannot be parsed (${error instanceof Error ? error.message.split('\n')[0]?.slice(0, 120) : 'unknown'})`;
  }
}

function parseYamlText(text: string): unknown {
  if (text.length > maxYamlChars) throw new Error(`YAML above ${maxYamlChars} characters; convert it to JSON`);
  const parsed = parseYaml(text, { logLevel: 'silent', uniqueKeys: false });
  const [wrong] = parsed.errors;
  if (wrong !== undefined) throw wrong;
  return parsed.toJS({ maxAliasCount: 100 });
}

const maxReferences = 16;

/** The value itself, or what its `$ref` inside the document refers to; a text says why there is none. */
export function resolve({ root }: OpenApiDocument, value: unknown): Loose | string {
  let here = value;
  for (let hops = 0; hops < maxReferences; hops++) {
    if (!isObject(here)) return 'something in it is no map';
    const ref = here['$ref'];
    if (ref === undefined) return here;
    if (typeof ref !== 'string' || !ref.startsWith('#/')) return `it refers to ${show(ref)}, outside the document`;
    here = valueAt(root, ref);
    if (here === undefined) return `it refers to ${show(ref)}, which is not there`;
  }
  return 'its references go in a circle';
}

export const show = (ref: unknown): string => `'${String(ref).slice(0, 100)}'`;

/** What a JSON Pointer with # points to. */
export function valueAt(root: unknown, ref: string): unknown {
  let here: unknown = root;
  for (const step of ref.slice(2).split('/')) {
    const key = decode(step).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Loose)[key];
  }
  return here;
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
