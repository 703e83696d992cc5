/**
 * Finds budgets that no call could ever keep: what each call costs is known before it is made, and is more than there
 * is. Also budgets that warn from the first call on.
 */
import { type Budget, type Cost, costOf, textOf } from '../../budget/budget.ts';
import { ownerOf } from '../../budget/budget-view.ts';
import { compileCel } from '../../cel/compile-cel.ts';
import type { Policy } from '../policy.ts';
import type { PolicyFinding } from './policy-analysis.ts';

export const findUnmeetable = ({ budgets }: Policy): readonly PolicyFinding[] =>
  budgets.flatMap((budget) => [...unmeetable(budget), ...warningAlways(budget)]);

/** What every call holds, whatever its arguments; null if that depends on the call. */
function constantCost({ written, price }: Budget): Cost | null {
  const { cost, reserve, max } = written;
  if (price !== null) return reserve === null ? null : { ok: true, micros: reserve.micros };
  if (cost === null) return { ok: true, micros: 1 };
  // What reads anything does not compile without variables.
  const compiled = compileCel(cost, { variables: {} });
  return compiled.ok ? costOf(compiled.evaluate({}), max.unit) : null;
}

function unmeetable(budget: Budget): readonly PolicyFinding[] {
  const { name, max, raise, onExceed } = budget.written;
  const cost = constantCost(budget);
  if (cost === null) return [];
  const about = { kind: 'unmeetable_budget', budget } as const;
  if (!cost.ok) {
    const message = `no call passes budget ${name}: what a call costs cannot be told`;
    return [found({ ...about, severity: 'error', message, fix: 'correct its cost', says: cost.problem })];
  }
  if (cost.micros <= max.micros) return [];
  const [costs, of] = [textOf(cost.micros, budget), textOf(max.micros, budget)];
  const what = budget.price === null ? `every call costs ${costs}` : `every call holds its reserve of ${costs}`;
  const fix = `use a max of ${costs} or more, or a lower ${budget.price === null ? 'cost' : 'reserve'}`;
  const says = `${costs} is more than ${of}`;
  if (onExceed === 'audit') {
    const message = `every call goes beyond budget ${name}: ${what}`;
    return [found({ ...about, severity: 'warning', message, fix, says })];
  }
  if (onExceed === 'defer' && cost.micros <= max.micros + raise.micros) {
    const message = `no call passes budget ${name} unless a person lets more be spent: ${what}`;
    return [found({ ...about, severity: 'warning', message, fix, says })];
  }
  const message = `no call passes budget ${name}: ${what}`;
  return [found({ ...about, severity: 'error', message, fix, says })];
}

function warningAlways(budget: Budget): readonly PolicyFinding[] {
  const { name, warnAt, onExceed } = budget.written;
  if (warnAt !== 0) return [];
  const asks = onExceed === 'defer' ? ', and the first asks a person for more' : '';
  const message = `budget ${name} warns with every call${asks}`;
  const fix = 'use a share such as 0.8, or leave warn_at out';
  return [found({ kind: 'always_warns', budget, severity: 'warning', message, fix, says: 'its warn_at is 0' })];
}

interface Found extends Pick<PolicyFinding, 'kind' | 'severity' | 'message' | 'fix'> {
  readonly budget: Budget;
  readonly says: string;
}

const found = ({ budget, says, ...finding }: Found): PolicyFinding => ({
  ...finding,
  agent: ownerOf(budget) ?? '',
  rule: null,
  refs: [budget.written.ref],
  counterexample: { kind: 'amount', says },
  mayBreak: false,
});
