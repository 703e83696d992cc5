/**
 * Tickets and the inbox for code in the same process. The embedding program is trusted to name the person who answers
 * one; for an agent it only waits.
 */
import type { Principal } from '../../core/call/call.ts';
import type { TicketStory, TicketView } from '../../core/recovery/ticket-view.ts';
import { answerKinds } from '../../core/ticket/answer-kinds.ts';
import type { TicketAnswer } from '../../core/ticket/answers.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import type {
  Inbox,
  TicketDone,
  TicketOutcome,
  TicketPerson,
  TicketService,
} from '../../shell/ticket/ticket-service.ts';
import { isObject } from '../../core/values/json.ts';
import type { Shell } from '../../shell/shell.ts';
import { type CallOptions, mustBeFit } from './library-door.ts';

type Tenant = Pick<CallOptions, 'tenant'>;

/** A person's answer. `by` names them, and goes on record. */
export type TicketSays = TicketAnswer & { readonly by: string; readonly note?: string };

const defaultWaitSeconds = 60;
const maxListed = 200;
const defaultListed = 50;

export function createTicketDoor(service: TicketService, shell: Shell, self: Principal) {
  const tenantOf = (options: Tenant): string => {
    mustBeFit(options, shell);
    return options.tenant ?? self.tenant;
  };
  const person = (by: unknown, options: Tenant): TicketPerson => {
    const tenant = tenantOf(options);
    if (typeof by !== 'string' || by.length > shell.limits.maxNameChars || !/^[^\s\p{Cc}]+$/u.test(by))
      throw new GatewayError('bad_options', '`by` must name the person who answers it: a text without spaces');
    return { tenant, name: by, maySettle: true };
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
      /** `by` works on it from now on; with `give_back` nobody does. */
      async take(
        id: string,
        { by, give_back: giveBack = false }: { readonly by: string; readonly give_back?: boolean },
        options: Tenant = {},
      ): Promise<TicketDone> {
        return service.take(String(id), person(by, options), giveBack);
      },
      async comment(
        id: string,
        { by, text }: { readonly by: string; readonly text: string },
        options: Tenant = {},
      ): Promise<TicketDone> {
        return service.comment(String(id), person(by, options), text);
      },
      /** Answers it: with one of the `answers` that `show` lists. `by` names the person, and goes on record. */
      async resolve(id: string, says: TicketSays, options: Tenant = {}): Promise<TicketDone> {
        const { by, note, ...answer } = says;
        const who = person(by, options);
        if (!isObject(answer) || !answerKinds.includes(answer.answer))
          throw new GatewayError('bad_options', `\`answer\` is one of ${answerKinds.join(', ')}`);
        return service.resolve(String(id), who, answer, note === undefined ? {} : { note });
      },
      /** The same as to answer `give_up`: nothing runs, and no call is settled. */
      async close(
        id: string,
        { by, note }: { readonly by: string; readonly note?: string },
        options: Tenant = {},
      ): Promise<TicketDone> {
        return service.close(String(id), person(by, options), note === undefined ? {} : { note });
      },
      /** For an agent: resolves when it is answered and its call has ended, or after `seconds`: 60 if left out. */
      async wait(
        id: string,
        { seconds = defaultWaitSeconds }: { readonly seconds?: number } = {},
        options: CallOptions = {},
      ): Promise<TicketOutcome | null> {
        mustBeFit(options, shell);
        const scope = { tenant: options.tenant ?? self.tenant, agent: options.agent ?? self.agent };
        const waitMs = typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : 0;
        return typeof id === 'string' ? service.wait(id, scope, waitMs, options.signal) : null;
      },
    },
    /** Pending approvals and open tickets of the tenant, the most urgent first. */
    async inbox({ limit }: { readonly limit?: number } = {}, options: Tenant = {}): Promise<Inbox> {
      const listed = Math.min(Math.max(1, Math.trunc(limit ?? defaultListed) || defaultListed), maxListed);
      return service.inbox(tenantOf(options), listed);
    },
  };
}
