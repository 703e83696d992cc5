/**
 * Tickets for code in the same process. The embedding program is trusted to name the person who closes one. Agents have
 * no way here.
 */
import type { Principal } from '../../core/call/call.ts';
import type { TicketStory, TicketView } from '../../core/recovery/ticket-view.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import type { Closed, TicketService } from '../../shell/ticket/ticket-service.ts';
import type { Shell } from '../../shell/shell.ts';
import { type CallOptions, mustBeFit } from './library-door.ts';

type Tenant = Pick<CallOptions, 'tenant'>;

const maxListed = 200;
const defaultListed = 50;

export function createTicketDoor(service: TicketService, shell: Shell, self: Principal) {
  const tenantOf = (options: Tenant): string => {
    mustBeFit(options, shell);
    return options.tenant ?? self.tenant;
  };
  return {
    tickets: {
      /** Those of the tenant, the last opened first. */
      async list(
        wish: {
          readonly state?: TicketView['state'];
          readonly queue?: string;
          readonly before?: string;
          readonly limit?: number;
        } = {},
        options: Tenant = {},
      ): Promise<readonly TicketView[]> {
        const limit = Math.min(Math.max(1, Math.trunc(wish.limit ?? defaultListed) || defaultListed), maxListed);
        return service.list(tenantOf(options), { ...wish, limit });
      },
      /** With the call that it is about; null if the tenant has no such ticket. */
      async show(id: string, options: Tenant = {}): Promise<TicketStory | null> {
        const tenant = tenantOf(options);
        return typeof id === 'string' ? service.show(id, tenant) : null;
      },
      /** Says that somebody took care of it. `by` names them, and goes on record. Settles no call. */
      async close(
        id: string,
        { by, note }: { readonly by: string; readonly note?: string },
        options: Tenant = {},
      ): Promise<Closed> {
        const tenant = tenantOf(options);
        if (typeof by !== 'string' || by.length > shell.limits.maxNameChars || !/^[^\s\p{Cc}]+$/u.test(by))
          throw new GatewayError('bad_options', '`by` must name the person who closes it: a text without spaces');
        return service.close(String(id), { tenant, name: by }, note === undefined ? {} : { note });
      },
    },
  };
}
