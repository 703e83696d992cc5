/** Carries calls to a gateway in the same process. Nothing can be lost on the way, and a signal cancels the call itself. */
import type { Reply } from '../core/reply.ts';
import { mustBeOptions, mustBeText } from './check-options.ts';
import type { Answer, Transport } from './transport.ts';

interface Who {
  readonly agent?: string;
  readonly tenant?: string;
}

/** What is needed of the object that `createGateway` gives. */
export interface InProcessGateway {
  handle(value: unknown, options?: Who & { readonly signal?: AbortSignal }): Promise<Reply>;
  reply(callId: string, options?: Who): Promise<Reply | null>;
}

export interface InProcessOptions {
  /** Who asks. */
  readonly agent: string;
  readonly tenant?: string;
}

export function inProcessTransport(gateway: InProcessGateway, options: InProcessOptions): Transport {
  mustBeOptions('inProcessTransport', options, ['agent', 'tenant']);
  for (const name of ['agent', 'tenant'] as const) mustBeText('inProcessTransport', name, options[name]);
  if (options.agent === undefined) throw new TypeError("inProcessTransport: option 'agent' must say who asks");
  const who: Who = { agent: options.agent, ...(options.tenant === undefined ? {} : { tenant: options.tenant }) };
  return {
    async send(call, signal): Promise<Answer> {
      if (signal?.aborted === true) return { kind: 'aborted', wasSent: false };
      const body = await gateway.handle(call, { ...who, ...(signal === undefined ? {} : { signal }) });
      return { kind: 'answered', body };
    },
    async look(callId): Promise<Answer> {
      try {
        return { kind: 'answered', body: await gateway.reply(callId, who) };
      } catch (cause) {
        // A gateway that was closed meanwhile says so by an exception.
        return { kind: 'lost', reason: 'the gateway could not be asked', cause };
      }
    },
  };
}
