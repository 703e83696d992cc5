/**
 * The public way to define a tool as an HTTP request. Schemas, effect and timeouts are those of `tool()`; how the
 * request is made is checked at once. A definition that could not work is refused with the tool's name and a fix.
 */
import { ToolDefinitionError } from '../../adapters/upstream-function/check-definition.ts';
import type { InputOf, StandardSchema } from '../../adapters/upstream-function/standard-schema.ts';
import {
  checkedTool,
  type DescribedTool,
  type JsonSchema,
  type Tool,
  tool,
} from '../../adapters/upstream-function/tool.ts';
import { effectOfMethod } from '../../adapters/upstream-http/http-api.ts';
import {
  type ConflictCodes,
  defaultKeyPlace,
  type HttpTarget,
  type HttpTool,
  type KeyPlace,
  noConflictCodes,
  type RedirectRule,
  redirectRules,
} from '../../adapters/upstream-http/http-config.ts';
import {
  type HttpMethod,
  httpMethods,
  planRequest,
  RequestPlanError,
} from '../../adapters/upstream-http/plan-request.ts';
import type { EffectClass } from '../../core/taxonomy.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { namesInTemplate } from '../../core/values/text-template.ts';

type AnySchema = StandardSchema | JsonSchema;

export interface HttpToolDefinition<Name extends string, Input, Output> extends DescribedTool<Name, Input, Output> {
  readonly method: HttpMethod;
  /** The whole address. `{name}` in its path stands for an argument, percent-encoded. */
  readonly url: string;
  /** A value without `{name}` counts as a secret: it is never shown. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What is not mapped goes into the query of GET, HEAD, OPTIONS and DELETE, and into the JSON body of the others. */
  readonly query?: JsonObject;
  readonly body?: Json;
  /** 'pure' for GET, HEAD and OPTIONS, else 'plain', if not given. */
  readonly effect?: EffectClass;
  /** Where the idempotency key of a write goes; the header Idempotency-Key if not given. */
  readonly key?: 'none' | { readonly header: string } | { readonly field: string };
  /** 'none' if not given. */
  readonly redirects?: RedirectRule;
  /** Codes by which the upstream says what became of the key. */
  readonly conflicts?: Partial<ConflictCodes>;
  readonly max_response_bytes?: number;
}

type SentFor<Input> = Input extends StandardSchema ? InputOf<Input> : Record<string, unknown>;
type ResultFor<Output> = Output extends StandardSchema ? InputOf<Output> : unknown;

export interface HttpToolParts {
  readonly target: HttpTarget;
  readonly tool: HttpTool;
  /** Without what may be secret, for the manifest. */
  readonly shown: JsonObject;
}

const parts = new WeakMap<object, HttpToolParts>();

/** Null for a tool that is a function. */
export const httpPartsOf = (definition: Tool): HttpToolParts | null => parts.get(definition) ?? null;

export function httpTool<const Name extends string, Input extends AnySchema, Output extends AnySchema = JsonSchema>(
  definition: HttpToolDefinition<Name, Input, Output>,
): Tool<Name, SentFor<Input>, ResultFor<Output>, SentFor<Input>> {
  const { method, url, headers, query, body, key, redirects, conflicts, max_response_bytes, ...rest } = definition;
  const { name } = rest;
  const verb = methodOf(name, method);
  const effect = rest.effect ?? effectOfMethod(verb);
  const made = tool({ ...rest, effect, run: neverRun } as never) as Tool;
  const checked = checkedTool(made);
  const address = addressOf(name, url);
  const [fixed, filled] = splitHeaders(name, headers ?? {});
  const target: HttpTarget = {
    name,
    url: address.base,
    headers: fixed,
    redirects: redirectsOf(name, redirects),
    key: keyOf(name, key),
    conflicts: { ...noConflictCodes, ...conflicts },
    limits: max_response_bytes === undefined ? {} : { maxResponseBytes: bytesOf(name, max_response_bytes) },
  };
  const { output } = checked;
  const checkOutput = async (value: Json) => {
    const judged = await output?.judge(value);
    return judged === undefined || judged.ok ? [] : judged.errors;
  };
  const plan = planOf(name, { method: verb, path: address.path, query: query ?? null, headers: filled, body });
  if (target.key.kind === 'field' && plan.body.kind === 'none' && effect !== 'pure')
    throw new ToolDefinitionError(name, `its key is a field, and a ${verb} has no body`, 'use key: { header: … }');
  parts.set(made, {
    target,
    tool: { name, effectClass: checked.effectClass, plan, checkOutput: output === null ? null : checkOutput },
    shown: { method: verb, host: new URL(address.base).host, path: address.path },
  });
  return made as never;
}

/** The gateway sends the request in its place. */
const neverRun = async (): Promise<never> => {
  throw new Error('an HTTP tool has no body');
};

function methodOf(name: string, method: unknown): HttpMethod {
  const found = httpMethods.find((each) => each === method);
  if (found !== undefined) return found;
  throw new ToolDefinitionError(name, 'its method is unknown', `use one of ${httpMethods.join(', ')}`);
}

/** The address without its path; the path is a template. */
function addressOf(name: string, url: unknown): { readonly base: string; readonly path: string } {
  const [, origin = '', path = '', query = ''] = /^(https?:\/\/[^/?#]+)([^?#]*)(\?[^#]*)?$/i.exec(String(url)) ?? [];
  if (origin === '' || URL.parse(origin) === null)
    throw new ToolDefinitionError(name, 'its url is no http or https address', 'write the whole address');
  if (/[{}]/.test(origin) || /[{}]/.test(query))
    throw new ToolDefinitionError(name, 'its url has a {name} outside its path', 'use query for what follows the ?');
  return { base: `${origin}/${query}`, path };
}

function splitHeaders(name: string, headers: Readonly<Record<string, string>>) {
  if (!isObject(headers) || Object.values(headers).some((value) => typeof value !== 'string'))
    throw new ToolDefinitionError(name, 'its headers are no texts by name', "write headers: { 'X-Name': 'value' }");
  const all = Object.entries(headers);
  const isFilled = ([, value]: readonly [string, string]) => namesInTemplate(value).length > 0;
  return [Object.fromEntries(all.filter((each) => !isFilled(each))), Object.fromEntries(all.filter(isFilled))] as const;
}

function redirectsOf(name: string, redirects: unknown): RedirectRule {
  const found = redirects === undefined ? 'none' : redirectRules.find((each) => each === redirects);
  if (found !== undefined) return found;
  throw new ToolDefinitionError(name, 'its redirects is unknown', `use one of ${redirectRules.join(', ')}`);
}

function keyOf(name: string, key: unknown): KeyPlace {
  if (key === undefined) return defaultKeyPlace;
  if (key === 'none') return { kind: 'none' };
  const { header, field } = isObject(key) ? key : {};
  if (typeof header === 'string' && field === undefined) return { kind: 'header', name: header };
  if (typeof field === 'string' && header === undefined) return { kind: 'field', name: field };
  throw new ToolDefinitionError(name, 'its key is unknown', "use 'none', { header: … } or { field: … }");
}

function bytesOf(name: string, bytes: unknown): number {
  if (Number.isSafeInteger(bytes) && Number(bytes) > 0) return Number(bytes);
  throw new ToolDefinitionError(name, 'its max_response_bytes is not usable', 'use a whole number from 1');
}

function planOf(name: string, request: Parameters<typeof planRequest>[0]) {
  try {
    return planRequest(request);
  } catch (error) {
    if (!(error instanceof RequestPlanError)) throw error;
    throw new ToolDefinitionError(name, error.message, 'correct the request');
  }
}
