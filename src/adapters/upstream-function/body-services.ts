/**
 * What a body can ask while it runs: the agent's client and other tools, as long as somebody waits for its result. An
 * isolated body has none. Every request rejects with a message; none throws synchronously.
 */
import type { Json, JsonObject } from '../../core/values/json.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { AgentClient, Attempt, Elicited, SuppressedByBody } from '../../ports/upstream.ts';

export interface BodyServices {
  readonly elicit: (message: string, schema?: object) => Promise<Elicited>;
  readonly sample: (request: object) => Promise<JsonObject>;
  readonly call: (name: string, args?: unknown) => Promise<Reply>;
  /** Never throws. */
  readonly suppressed: (told: SuppressedByBody) => void;
}

export class NotAvailable extends Error {
  override name = 'NotAvailable';
}

const anyForm = { type: 'object', properties: {} } as const;

/** Prevents an unhandled rejection when a body does not await its request. Awaiting it still throws. */
const unheard = <Value>(asked: Promise<Value>): Promise<Value> => {
  // Ignored: awaiting the request still throws.
  asked.catch(() => undefined);
  return asked;
};

export interface TrackedServices extends BodyServices {
  /** Whether a tool that was called has had an effect, or may have: one that has not answered yet may. */
  readonly hadEffect: () => boolean;
}

export function servicesOf(attempt: Attempt, signal: AbortSignal): TrackedServices {
  let mayHave = 0;
  const services = servicesTo(attempt, signal, async (name, args) => {
    mayHave += 1;
    const { reply, effect } = await attempt.callTool(name, args);
    if (effect === 'none') mayHave -= 1;
    return reply;
  });
  return {
    hadEffect: () => mayHave > 0,
    elicit: (message, schema) => unheard(services.elicit(message, schema)),
    sample: (request) => unheard(services.sample(request)),
    call: (name, args) => unheard(services.call(name, args)),
    suppressed: services.suppressed,
  };
}

function servicesTo(
  attempt: Attempt,
  signal: AbortSignal,
  call: (name: string, args: Json) => Promise<Reply>,
): BodyServices {
  return {
    elicit: async (message, schema = anyForm) => {
      const client = clientOf(attempt, signal, 'elicit');
      if (typeof message !== 'string')
        throw new TypeError('ctx.elicit(message, schema?) asks in words: message is no text');
      return inTime(client.elicit(message, schema as JsonObject, signal), signal, 'elicit');
    },
    sample: async (request) =>
      inTime(clientOf(attempt, signal, 'sample').sample(request as JsonObject, signal), signal, 'sample'),
    call: async (name, args = {}) => {
      waits(signal, 'tools.call');
      if (typeof name !== 'string') throw new TypeError('ctx.tools.call(name, args) needs the name of a tool');
      return call(name, args as Json);
    },
    suppressed: (told) => attempt.suppressed?.(told),
  };
}

/** In a worker no requests are possible: only arguments and the result are passed. */
export const noServices: BodyServices = {
  elicit: () => unheard(isolated('ctx.elicit')),
  sample: () => unheard(isolated('ctx.sample')),
  call: () => unheard(isolated('ctx.tools.call')),
  suppressed: () => undefined,
};

async function isolated(what: string): Promise<never> {
  throw new NotAvailable(
    `${what} is not available in an isolated body; leave isolate out, or ask in an action before it`,
  );
}

function clientOf({ client }: Attempt, signal: AbortSignal, what: 'elicit' | 'sample'): AgentClient {
  waits(signal, what);
  if (client !== null) return client;
  throw new NotAvailable(`ctx.${what} is not available: this call came from nobody who can be asked`);
}

/** A request that is aborted because nobody waits for its body is reported as not answered. */
async function inTime<Answer>(asked: Promise<Answer>, signal: AbortSignal, what: string): Promise<Answer> {
  try {
    return await asked;
  } catch (cause) {
    if (!signal.aborted) throw cause;
    throw new NotAvailable(`ctx.${what} was not answered while somebody waited for this call`, { cause });
  }
}

function waits(signal: AbortSignal, what: string): void {
  if (signal.aborted) throw new NotAvailable(`ctx.${what} is not available any more: nobody waits for this call`);
}
