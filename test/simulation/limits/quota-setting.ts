/**
 * Rate limits and budgets of a simulated world. Data only: what policies are compiled from, and what the witness
 * believes of each account and bucket.
 */
import { defaultTerms } from '../../../src/core/approval/approval.ts';
import type { WrittenBudget } from '../../../src/core/budget/budget.ts';
import type { WrittenAgent, WrittenPolicy } from '../../../src/core/policy/policy.ts';
import { isObject, type Json } from '../../../src/core/values/json.ts';
import type { Random } from '../random.ts';

export interface Quotas {
  /** Dollars of each agent in each hour; a call costs its amount. The hour ends while the agents work. */
  readonly dollars: number;
  /** Calls of both agents together, in all. */
  readonly calls: number;
  /** Dollars that a person may allow beyond; null: nobody is asked. */
  readonly raise: number | null;
  /** Calls a minute of each agent. */
  readonly rate: number;
  readonly burst: number;
}

export function drawQuotas(random: Random): Quotas {
  return {
    dollars: random.pick([10, 15, 25]),
    calls: random.pick([5, 9, 14]),
    raise: random.chance(0.5) ? 10 : null,
    rate: random.pick([12, 30, 60]),
    burst: random.pick([1, 2, 4]),
  };
}

const scale = 1_000_000;
const dollars = (amount: number) => ({ micros: amount * scale, unit: 'USD' });
/** Long enough for people; what they allow lasts for the rest of the hour. */
const askedForMs = 20_000;

const aBudget: Omit<WrittenBudget, 'name' | 'max' | 'raise' | 'ref'> = {
  match: '**',
  cost: null,
  reserve: null,
  window: 'total',
  timeZone: 'UTC',
  warnAt: 0.8,
  onExceed: 'deny',
  terms: { ...defaultTerms, expiresMs: askedForMs },
  agents: null,
};

/** `line`: where it stands, which decides nothing. */
export function quotasOfAgent(quotas: Quotas | null, line: number): Pick<WrittenAgent, 'limits' | 'budgets'> {
  if (quotas === null) return {};
  const { raise, rate, burst } = quotas;
  return {
    limits: [{ match: '**', rate: `${rate}/minute`, burst, ref: `recourse.yaml:${line}` }],
    budgets: [
      {
        ...aBudget,
        name: 'spent',
        max: dollars(quotas.dollars),
        raise: dollars(raise ?? quotas.dollars),
        cost: 'args.amount',
        window: 'hourly',
        onExceed: raise === null ? 'deny' : 'defer',
        ref: `recourse.yaml:${line + 1}`,
      },
    ],
  };
}

export function sharedQuotas(quotas: Quotas | null, agents: readonly string[]): Pick<WrittenPolicy, 'budgets'> {
  if (quotas === null) return {};
  const max = { micros: quotas.calls, unit: 'calls' };
  return { budgets: [{ ...aBudget, name: 'made', max, raise: max, agents: [...agents], ref: 'recourse.yaml:3' }] };
}

/** INVARIANT: what the witness believes of an account is written here, not read from any policy or store. */
export interface Ceiling {
  readonly max: number;
  readonly raise: number;
  readonly costOf: (args: Json) => number;
}

const amountIn = (args: Json): number => {
  const amount = isObject(args) ? args['amount'] : null;
  return typeof amount === 'number' ? amount * scale : Number.NaN;
};

const hour = String.raw`\d{4}-\d\d-\d\dT\d\d:00:00Z`;

/** Each name is an account of every call of this agent; the pattern tells its windows. */
export const accountsOf = (agent: string): readonly RegExp[] => [
  new RegExp(`^agent/${agent}/spent/USD/${hour}$`),
  /^pool\/made\/calls$/,
];

export function ceilingOf({ dollars: most, calls, raise }: Quotas, account: string): Ceiling {
  if (account === 'pool/made/calls') return { max: calls, raise: 0, costOf: () => 1 };
  return { max: most * scale, raise: (raise ?? 0) * scale, costOf: amountIn };
}

export const bucketOf = ({ rate, burst }: Quotas) => ({ intervalMicros: 60_000_000 / rate, burst });
