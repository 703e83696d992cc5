/**
 * The budget service: lists what is left of the budgets of a tenant, and records what a person says was spent, for
 * every door. What calls hold is not touched: their ends give it back or charge it.
 */
import { type Amount, amountForm, readAmount, scaleOf } from '../../core/budget/amount.ts';
import type { Budget } from '../../core/budget/budget.ts';
import {
  type BudgetCorrection,
  budgetIdOf,
  type BudgetView,
  drawsFrom,
  type OnAccount,
  viewOfBudget,
} from '../../core/budget/budget-view.ts';
import type { SessionId } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { nearest } from '../../core/values/nearest.ts';
import { safeText } from '../../core/values/redact.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import type { Transition } from '../../ports/store.ts';
import { lookAtBudget } from '../call/fetch-quotas.ts';
import { bare } from '../ending/transition.ts';
import type { Scope, Shell } from '../shell.ts';
import { commit, isDoubtful, mayBeApplied } from '../upkeep/commit.ts';

export type { BudgetCorrection, BudgetView };

export const budgetProblems = {
  not_found: 404,
  /** The amount or the session does not fit the budget. */
  bad_change: 422,
  /** The commit was not acknowledged and may have happened. */
  outcome_unknown: 503,
  store_unavailable: 503,
} as const;

export type BudgetProblem = keyof typeof budgetProblems;

export type Changed =
  | { readonly ok: true; readonly budget: BudgetView }
  | { readonly ok: false; readonly problem: BudgetProblem; readonly message: string };

/** The person who says it; their name goes on record. */
export interface Corrector {
  readonly tenant: string;
  readonly name: string;
}

export interface BudgetFilter {
  /** Only those that this agent's calls are charged to. */
  readonly agent?: string;
  /** Adds budgets that count by session, as they stand in this one. */
  readonly session?: string;
}

export interface BudgetService {
  /** Those of the scope, in the order of the file: shared ones first. Null if the scope has no such session. */
  list(scope: Scope, filter: BudgetFilter): Promise<readonly BudgetView[] | null>;
  /** Says what has been spent in the present window. */
  set(id: string, by: Corrector, input: BudgetCorrection): Promise<Changed>;
  /** The same with nothing spent. */
  reset(id: string, by: Corrector, input: Omit<BudgetCorrection, 'spent'>): Promise<Changed>;
}

const maxNoteChars = 500;

export function createBudgets(shell: Shell): BudgetService {
  const set: BudgetService['set'] = async (id, by, input) => {
    const found = await findTarget(id, by.tenant, input, shell);
    if ('ok' in found) return found;
    for (let tries = 0; tries <= shell.limits.maxRedecisions; tries++) {
      const changed = await correctOnce(found, by, input, shell);
      if (changed !== 'moved') return changed;
    }
    return problem('store_unavailable', 'what is spent changes too often; ask again');
  };
  return {
    list: (scope, filter) => listBudgets(scope, filter, shell),
    set,
    reset: (id, by, input) => set(id, by, { ...input, spent: 0 }),
  };
}

async function listBudgets(scope: Scope, { agent, session }: BudgetFilter, shell: Shell) {
  const owner = session === undefined ? null : await ownerIn(session, scope, shell);
  if (session !== undefined && owner === null) return null;
  const nowMs = shell.ports.clock.nowMs();
  // INVARIANT: an agent sees the budgets that its own calls are charged to, whatever a filter says.
  const agents = [scope.agent, agent].filter((each) => each !== null && each !== undefined);
  const found = (shell.policy()?.budgets ?? []).filter(
    (budget) =>
      agents.every((each) => drawsFrom(each, budget)) &&
      (budget.written.window !== 'session' || (owner !== null && drawsFrom(owner, budget))),
  );
  return Promise.all(
    found.map(async (budget) => {
      const account = await lookAtBudget(budget, scope.tenant, session ?? null, nowMs, shell);
      return viewOfBudget(budget, account, session ?? null);
    }),
  );
}

/** The agent of a session; null if the scope has no such session. */
async function ownerIn(session: string, { tenant, agent }: Scope, { ports }: Shell): Promise<string | null> {
  const found = await ports.store.session(session as SessionId);
  if (found === null || found.tenant !== tenant) return null;
  return agent === null || found.agent === agent ? found.agent : null;
}

