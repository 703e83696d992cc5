/**
 * Wraps the tools of an agent so that each run is a call that the gateway decides, runs and records. Names,
 * descriptions and schemas stay the same. The tools' own bodies are not run here.
 */
import { type Client, clientOptionNames, type ClientOptions, createClient } from '../create-client.ts';
import { mustBeOptions } from '../check-options.ts';
import { CallError } from '../call-error.ts';
import { inProcessTransport, type InProcessGateway } from '../transport/in-process-transport.ts';
import { type NamedTool, nameTools, type Naming } from './name-tools.ts';
import { invalidArgs } from './plain-args.ts';
import type { Refusal } from '../refusal-of.ts';
import { ToolDeniedError } from '../tool-denied-error.ts';
import { type Recognised, recognise, type ToolList, type ToolRecord } from './tool-shapes.ts';
import type { Transport } from '../transport/transport.ts';
import { unreachable } from '../unreachable.ts';

/** Which gateway, and who asks: a client, a transport, or a gateway in this process and the agent's name. */
type Through =
  | { readonly client: Client; readonly agent?: never; readonly tenant?: never }
  | (Made & { readonly transport: Transport; readonly agent?: never; readonly tenant?: never })
  | (Made & { readonly gateway: InProcessGateway; readonly agent: string; readonly tenant?: string });

/** What a client that is made here may be told. */
type Made = Omit<ClientOptions, 'transport'>;

export type GovernOptions = Through &
  Naming & {
    /**
     * The key of a call, if the agent knows a better one than chance. `toolCallId` is the model's, where there is one.
     */
    readonly key?: (call: { tool: string; args: unknown; toolCallId: string | null }) => string | undefined;
    /** What the model gets to read instead of an exception: see `tellModel`. Without it, refusals are thrown. */
    readonly onRefusal?: (refusal: Refusal) => unknown;
    /** Names of tools that nobody can govern from here (those the provider runs itself) and that pass as they are. */
    readonly ungoverned?: readonly string[];
  };

const ownNames = ['prefix', 'names', 'key', 'onRefusal', 'ungoverned'];

export function governTools<const Tools extends ToolList | ToolRecord>(tools: Tools, options: GovernOptions): Tools {
  const client = clientOf(options);
  const named = nameTools(tools, options);
  const stranger = options.ungoverned?.find((own) => named.every((each) => each.own !== own));
  if (stranger !== undefined) throw new TypeError(`ungoverned: there is no tool '${stranger}'`);
  const governed = named.map((each) => [each.place, governTool(each, client, options)] as const);
  return (Array.isArray(tools) ? governed.map(([, tool]) => tool) : Object.fromEntries(governed)) as Tools;
}

function clientOf(options: GovernOptions): Client {
  if ('client' in options) {
    mustBeOptions('governTools with a client', options, ['client', ...ownNames]);
    return options.client;
  }
  const bounds: Record<string, unknown> = {};
  for (const name of clientOptionNames) if (name in options) bounds[name] = options[name as keyof typeof options];
  const rest = bounds as Made;
  if ('gateway' in options) {
    mustBeOptions('governTools', options, ['gateway', 'agent', 'tenant', ...clientOptionNames, ...ownNames]);
    const { gateway, agent, tenant } = options;
    const who = tenant === undefined ? { agent } : { agent, tenant };
    return createClient({ transport: inProcessTransport(gateway, who), ...rest });
  }
  // Over a transport the agent is whoever the transport's key belongs to; a name beside it could only contradict.
  mustBeOptions('governTools with a transport', options, ['transport', ...clientOptionNames, ...ownNames]);
  return createClient({ transport: options.transport, ...rest });
}

function governTool({ own, name, tool }: NamedTool, client: Client, options: GovernOptions): unknown {
  if (options.ungoverned?.includes(own) === true) return tool;
  const found = recognise(tool);
  if (found === null) {
    const ways = "give it a body (`remote()` if it runs at the gateway), or name it in 'ungoverned'";
    throw new TypeError(`tool '${own}' has nothing that could be governed: ${ways}`);
  }
  const run = async (readArgs: () => unknown, toolCallId: string | null, signal: AbortSignal | undefined) => {
    try {
      const args = readArgs();
      const key = options.key?.({ tool: name, args, toolCallId });
      const settings = { ...(key === undefined ? {} : { key }), ...(signal === undefined ? {} : { signal }) };
      return await client.call(name, args, settings);
    } catch (error) {
      const isRefusal = error instanceof ToolDeniedError || error instanceof CallError;
      if (options.onRefusal === undefined || !isRefusal) throw error;
      return options.onRefusal(error);
    }
  };
  return reshaped(found, name, run);
}

type Run = (readArgs: () => unknown, toolCallId: string | null, signal: AbortSignal | undefined) => Promise<unknown>;

/** What each shape passes to its body besides the arguments. */
interface BodyOptions {
  readonly abortSignal?: AbortSignal;
  readonly signal?: AbortSignal;
  readonly toolCallId?: string;
  readonly toolCall?: { readonly callId?: string };
}

function reshaped(found: Recognised, name: string, run: Run): unknown {
  switch (found.kind) {
    case 'plain':
      return (args: unknown, given?: BodyOptions) => run(() => args, null, given?.signal);
    case 'ai':
      return withBody(found.tool, 'execute', (args: unknown, given?: BodyOptions) =>
        run(() => args, given?.toolCallId ?? null, given?.abortSignal),
      );
    case 'openai':
      return withBody(found.tool, 'invoke', (_context: unknown, input: unknown, given?: BodyOptions) =>
        run(() => parsedInput(input, name), given?.toolCall?.callId ?? null, given?.signal),
      );
    default:
      return unreachable(found);
  }
}

/** A copy that differs in its body only: getters, symbols and the prototype stay as they were. */
function withBody(tool: object, property: string, body: unknown): unknown {
  const { [property]: _own, ...others } = Object.getOwnPropertyDescriptors(tool) as PropertyDescriptorMap;
  const copy: object = Object.create(Object.getPrototypeOf(tool) as object | null, others);
  return Object.defineProperty(copy, property, { value: body, enumerable: true, writable: true, configurable: true });
}

/** Models sometimes send an empty text in place of an empty object. */
function parsedInput(input: unknown, name: string): unknown {
  if (typeof input !== 'string') return input;
  if (input.trim() === '') return {};
  try {
    return JSON.parse(input);
  } catch {
    throw invalidArgs(name, 'its input is not JSON');
  }
}
