/**
 * Reversals and rollbacks for code in the same process. `agent` redeems its own token; the embedding program is trusted
 * to name the person who has a call undone or a session rolled back.
 */
import type { Principal } from '../../core/call/call.ts';
import { secondsToMs } from '../../core/values/duration.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { ReversalService, ReversalView, RollbackView } from '../../shell/reversal/reversal-service.ts';
import type { Shell } from '../../shell/shell.ts';
import { type CallOptions, mustBeFit } from './library-door.ts';

type Tenant = Pick<CallOptions, 'tenant'>;
type Who = Pick<CallOptions, 'tenant' | 'agent'>;

/** `by` names the person, and goes on record. `wait_seconds`: for as long as it takes, if not given. */
export interface ReverseOptions {
  readonly by: string;
  readonly reason?: string;
  readonly wait_seconds?: number;
}

export function createReversalDoor(service: ReversalService, shell: Shell, self: Principal) {
  const tenantOf = (options: Tenant): string => {
    mustBeFit(options, shell);
    return options.tenant ?? self.tenant;
  };
  const askingOf = ({ by, reason, wait_seconds: seconds }: ReverseOptions) => {
    if (typeof by !== 'string' || by.length > shell.limits.maxNameChars || !/^[^\s\p{Cc}]+$/u.test(by))
      throw new GatewayError('bad_options', '`by` must name the person who asks: a text without spaces');
    return { by, ...(reason === undefined ? {} : { reason: String(reason) }), waitMs: waitOf(seconds) };
  };
  return {
    reversals: {
      /** Undoes the call that this token came with, for its own agent. Never rejects: a refusal is a reply. */
      async redeem(
        token: string,
        options: Omit<CallOptions, 'signal'> & { readonly wait_seconds?: number } = {},
      ): Promise<Reply> {
        const tenant = tenantOf(options);
        const who = { tenant, agent: options.agent ?? self.agent };
        return service.redeem(String(token), who, { requester: {}, waitMs: waitOf(options.wait_seconds) });
      },
      /** With what the call would be undone now; null if it cannot be, or if the tenant has no such call. */
      async show(call: string, options: Tenant = {}): Promise<ReversalView | null> {
        return service.look(String(call), { tenant: tenantOf(options), agent: null });
      },
      /** Undoes a call because a person says so; null if the tenant has no such call. */
      async reverse(call: string, asking: ReverseOptions, options: Tenant = {}): Promise<Reply | null> {
        return service.reverse(String(call), { tenant: tenantOf(options), agent: null }, askingOf(asking));
      },
      /**
       * Undoes the calls of a session, the last first. Closes the session. Null if the tenant, or the agent that is
       * named, has no such session.
       */
      async rollBack(session: string, asking: ReverseOptions, options: Who = {}): Promise<RollbackView | null> {
        const scope = { tenant: tenantOf(options), agent: options.agent ?? null };
        const view = await service.rollBack(String(session), scope, askingOf(asking));
        if (view === 'store_unavailable') throw new GatewayError('store_unavailable', 'the store cannot record it');
        return view;
      },
      /** How a rollback stands; null if there is none. */
      async rollback(session: string, options: Tenant = {}): Promise<RollbackView | null> {
        return service.rollback(String(session), { tenant: tenantOf(options), agent: null });
      },
    },
  };
}

const waitOf = (seconds: number | undefined): number | null =>
  typeof seconds === 'number' && seconds >= 0 ? secondsToMs(seconds) : null;