/** The budget that is meant, in which session, and the amount in its unit. */
interface Target {
  readonly budget: Budget;
  readonly session: string | null;
  readonly micros: number;
}

type Refused = Extract<Changed, { ok: false }>;

async function findTarget(
  id: string,
  tenant: string,
  { spent, session }: BudgetCorrection,
  shell: Shell,
): Promise<Target | Refused> {
  const all = shell.policy()?.budgets ?? [];
  const budget = all.find((each) => budgetIdOf(each) === id);
  if (budget === undefined) return noBudget(id, all.map(budgetIdOf));
  const { window, max } = budget.written;
  if (window !== 'session' && session !== undefined)
    return problem('bad_change', `the budget ${id} does not count by session; leave out session`);
  if (window === 'session') {
    if (session === undefined) return problem('bad_change', `the budget ${id} counts by session; say which session`);
    const owner = await ownerIn(session, { tenant, agent: null }, shell);
    if (owner === null || !drawsFrom(owner, budget))
      return problem('bad_change', `no session '${safeText(session, 64)}' is charged to the budget ${id}`);
  }
  const micros = microsOf(spent, max);
  if (typeof micros !== 'number') return micros;
  return { budget, session: session ?? null, micros };
}

function noBudget(id: string, known: readonly string[]): Refused {
  const near = nearest(id, known);
  const hint = near === null ? 'list them first' : `did you mean ${near}?`;
  return problem('not_found', `there is no budget '${safeText(id, 64)}'; ${hint}`);
}

function microsOf(spent: string | number, { unit }: Amount): number | Refused {
  const text = String(spent).trim();
  const amount = readAmount(/^[0-9.]+$/.test(text) ? `${text} ${unit}` : text);
  if (amount?.unit === unit) return amount.micros;
  if (amount !== null) return problem('bad_change', `the budget is in ${unit}, not in ${amount.unit}`);
  return problem('bad_change', `'${safeText(text, 64)}' is no amount in ${unit}; write ${amountForm}`);
}

/** `moved`: what is spent has changed meanwhile. */
async function correctOnce(
  { budget, session, micros }: Target,
  by: Corrector,
  { note }: BudgetCorrection,
  shell: Shell,
): Promise<Changed | 'moved'> {
  const nowMs = shell.ports.clock.nowMs();
  const before = await lookAtBudget(budget, by.tenant, session, nowMs, shell);
  const after: OnAccount = { ...before, settled: micros };
  const changed: Changed = { ok: true, budget: viewOfBudget(budget, after, session) };
  const result = await commit(correctionOf(budget, before, after, { by, said: noteIn(note) }, shell), shell);
  switch (result.kind) {
    case 'committed':
      return changed;
    case 'unavailable':
      return mayBeApplied(result.fault)
        ? problem('outcome_unknown', 'the store did not say whether it is changed; look at it again')
        : problem('store_unavailable', 'the store cannot record it; ask again');
    case 'conflict':
      // An earlier try of this commit may have been applied, and its answer lost.
      return isDoubtful(result)
        ? problem('outcome_unknown', 'the store did not say whether it is changed; look at it again')
        : 'moved';
    default:
      return unreachable(result);
  }
}

function correctionOf(
  budget: Budget,
  before: OnAccount,
  after: OnAccount,
  { by, said }: { readonly by: Corrector; readonly said: string | null },
  shell: Shell,
): Transition {
  const { tenant, name } = by;
  const { account } = before;
  const { unit } = budget.written.max;
  const inUnits = (micros: number): number => micros / scaleOf(unit);
  const body = canonicalText({
    tenant,
    budget: budgetIdOf(budget),
    account,
    unit,
    from: inUnits(before.settled),
    to: inUnits(after.settled),
    by: name,
    note: said,
  });
  return {
    ...bare(shell),
    // INVARIANT: what the record says was replaced is what was there.
    accounts: [{ kind: 'correct', tenant, account, settled: after.settled, expect: before.settled }],
    records: [{ kind: 'budget_changed', call: null, session: null, body, payloads: [] }],
  };
}

function noteIn(said: string | undefined): string | null {
  if (typeof said !== 'string') return null;
  const text = safeText(said.toWellFormed().replaceAll(/\p{Cc}+/gu, ' '), maxNoteChars).trim();
  return text === '' ? null : text;
}

const problem = (code: BudgetProblem, message: string): Refused => ({ ok: false, problem: code, message });
