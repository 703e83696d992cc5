/** Compiles how the arguments of a tool become an HTTP request. Throws only for a declaration that cannot work. */
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { parseTemplate, type TemplatePart } from '../../core/values/text-template.ts';

export const httpMethods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type HttpMethod = (typeof httpMethods)[number];

/** Of these the answer has no effect to lose. */
export const isSafeMethod = (method: string): boolean => ['GET', 'HEAD', 'OPTIONS'].includes(method);
/** Arguments that nothing else uses go into the query of these, and into the body of the others. */
const restInQuery = (method: string): boolean => isSafeMethod(method) || method === 'DELETE';

/** A request as an author writes it. Texts may hold `{name}`; `{name}` alone stands for the argument itself. */
export interface WrittenRequest {
  readonly method: string;
  /** Added to the address of the upstream. */
  readonly path: string;
  readonly query?: JsonObject | null;
  readonly headers?: Readonly<Record<string, string>> | null;
  readonly body?: Json | undefined;
}

/** How a list or an object is written as a parameter. `repeat`: the name once for each item. */
export type ParameterStyle = 'repeat' | 'comma' | 'space' | 'pipe' | 'deep' | 'json';
export type BodyEncoding = 'json' | 'form';

/** Undefined if an argument that it needs is absent. */
export type Fill = (args: JsonObject) => Json | undefined;

export interface PlannedParameter {
  readonly name: string;
  readonly value: Fill;
  readonly style: ParameterStyle;
}

export type BodyPlan =
  | { readonly kind: 'none' }
  /** All arguments that nothing else uses. */
  | { readonly kind: 'rest'; readonly encoding: BodyEncoding; readonly deep: ReadonlySet<string> }
  | {
      readonly kind: 'value';
      readonly value: Fill;
      readonly encoding: BodyEncoding;
      readonly deep: ReadonlySet<string>;
    };

export interface RequestPlan {
  readonly method: string;
  readonly path: readonly TemplatePart[];
  readonly query: readonly PlannedParameter[];
  /** Whether all arguments that nothing else uses go into the query. */
  readonly restInQuery: boolean;
  readonly headers: readonly PlannedParameter[];
  readonly body: BodyPlan;
  /** The arguments that path, query and headers use. */
  readonly used: ReadonlySet<string>;
}

export class RequestPlanError extends Error {
  override name = 'RequestPlanError';
}

const noNames: ReadonlySet<string> = new Set();

export function planRequest({ method, path, query, headers, body }: WrittenRequest): RequestPlan {
  const used = new Set<string>();
  const compile = (value: Json) => compileTemplate(value, used);
  const parameters = (map: JsonObject, style: ParameterStyle) =>
    Object.entries(map).map(([name, value]) => ({ name, value: compile(value), style }));
  const parts = partsOf(path);
  for (const part of parts) if (part.kind === 'name') used.add(part.name);
  const planned = { query: parameters(query ?? {}, 'repeat'), headers: parameters(headers ?? {}, 'comma') };
  const hasBody = body !== undefined && body !== null;
  if (hasBody && isSafeMethod(method)) throw new RequestPlanError(`a ${method} has no body`);
  const value = hasBody ? compile(body) : null;
  return {
    method,
    path: parts,
    ...planned,
    restInQuery: (query === undefined || query === null) && !hasBody && restInQuery(method),
    body:
      value !== null
        ? { kind: 'value', value, encoding: 'json', deep: noNames }
        : restInQuery(method)
          ? { kind: 'none' }
          : { kind: 'rest', encoding: 'json', deep: noNames },
    used,
  };
}

function partsOf(text: string): readonly TemplatePart[] {
  const parsed = parseTemplate(text);
  if (parsed.ok) return parsed.parts;
  throw new RequestPlanError(`'${text.slice(0, 80)}' is no template: ${parsed.problem}`);
}

/** Texts in it are templates; everything else stands for itself. */
export function compileTemplate(value: Json, used: Set<string>): Fill {
  if (typeof value === 'string') return compileText(partsOf(value), used);
  if (Array.isArray(value)) {
    const items = value.map((item: Json) => compileTemplate(item, used));
    return (args) => items.flatMap((fill) => fill(args) ?? []) as Json;
  }
  if (!isObject(value)) return () => value;
  const fields = Object.entries(value as JsonObject).map(([key, each]) => [key, compileTemplate(each, used)] as const);
  return (args) => {
    const filled = fields.map(([key, fill]) => [key, fill(args)] as const);
    return Object.fromEntries(filled.filter((field): field is [string, Json] => field[1] !== undefined));
  };
}

function compileText(parts: readonly TemplatePart[], used: Set<string>): Fill {
  for (const part of parts) if (part.kind === 'name') used.add(part.name);
  const [first] = parts;
  if (first === undefined) return () => '';
  if (parts.length === 1) return first.kind === 'text' ? () => first.text : (args) => argument(args, first.name);
  return (args) => {
    let text = '';
    for (const part of parts) {
      const value = part.kind === 'text' ? part.text : argument(args, part.name);
      if (value === undefined) return undefined;
      text += plainText(value);
    }
    return text;
  };
}

export function argument(args: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(args, name) ? args[name] : undefined;
}

/** A value inside a text: a scalar as it is, anything else as JSON. */
export function plainText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
