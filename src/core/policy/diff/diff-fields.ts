/**
 * Compares two objects of a canonical policy field by field, with the direction of each change. A field that its table
 * does not list is reported as changed, so that none is forgotten.
 */
import { amountText } from '../../budget/amount.ts';
import { canonicalText } from '../../values/canonical.ts';
import { durationText } from '../../values/duration.ts';
import type { Json } from '../../values/json.ts';
import { quoteName, quoteValue, spellOut } from '../../values/quote.ts';
import { reaches } from '../policy.ts';
import type { Direction, PolicyDetail } from './policy-change.ts';

/** Undefined where it is not written. */
type Value = Json | undefined;
export type Fields = Readonly<Record<string, Value>>;

export interface Field {
  /** As it is written in recourse.yaml. */
  readonly label?: string;
  readonly direction?: (was: Value, is: Value) => Direction;
  readonly text?: (value: Value) => string;
  /** Its own fields are told one by one. */
  readonly fields?: Table | Each;
  /** Told as a whole where it comes or goes. */
  readonly isWhole?: true;
}

export type Table = Readonly<Record<string, Field>>;

/** Names of any kind, all with the same sort of value. */
interface Each {
  readonly each: Field;
}

const isEach = (table: Table | Each): table is Each => 'each' in table;

export function diffFields(was: Fields, is: Fields, table: Table | Each, of = ''): readonly PolicyDetail[] {
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((name): readonly PolicyDetail[] => {
    const [before, after] = [was[name], is[name]];
    if (isSame(before, after)) return [];
    const field = (isEach(table) ? table.each : table[name]) ?? {};
    const { label = name, direction, text = plainText } = field;
    const full = `${of}${isEach(table) ? quoteName(label) : label}`;
    const inner = insideOf(field, before, after);
    if (inner !== null) return diffFields(...inner, `${full}: `);
    const says = `${full}: ${text(before)} → ${text(after)}`;
    return [{ says, direction: direction?.(before, after) ?? 'other' }];
  });
}

/** What is told one by one; null for what is told as a whole. */
function insideOf(
  { fields, isWhole }: Field,
  before: Value = isWhole === true ? null : {},
  after: Value = isWhole === true ? null : {},
): readonly [Fields, Fields, Table | Each] | null {
  return fields !== undefined && isFields(before) && isFields(after) ? [before, after, fields] : null;
}

export const isFields = (value: Value): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isSame = (one: Value, other: Value): boolean =>
  one === undefined || other === undefined ? one === other : canonicalText(one) === canonicalText(other);

export const plainText = (value: Value): string => {
  if (value === undefined || value === null) return 'none';
  if (isNames(value)) return value.length === 0 ? 'none' : value.map(quoteName).join(', ');
  return typeof value === 'string' ? spellOut(value) : quoteValue(value);
};

const anyText = (value: Value): string => (value === null || value === undefined ? 'any' : plainText(value));
const timeText = (value: Value): string => (typeof value === 'number' ? durationText(value) : plainText(value));

const isNames = (value: Value): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

/** The further back in the list, the more may pass. */
export const rank =
  (order: readonly Value[]) =>
  (was: Value, is: Value): Direction => {
    const [before, after] = [order.indexOf(was ?? null), order.indexOf(is ?? null)];
    if (before < 0 || after < 0 || before === after) return 'other';
    return after > before ? 'weaker' : 'stronger';
  };

const amount =
  (more: Direction, less: Direction) =>
  (was: Value, is: Value): Direction => {
    if (typeof was !== 'number' || typeof is !== 'number') return 'other';
    return is > was ? more : less;
  };

/** What is not given at all stands for everything. */
function grown(was: Value, is: Value): Direction {
  if (is === null) return 'weaker';
  if (was === null) return 'stronger';
  const [before, after] = [was ?? [], is ?? []];
  if (!isNames(before) || !isNames(after)) return 'other';
  return after.some((each) => !before.includes(each)) ? 'weaker' : 'stronger';
}

function shrunk(was: Value, is: Value): Direction {
  const [before, after] = [was ?? [], is ?? []];
  if (!isNames(before) || !isNames(after)) return 'other';
  return before.some((each) => !after.includes(each)) ? 'weaker' : 'stronger';
}

