/** Writes budgets for a person, and reads them from a gateway's answer. A newer gateway may send more. */
import { amountText, percentOf, scaleOf } from '../../../core/budget/amount.ts';
import type { BudgetView } from '../../../core/budget/budget-view.ts';
import { isObject } from '../../../core/values/json.ts';
import type { Column } from '../print/table.ts';
import { duration } from '../print/write-approval.ts';
import type { Style } from '../terminal.ts';

const texts = ['budget', 'window', 'unit', 'state'] as const;
const numbers = ['max', 'allowed', 'spent', 'held', 'left'] as const;

export function readBudget(body: unknown): BudgetView | null {
  if (!isObject(body) || !texts.every((name) => typeof body[name] === 'string')) return null;
  if (!numbers.every((name) => typeof body[name] === 'number')) return null;
  return body['resets_at'] === null || typeof body['resets_at'] === 'string' ? (body as unknown as BudgetView) : null;
}

export function readBudgets(body: Readonly<Record<string, unknown>>): readonly BudgetView[] | null {
  const { budgets } = body;
  if (!Array.isArray(budgets)) return null;
  const read = budgets.map(readBudget);
  return read.includes(null) ? null : (read as readonly BudgetView[]);
}

/** `$400.00`, `12 calls`: as the gateway's own sentences write it. */
export const amountOf = (value: number, { unit }: Pick<BudgetView, 'unit'>): string =>
  amountText(microsOf(value, unit), unit);

const microsOf = (value: number, unit: BudgetView['unit']): number => Math.round(value * scaleOf(unit));

const barWidth = 20;

/** What is spent, what is held, what is left, and the share that is used of what may be spent. */
export function barOf({ max, allowed, spent, held, unit }: BudgetView): string {
  const limit = max + allowed;
  const used = spent + held;
  const cells = (part: number) => (limit === 0 ? barWidth : Math.min(barWidth, Math.round((part / limit) * barWidth)));
  const dark = cells(spent);
  const grey = cells(used) - dark;
  const share = percentOf(microsOf(used, unit), microsOf(limit, unit));
  return `${'█'.repeat(dark)}${'▒'.repeat(grey)}${'░'.repeat(barWidth - dark - grey)} ${String(share).padStart(3)}%`;
}

const styles: Readonly<Record<BudgetView['state'], Style>> = { open: 'green', warned: 'yellow', used_up: 'red' };

export const columnsAt = (nowMs: number): readonly Column<BudgetView>[] => [
  { title: 'BUDGET', text: (each) => each.budget, style: () => 'cyan' },
  { title: 'USED', text: barOf, style: (each) => styles[each.state] ?? null },
  { title: 'SPENT', text: (each) => amountOf(each.spent, each) },
  { title: 'HELD', text: (each) => amountOf(each.held, each) },
  { title: 'LEFT', text: (each) => amountOf(each.left, each), style: () => 'bold' },
  { title: 'OF', text: (each) => amountOf(each.max + each.allowed, each) },
  { title: 'RESETS', text: (each) => resetText(each, nowMs) },
];

function resetText({ resets_at: at, window, session }: BudgetView, nowMs: number): string {
  if (at !== null) return `${at}, in ${duration(Math.max(0, Date.parse(at) - nowMs))}`;
  return window === 'session' ? `never: ${session ?? 'by session'}` : 'never';
}
