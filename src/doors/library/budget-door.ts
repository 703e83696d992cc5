/**
 * Budgets for code in the same process. The embedding program is trusted to name the person who says what was spent.
 */
import type { BudgetView } from '../../core/budget/budget-view.ts';
import type { Principal } from '../../core/call/call.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import type { BudgetService, Changed } from '../../shell/budget/budget-service.ts';
import type { Shell } from '../../shell/shell.ts';
import { type CallOptions, mustBeFit } from './library-door.ts';

type Tenant = Pick<CallOptions, 'tenant'>;

/** Who says what was spent, and why. */
export interface SpendingStatement {
  /** Names the person; goes on record. */
  readonly by: string;
  readonly note?: string;
  /** Of a budget that counts by session: which. */
  readonly session?: string;
}

export function createBudgetDoor(service: BudgetService, shell: Shell, self: Principal) {
  const tenantOf = (options: Tenant): string => {
    mustBeFit(options, shell);
    return options.tenant ?? self.tenant;
  };
  const corrector = ({ by }: SpendingStatement, options: Tenant) => {
    const tenant = tenantOf(options);
    if (typeof by !== 'string' || by.length > shell.limits.maxNameChars || !/^[^\s\p{Cc}]+$/u.test(by))
      throw new GatewayError('bad_options', '`by` must name the person who says it: a text without spaces');
    return { tenant, name: by };
  };
  const aboutOf = ({ note, session }: SpendingStatement) => ({
    ...(note === undefined ? {} : { note }),
    ...(session === undefined ? {} : { session }),
  });
  return {
    budgets: {
      /** Those of the tenant, in their present windows. Null if the tenant has no such session. */
      list(
        wish: { readonly agent?: string; readonly session?: string } = {},
        options: Tenant = {},
      ): Promise<readonly BudgetView[] | null> {
        return service.list({ tenant: tenantOf(options), agent: null }, wish);
      },
      /** Says what has been spent: an amount such as `120 USD`, or a number in the unit of the budget. */
      async set(id: string, spent: string | number, saying: SpendingStatement, options: Tenant = {}): Promise<Changed> {
        return service.set(String(id), corrector(saying, options), { spent, ...aboutOf(saying) });
      },
      /** Says that nothing has been spent. What calls hold stays held. */
      async reset(id: string, saying: SpendingStatement, options: Tenant = {}): Promise<Changed> {
        return service.reset(String(id), corrector(saying, options), aboutOf(saying));
      },
    },
  };
}