/** A condition that must hold, or that says when something must: what is asked for is less without it. */
const dropped = (was: Value, is: Value): Direction =>
  (is ?? null) === null ? 'weaker' : (was ?? null) === null ? 'stronger' : 'maybe_weaker';

const opposite: Readonly<Record<Direction, Direction>> = {
  weaker: 'stronger',
  maybe_weaker: 'maybe_weaker',
  other: 'other',
  stronger: 'weaker',
};

/** Who has a role: one more may approve. */
const people: Field = { direction: grown };

export const effectRanks = ['deny', 'defer', 'permit'] as const;

export const termsTable: Table = {
  roles: { label: 'approvers', direction: grown, text: anyText },
  needed: { label: 'needs', direction: amount('stronger', 'weaker') },
  expiresMs: { label: 'expires', direction: amount('weaker', 'stronger'), text: timeText },
  onApprove: { label: 'on_approve', direction: rank(['wait', 'run']) },
  clientMayApprove: { label: 'client_may_approve', direction: rank([false, true]) },
};

const completionTable: Table = {
  require: { direction: shrunk },
  when: { direction: (was, is) => opposite[dropped(was, is)] },
  condition: { direction: dropped },
};

/** Amounts of one unit can be compared. */
const moreMoney: Field['direction'] = (was, is) => {
  if (!isFields(was) || !isFields(is) || was['unit'] !== is['unit']) return 'other';
  return amount('weaker', 'stronger')(was['micros'], is['micros']);
};

const moneyText = (value: Value): string => {
  if (!isFields(value)) return plainText(value);
  return amountText(Number(value['micros']), String(value['unit']));
};

const limitTable: Table = {
  rate: { direction: amount('weaker', 'stronger') },
  burst: { direction: amount('weaker', 'stronger') },
};

const budgetTable: Table = {
  max: { direction: moreMoney, text: moneyText },
  reserve: { text: moneyText },
  raise: { direction: moreMoney, text: moneyText },
  warn_at: {},
  on_exceed: { direction: rank(['deny', 'defer', 'audit']) },
  terms: { fields: termsTable },
  match: {},
  cost: {},
  window: {},
  time_zone: {},
  agents: { direction: shrunk, text: anyText },
};

/** A limit or a budget that goes lets more pass, and one that comes less. */
const quotaTable: Table = {
  limits: { fields: { each: { direction: dropped, fields: limitTable, isWhole: true, text: limitText } } },
  budgets: { fields: { each: { direction: dropped, fields: budgetTable, isWhole: true, text: budgetText } } },
};

function limitText(value: Value): string {
  return isFields(value) ? plainText(value['rate']) : plainText(value);
}

function budgetText(value: Value): string {
  return isFields(value) ? `${moneyText(value['max'])} ${plainText(value['window'])}` : plainText(value);
}
/** Paths in which URLs are judged, with their tools. */
function urlsShrunk(was: Value, is: Value): Direction {
  const all = (value: Value) =>
    Object.entries(isFields(value) ? value : {}).flatMap(([match, paths]) =>
      isNames(paths) ? paths.map((path) => `${match} ${path}`) : [],
    );
  return shrunk(all(was), all(is));
}

const egressTable: Table = {
  allow: { direction: (was, is) => grown(was ?? null, is ?? null), text: anyText },
  urls: { direction: urlsShrunk },
};

/** Its rules are told by diff-rules.ts, and whether there is a completion at all by diff-policies.ts. */
export const agentTable: Table = {
  default: { direction: rank(effectRanks) },
  terms: { label: 'default', fields: termsTable },
  ceiling: { label: 'mode', direction: rank([...reaches, null]), text: anyText },
  models: { direction: grown, text: anyText },
  redact: { direction: shrunk },
  completion: { fields: completionTable },
  ...quotaTable,
  egress: { fields: egressTable },
};

export const policyTable: Table = {
  mode: { direction: rank(['enforce', 'audit']) },
  roles: { fields: { each: people } },
  ...quotaTable,
};

export const ruleTable: Table = { effect: { direction: rank(effectRanks) }, terms: { fields: termsTable } };
