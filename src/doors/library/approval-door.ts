/**
 * Approvals for code in the same process. The embedding program is trusted to name the person who
 * decides. The core still refuses an approval by the agent that asked.
 */
import type { ApprovalState, Decider } from '../../core/approval/approval.ts';
import type { ApprovalView } from '../../core/approval/approval-view.ts';
import type { Principal } from '../../core/call/call.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import type { Json } from '../../core/values/json.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { ApprovalService, Decided } from '../../shell/approval/approval-service.ts';
import { completeSession } from '../../shell/completion/complete.ts';
import { handleUnfit } from '../../shell/call/handle-call.ts';
import type { Shell } from '../../shell/shell.ts';
import { wrongOptions } from './check-options.ts';
import { type CallOptions, mustBeFit } from './library-door.ts';

type Who = Omit<CallOptions, 'signal'>;
type Tenant = Pick<Who, 'tenant'>;

/** A person's decision. `by` names them, and goes on record. */
export interface PersonSays {
  readonly by: string;
  readonly reason?: string;
  /** The hash of what they were shown; if it has changed since, the decision is refused. */
  readonly shown?: string;
}

const maxListed = 200;
const defaultListed = 50;
const defaultWaitSeconds = 60;

export function createApprovalDoor(service: ApprovalService, shell: Shell, self: Principal) {
  const who = ({ tenant, agent }: Who): Principal => ({ tenant: tenant ?? self.tenant, agent: agent ?? self.agent });
  const person = (by: unknown, { tenant = self.tenant }: Tenant): Decider => {
    if (typeof by !== 'string' || by.length > shell.limits.maxNameChars || !/^[^\s\p{Cc}]+$/u.test(by))
      throw new GatewayError('bad_options', '`by` must name the person who decides: a text without spaces');
    return { kind: 'person', tenant, name: by };
  };
  return {
    /** The agent reports that its work in `session`, or in its standing session, is done. Never rejects. */
    async complete(value: { readonly session?: string } = {}, options: Who = {}): Promise<Reply> {
      const wrong = wrongOptions(options, shell.limits.maxNameChars);
      return wrong.length > 0 ? handleUnfit(wrong, self, shell) : completeSession(value, who(options), shell);
    },
    approvals: {
      /** One of the agent's own; null if it has no such approval. */
      async read(id: string, options: Who = {}): Promise<ApprovalView | null> {
        mustBeFit(options, shell);
        return typeof id === 'string' ? service.read(id, who(options)) : null;
      },
      /** Resolves when it is no longer pending, or after `seconds`: 60 if left out. */
      async wait(
        id: string,
        { seconds = defaultWaitSeconds }: { readonly seconds?: number } = {},
        options: CallOptions = {},
      ): Promise<ApprovalView | null> {
        mustBeFit(options, shell);
        const waitMs = typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : 0;
        return typeof id === 'string' ? service.wait(id, who(options), waitMs, options.signal) : null;
      },
      /** Newest first: all of the tenant, or those of `agent`. */
      async list(
        wish: {
          readonly state?: ApprovalState;
          readonly session?: string;
          readonly before?: string;
          readonly limit?: number;
        } = {},
        options: Who = {},
      ): Promise<readonly ApprovalView[]> {
        mustBeFit(options, shell);
        const limit = Math.min(Math.max(1, Math.trunc(wish.limit ?? defaultListed) || defaultListed), maxListed);
        return service.list(
          { tenant: options.tenant ?? self.tenant, agent: options.agent ?? null },
          { ...wish, limit },
        );
      },
      /** With `args` the call is approved with other arguments. */
      async approve(id: string, says: PersonSays & { readonly args?: Json }, options: Tenant = {}): Promise<Decided> {
        mustBeFit(options, shell);
        const { by, ...word } = says;
        return service.approve(id, person(by, options), word);
      },
      async deny(id: string, says: PersonSays, options: Tenant = {}): Promise<Decided> {
        mustBeFit(options, shell);
        const { by, ...word } = says;
        return service.deny(id, person(by, options), word);
      },
      /** Revokes a decision: no call starts or is resent under it any more. */
      async revoke(id: string, says: Omit<PersonSays, 'shown'>, options: Tenant = {}): Promise<Decided> {
        mustBeFit(options, shell);
        const { by, ...word } = says;
        return service.revoke(id, person(by, options), word);
      },
    },
  };
}
