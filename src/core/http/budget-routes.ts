/**
 * The HTTP routes about budgets. The id of an agent's own budget contains a slash, written %2F in a path. Part of the
 * table in http-routes.ts. Data only.
 */
import { type HttpRoute, text } from './http-route.ts';

export const budgetRoutes = {
  listBudgets: {
    method: 'GET',
    path: '/v1/budgets',
    needs: 'look_own',
    summary: "What is left of the budgets: of those that the agent's calls are charged to, or of all of the tenant.",
    query: { agent: text, session: text },
    body: null,
    answer: 'BudgetList',
  },
  setBudget: {
    method: 'POST',
    path: '/v1/budgets/{id}/set',
    needs: 'administer',
    summary: 'Says what has been spent of a budget in its present window.',
    query: {},
    body: 'SetBudgetRequest',
    answer: 'BudgetView',
  },
  resetBudget: {
    method: 'POST',
    path: '/v1/budgets/{id}/reset',
    needs: 'administer',
    summary: 'Says that nothing has been spent of a budget in its present window. What calls hold stays held.',
    query: {},
    body: 'ResetBudgetRequest',
    answer: 'BudgetView',
  },
} as const satisfies Record<string, HttpRoute>;
