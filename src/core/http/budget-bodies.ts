/** JSON Schemas of the HTTP bodies about budgets, by component name. Part of http-bodies.ts. */
import { exceedings } from '../budget/budget.ts';
import { budgetStates } from '../budget/budget-view.ts';
import { windowKinds } from '../budget/window.ts';
import {
  closedObject,
  listOf,
  notNegative,
  oneOfNames,
  type Ref,
  type Schema,
  text,
  textOrNull,
  texts,
  wholeNumber,
} from './reply-schema-fields.ts';

const maxNoteChars = 500;
const maxNameChars = 256;
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });

const about = {
  note: { type: 'string', minLength: 1, maxLength: maxNoteChars },
  session: { type: 'string', minLength: 1, maxLength: maxNameChars },
} as const;

export const budgetRequestBodies = {
  /** `120 USD`, or a number in the unit of the budget. */
  SetBudgetRequest: closedObject({ spent: { type: ['string', 'number'], minLength: 1, maxLength: 64 }, ...about }, [
    'note',
    'session',
  ]),
  ResetBudgetRequest: closedObject(about, ['note', 'session']),
} as const satisfies Record<string, Schema>;

/** Rate limits and budgets as a policy is shown; `terms` of what defers. */
export function writtenQuotas(terms: Schema) {
  const limit = closedObject({ match: text, rate: text, burst: orNull(wholeNumber), ref: text });
  const budget = closedObject(
    {
      name: text,
      match: text,
      unit: text,
      max: notNegative,
      cost: textOrNull,
      reserve: orNull(notNegative),
      window: oneOfNames(windowKinds),
      time_zone: text,
      warn_at: orNull(notNegative),
      on_exceed: oneOfNames(exceedings),
      raise: notNegative,
      terms,
      agents: orNull(texts),
      ref: text,
    },
    ['raise', 'terms'],
  );
  return { limits: listOf(limit), budgets: listOf(budget) };
}

export function budgetAnswerBodies(ref: Ref) {
  return {
    BudgetView: closedObject({
      budget: text,
      name: text,
      agent: textOrNull,
      match: text,
      window: oneOfNames(windowKinds),
      time_zone: text,
      session: textOrNull,
      unit: text,
      max: notNegative,
      allowed: notNegative,
      spent: notNegative,
      held: notNegative,
      left: notNegative,
      warn_at: orNull(notNegative),
      on_exceed: oneOfNames(exceedings),
      state: oneOfNames(budgetStates),
      resets_at: orNull({ type: 'string', format: 'date-time' }),
      ref: text,
    }),
    BudgetList: closedObject({ budgets: listOf(ref('BudgetView')) }),
  };
}
