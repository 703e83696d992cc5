/** Sends calls to a gateway in the same process. No answer can be lost, and a signal cancels the call itself. */
import type { ApprovalView } from '../../core/approval/approval-view.ts';
import type { RollbackView } from '../../core/reversal/reversal-view.ts';
import type { Reply } from '../../core/call/reply.ts';
import { mustBeOptions, mustBeText } from '../check-options.ts';
import type { Answer, CancelTarget, Transport } from './transport.ts';

interface Who {
  readonly agent?: string;
  readonly tenant?: string;
}

/** What is needed of the object that `createGateway` gives. */
export interface InProcessGateway {
  handle(value: unknown, options?: Who & { readonly signal?: AbortSignal }): Promise<Reply>;
  reply(callId: string, options?: Who): Promise<Reply | null>;
  cancel?(target: CancelTarget, options?: Who): Promise<string>;
  complete?(value: { readonly session?: string }, options?: Who): Promise<Reply>;
  readonly reversals?: {
    redeem(token: string, options?: Who): Promise<Reply>;
    rollBack(session: string, asking: { readonly by: string }, options?: Who): Promise<RollbackView | null>;
  };
  readonly approvals?: {
    wait(
      approvalId: string,
      waiting: { readonly seconds: number },
      options?: Who & { readonly signal?: AbortSignal },
    ): Promise<ApprovalView | null>;
  };
}

export interface InProcessOptions {
  /** Who asks. */
  readonly agent: string;
  readonly tenant?: string;
}

const closed = 'denied: the gateway is closed, create another one';

export function inProcessTransport(gateway: InProcessGateway, options: InProcessOptions): Transport {
  mustBeOptions('inProcessTransport', options, ['agent', 'tenant']);
  for (const name of ['agent', 'tenant'] as const) mustBeText('inProcessTransport', name, options[name]);
  if (options.agent === undefined) throw new TypeError("inProcessTransport: option 'agent' must say who asks");
  const who: Who = { agent: options.agent, ...(options.tenant === undefined ? {} : { tenant: options.tenant }) };
  /** A gateway that was closed meanwhile says so by an exception. */
  const asked = async (ask: () => Promise<unknown>): Promise<Answer> => {
    try {
      return { kind: 'answered', body: await ask() };
    } catch (cause) {
      return { kind: 'lost', reason: 'the gateway could not be asked', cause };
    }
  };
  let isClosed = false;
  /** Nobody gets hold of a gateway before it is ready. One that is not ready was closed, and never opens again. */
  const read = (reply: Reply | undefined): Reply | undefined => {
    if (reply === undefined || !('error' in reply) || reply.code !== 'DAEMON_NOT_READY') return reply;
    isClosed = true;
    return { ...reply, message: closed, human_message: closed };
  };
  const { approvals, reversals } = gateway;
  return {
    isClosed: () => isClosed,
    async send(call, signal): Promise<Answer> {
      if (signal?.aborted === true) return { kind: 'aborted', wasSent: false };
      const body = await gateway.handle(call, { ...who, ...(signal === undefined ? {} : { signal }) });
      return { kind: 'answered', body: read(body) };
    },
    look: (callId) => asked(() => gateway.reply(callId, who)),
    ...(approvals === undefined
      ? {}
      : {
          async approval(approvalId, seconds, signal): Promise<Answer> {
            if (signal?.aborted === true) return { kind: 'aborted', wasSent: false };
            const options = { ...who, ...(signal === undefined ? {} : { signal }) };
            return asked(() => approvals.wait(approvalId, { seconds }, options));
          },
        }),
    ...(gateway.cancel === undefined ? {} : { cancel: (target) => asked(async () => gateway.cancel?.(target, who)) }),
    ...(reversals === undefined
      ? {}
      : {
          reverse: (token) => asked(async () => read(await reversals.redeem(token, who))),
          rollBack: (session) => asked(() => reversals.rollBack(session, { by: options.agent }, who)),
        }),
    ...(gateway.complete === undefined
      ? {}
      : {
          complete: (session) =>
            asked(async () => read(await gateway.complete?.(session === undefined ? {} : { session }, who))),
        }),
  };
}
