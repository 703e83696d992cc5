/**
 * Turns tools of an agent into tools of a gateway in the same process, which runs their bodies: `createGateway({
 * tools: localTools(tools) })`, then `governTools(tools, { gateway, agent })`. A tool without a stated effect counts
 * as a plain write: neither deduplicated nor checkable.
 */
import type { EffectClass } from '../../core/taxonomy.ts';
import { mustBeOptions } from '../check-options.ts';
import { type NamedTool, nameTools, type Naming } from './name-tools.ts';
import { type Loose, recognise, type Recognised, type ToolList, type ToolRecord } from './tool-shapes.ts';
import { unreachable } from '../unreachable.ts';

/** What a gateway must know of a tool, and its own definition does not say. */
export interface LocalSettings {
  readonly effect?: EffectClass;
  readonly dedupe_window_seconds?: number;
  readonly timeout_seconds?: number;
  readonly description?: string;
  /** For plain functions, which have none: without it any input is let through. */
  readonly input?: GatewaySchema;
}

export interface LocalOptions extends Naming {
  /** By the name that the agent uses. */
  readonly settings?: { readonly [own: string]: LocalSettings };
  /** True if every OpenAI tool was made with `errorFunction: null`. Otherwise a failure would look like a result. */
  readonly invokeThrows?: true;
}

/** What the gateway gives to a body; more than is used here. */
interface Context {
  readonly call_id: string;
  readonly signal: AbortSignal;
}

/** A tool as `createGateway` takes it. */
export interface LocalTool {
  readonly name: string;
  readonly description?: string;
  readonly input: GatewaySchema;
  readonly effect?: EffectClass;
  readonly dedupe_window_seconds?: number;
  readonly timeout_seconds?: number;
  readonly run: (args: unknown, context: Context) => Promise<unknown>;
}

export function localTools(tools: ToolList | ToolRecord, options: LocalOptions = {}): readonly LocalTool[] {
  mustBeOptions('localTools', options, ['prefix', 'names', 'settings', 'invokeThrows']);
  const named = nameTools(tools, options);
  const stranger = Object.keys(options.settings ?? {}).find((own) => named.every((each) => each.own !== own));
  if (stranger !== undefined) throw new TypeError(`settings: there is no tool '${stranger}'`);
  return named.map((each) => localTool(each, options));
}

function localTool({ own, name, tool }: NamedTool, { settings = {}, invokeThrows }: LocalOptions): LocalTool {
  const found = recognise(tool);
  if (found === null) throw new TypeError(`tool '${own}' has no body that the gateway could run`);
  if (found.kind === 'openai' && invokeThrows !== true)
    throw new TypeError(
      `tool '${own}' may turn its failures into texts, which would be recorded as results: make it with errorFunction: null, then say invokeThrows: true`,
    );
  const stated = { ...(Object.hasOwn(settings, own) ? settings[own] : {}) };
  const { description } = found.kind === 'plain' ? {} : found.tool;
  return {
    name,
    ...(typeof description === 'string' ? { description } : {}),
    ...stated,
    input: stated.input ?? schemaOf(own, found),
    run: async (args, context) => runBody(found, args, context),
  };
}

function schemaOf(own: string, found: Recognised): GatewaySchema {
  if (found.kind === 'plain') return {};
  const { inputSchema, parameters }: Loose = found.tool;
  const schema = gatewaySchema(inputSchema ?? parameters);
  if (schema === null)
    throw new TypeError(`tool '${own}' has a schema that cannot be read: state it in settings as \`input\``);
  return schema;
}

async function runBody(found: Recognised, args: unknown, { call_id, signal }: Context): Promise<unknown> {
  switch (found.kind) {
    case 'plain':
      return found.body(args, { signal });
    case 'ai':
      return lastOf(
        await found.body.call(found.tool, args, { toolCallId: call_id, messages: [], abortSignal: signal }),
      );
    case 'openai':
      // The agent's run context is not available here; such a body must not rely on it.
      return found.body.call(found.tool, undefined, JSON.stringify(args), { signal });
    default:
      return unreachable(found);
  }
}

/** More than any progress report has. */
const maxPreliminaryResults = 100_000;

/** A body may report progress by yielding; the last value is the result. */
async function lastOf(result: unknown): Promise<unknown> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return result;
  let last: unknown;
  let count = 0;
  for await (const each of result as AsyncIterable<unknown>) {
    if (++count > maxPreliminaryResults) throw new Error(`it yielded more than ${maxPreliminaryResults} results`);
    last = each;
  }
  return last;
}

/** What zod, valibot, arktype and others share. */
interface Standard {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => never;
  };
}

/** A JSON Schema, told apart by not being the other. */
interface Plain {
  readonly '~standard'?: never;
  readonly [keyword: string]: unknown;
}

type GatewaySchema = Standard | Plain;

/** A schema of a tool in a form that the gateway can check by; null if it is none. */
function gatewaySchema(schema: unknown): GatewaySchema | null {
  if ((typeof schema !== 'object' || schema === null) && typeof schema !== 'function') return null;
  const { '~standard': standard, jsonSchema } = schema as { '~standard'?: unknown; jsonSchema?: unknown };
  if (typeof standard === 'object' && standard !== null && 'validate' in standard) return schema as Standard;
  // The AI SDK makes some schemas only when they are asked for.
  if (typeof schema === 'function') return gatewaySchema((schema as () => unknown)());
  // And wraps others, `jsonSchema({...})`, with the schema inside; a promise of one is no schema yet.
  if (typeof jsonSchema === 'object' && jsonSchema !== null) return 'then' in jsonSchema ? null : (jsonSchema as Plain);
  // A schema library that is older than the standard: its objects are instances of classes, JSON Schemas are not.
  const prototype: unknown = Object.getPrototypeOf(schema);
  return prototype === Object.prototype || prototype === null ? (schema as Plain) : null;
}
