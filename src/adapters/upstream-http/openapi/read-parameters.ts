/** Reads the parameters of an operation: their argument, their schema, and how they are written into the request. */
import { isObject } from '../../../core/values/json.ts';
import type { ParameterStyle } from '../plan-request.ts';
import { type Loose, type OpenApiDocument, resolve } from './parse-document.ts';

export interface ReadParameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly required: boolean;
  readonly schema: unknown;
  readonly description: string | null;
  readonly style: ParameterStyle;
}

/** A text is the reason why the operation cannot be a tool. */
export type ReadParameters = readonly ReadParameter[] | string;

/** These are said elsewhere in the document, or by the configuration. */
const ignoredHeaders: readonly string[] = ['accept', 'content-type', 'authorization'];

/** Those of an operation replace those of its path with the same name and place. */
export function readParameters(
  document: OpenApiDocument,
  lists: readonly unknown[],
  configured: ReadonlySet<string>,
): ReadParameters {
  const found = new Map<string, ReadParameter>();
  for (const list of lists) {
    if (list === undefined) continue;
    if (!Array.isArray(list)) return 'its parameters are no list';
    for (const each of list as readonly unknown[]) {
      const given = resolve(document, each);
      if (typeof given === 'string') return `a parameter cannot be read: ${given}`;
      const read = readParameter(given);
      if (typeof read === 'string') return read;
      const isIgnored = read.in === 'header' && [...ignoredHeaders, ...configured].includes(read.name.toLowerCase());
      if (!isIgnored) found.set(`${read.in} ${read.name}`, read);
    }
  }
  return [...found.values()];
}

function readParameter(given: Loose): ReadParameter | string {
  const { name, in: where, required, description } = given;
  if (typeof name !== 'string' || name === '') return 'a parameter has no name';
  if (where !== 'path' && where !== 'query' && where !== 'header')
    return `its parameter '${name}' is in ${where === 'cookie' ? 'a cookie' : 'no known place'}`;
  const form = formOf(where, given);
  if (typeof form === 'string') return `its parameter '${name}' ${form}`;
  return {
    in: where,
    name,
    required: where === 'path' || required === true,
    description: typeof description === 'string' ? description : null,
    ...form,
  };
}

type Form = Pick<ReadParameter, 'schema' | 'style'>;

/** A text is what is not supported. */
function formOf(where: ReadParameter['in'], given: Loose): Form | string {
  const [type, media] = isObject(given['content']) ? (Object.entries(given['content'])[0] ?? []) : [];
  if (type !== undefined) {
    const schema = isObject(media) ? (media['schema'] ?? {}) : {};
    return /json/i.test(type) ? { schema, style: 'json' } : `is written as ${type.slice(0, 60)}`;
  }
  const style = styleOf(where, given);
  return style === null
    ? `has the style ${String(given['style']).slice(0, 40)}`
    : { schema: given['schema'] ?? {}, style };
}

/** Null for a style that is not supported. */
function styleOf(where: ReadParameter['in'], { style, explode }: Loose): ParameterStyle | null {
  if (where !== 'query') return style === undefined || style === 'simple' ? 'comma' : null;
  switch (style ?? 'form') {
    case 'form':
      return explode === false ? 'comma' : 'repeat';
    case 'spaceDelimited':
      return explode === true ? 'repeat' : 'space';
    case 'pipeDelimited':
      return explode === true ? 'repeat' : 'pipe';
    case 'deepObject':
      return 'deep';
    default:
      return null;
  }
}
