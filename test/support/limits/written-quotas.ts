/** Rate limits and budgets as tests write them. */
import { defaultTerms } from '../../../src/core/approval/approval.ts';
import { readAmount } from '../../../src/core/budget/amount.ts';
import type { WrittenBudget } from '../../../src/core/budget/budget.ts';
import type { WrittenLimit } from '../../../src/core/rate/rate-limit.ts';

type Given = Partial<Omit<WrittenBudget, 'max' | 'reserve' | 'raise'>> & {
  readonly reserve?: string;
  readonly raise?: string;
};

const amount = (text: string) => {
  const read = readAmount(text);
  if (read === null) throw new Error(`'${text}' is no amount`);
  return read;
};

export const aLimit = (match: string, rate: string, more: Partial<WrittenLimit> = {}): WrittenLimit => ({
  match,
  rate,
  burst: null,
  ref: 'recourse.yaml:20',
  ...more,
});

export function aBudget(max: string, { reserve, raise, ...more }: Given = {}): WrittenBudget {
  return {
    name: 'daily',
    max: amount(max),
    match: '**',
    cost: null,
    reserve: reserve === undefined ? null : amount(reserve),
    window: 'daily',
    timeZone: 'UTC',
    warnAt: null,
    onExceed: 'deny',
    raise: raise === undefined ? amount(max) : amount(raise),
    terms: defaultTerms,
    agents: null,
    ref: 'recourse.yaml:30',
    ...more,
  };
}
