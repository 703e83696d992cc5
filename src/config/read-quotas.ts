/**
 * Reads rate limits and budgets, of an agent or shared by several, into what a policy is compiled from. Invalid ones
 * have been reported, or are reported here, and are left out.
 */
import { defaultTerms } from '../core/approval/approval.ts';
import { type Amount, amountForm, readAmount } from '../core/budget/amount.ts';
import { exceedings, type WrittenBudget } from '../core/budget/budget.ts';
import { isTimeZone, type WindowKind, windowKinds } from '../core/budget/window.ts';
import type { WrittenLimit } from '../core/rate/rate-limit.ts';
import type { JsonObject } from '../core/values/json.ts';
import type { Place, Tell } from './problem.ts';
import { budgetShape, limitShape, sharedBudgetShape } from './shape/agent-shape.ts';
import { keyPlaceOf, placeOf, readShape } from './shape/read-shape.ts';
import type { Shape } from './shape/shape.ts';
import { itemsOf, mapOf, numberOf, textOf } from './yaml/plain-values.ts';
import type { Tree } from './yaml/yaml-tree.ts';

export interface QuotaParts {
  readonly tell: Tell;
  readonly refOf: (place: Place) => string;
}

export interface ReadQuotas {
  readonly limits?: readonly WrittenLimit[];
  readonly budgets?: readonly WrittenBudget[];
}

/** `tree`: the agent, or the whole file. */
export function readQuotas(tree: Tree, owner: 'agent' | 'tenant', parts: QuotaParts): ReadQuotas {
  if (tree.kind !== 'map') return {};
  const limits = tree.entries.get('limits')?.value;
  const budgets = tree.entries.get('budgets')?.value;
  const shape = owner === 'agent' ? budgetShape : sharedBudgetShape;
  return {
    ...(limits?.kind === 'list' ? { limits: limits.items.flatMap((each) => readLimit(each, parts)) } : {}),
    ...(budgets?.kind === 'map'
      ? {
          budgets: [...budgets.entries].flatMap(([name, { keyAt, value }]) =>
            readBudget(name, keyAt, { tree: value, shape }, parts),
          ),
        }
      : {}),
  };
}

/** What is written, if all of it is valid: its problems have been reported. */
function wholeOf(tree: Tree, shape: Shape): JsonObject | null {
  let isWhole = true;
  const read = readShape(tree, shape, { tell: () => void (isWhole = false), env: undefined });
  return isWhole ? mapOf(read) : null;
}

function readLimit(tree: Tree, { refOf }: QuotaParts): readonly WrittenLimit[] {
  const limit = wholeOf(tree, limitShape);
  if (limit === null) return [];
  const [match, rate] = [textOf(limit['match']) ?? '', textOf(limit['rate']) ?? ''];
  return [{ match, rate, burst: numberOf(limit['burst']), ref: refOf(tree.at) }];
}

interface PlacedBudget {
  readonly tree: Tree;
  readonly shape: Shape;
}

function readBudget(
  name: string,
  at: Place,
  { tree, shape }: PlacedBudget,
  { tell, refOf }: QuotaParts,
): readonly WrittenBudget[] {
  const budget = wholeOf(tree, shape);
  if (budget === null) return [];
  let isWhole = true;
  const wrong: Wrong = (key, says, fix) => {
    isWhole = false;
    tell(key in budget ? placeOf(tree, [key]) : at, says, fix);
  };
  const amounts = readAmounts(budget, wrong);
  const time = readTime(name, budget, wrong);
  const onExceed = exceedings.find((each) => each === budget['on_exceed']) ?? 'deny';
  for (const key of onExceed === 'defer' ? [] : ['raise', 'approvers', 'needs', 'expires'])
    if (key in budget) tell(keyPlaceOf(tree, [key]), `'${key}' has no meaning without on_exceed: defer`, deferOrLeave);
  if (!isWhole || amounts === null || time === null) return [];
  const costFunction = textOf(mapOf(budget['cost'])['function']);
  return [
    {
      name,
      ...amounts,
      ...time,
      match: textOf(budget['match']) ?? '**',
      cost: textOf(budget['cost']),
      ...(costFunction === null ? {} : { costFunction }),
      warnAt: numberOf(budget['warn_at']),
      onExceed,
      terms: termsOf(budget),
      agents: 'agents' in budget ? itemsOf(budget['agents']) : null,
      ref: refOf(at),
    },
  ];
}

type Wrong = (key: string, says: string, fix: string) => void;

const deferOrLeave = 'leave it out, or add on_exceed: defer';

function readAmounts(budget: JsonObject, wrong: Wrong): Pick<WrittenBudget, 'max' | 'reserve' | 'raise'> | null {
  const max = readAmount(textOf(budget['max']) ?? '');
  if (max === null) {
    wrong('max', 'this amount is too large, or in parts of something that has none', `use ${amountForm}`);
    return null;
  }
  const { unit } = max;
  const amountOf = (key: 'reserve' | 'raise'): Amount | null => {
    const written = textOf(budget[key]);
    const read = written === null ? null : readAmount(written);
    if (written !== null && read?.unit !== unit) wrong(key, `this is not in ${unit}`, `write it in ${unit}, like max`);
    return read;
  };
  const tenth = { micros: Math.max(1, Math.ceil(max.micros / 10)), unit };
  return { max, reserve: amountOf('reserve'), raise: amountOf('raise') ?? tenth };
}

function readTime(name: string, budget: JsonObject, wrong: Wrong): Pick<WrittenBudget, 'window' | 'timeZone'> | null {
  const window = windowOf(name, textOf(budget['window']));
  const timeZone = textOf(budget['time_zone']) ?? 'UTC';
  if (!isTimeZone(timeZone))
    wrong('time_zone', `there is no time zone '${timeZone}'`, 'use a name such as Europe/Berlin');
  if (window !== null) return { window, timeZone };
  const kinds = windowKinds.join(' | ');
  wrong('window', `the budget ${name} does not say over which time it counts`, `add window: ${kinds}`);
  return null;
}

const termsOf = (budget: JsonObject): WrittenBudget['terms'] => ({
  ...defaultTerms,
  roles: 'approvers' in budget ? itemsOf(budget['approvers']) : null,
  needed: numberOf(budget['needs']) ?? defaultTerms.needed,
  expiresMs: numberOf(budget['expires']) ?? defaultTerms.expiresMs,
});

/** A budget that is called daily counts by the day. */
const windowOf = (name: string, written: string | null): WindowKind | null =>
  windowKinds.find((kind) => kind === (written ?? name)) ?? null;
