/** The addresses by which tests and people control the upstream: rules and the ledger. No fault ever touches them. */
import { faultNames } from './fault-table.ts';
import { problem, type Reply } from './plan-behaviour.ts';
import type { Ledger } from './ledger.ts';
import { openApi } from './operations.ts';
import { maxRules, readRules } from './read-rules.ts';
import type { RuleQueue } from './rule-queue.ts';

export interface ControlParts {
  readonly ledger: Ledger;
  readonly rules: RuleQueue;
}

/** A page of the ledger or of its summary has at most so many rows. */
const maxPage = 10_000;
const defaultPage = 1_000;

type Control = (url: URL, body: string, parts: ControlParts) => Reply;

const controls: Readonly<Record<string, Control>> = {
  'GET /openapi.json': (url) => json(openApi(url.origin)),
  'GET /faults': (_url, _body, { rules }) => json({ rules: rules.list() }),
  'DELETE /faults': (_url, _body, { rules }) => {
    rules.clear();
    return json({ rules: [] });
  },
  'POST /faults': (_url, body, { rules }) => {
    const read = readRules(body, 'body');
    if (!read.ok) {
      const sentences = read.problems.map(({ line, message, fix }) => `line ${line}: ${message}; ${fix}`);
      const known = `faults: ${faultNames.join(', ')}`;
      return problem(400, 'invalid_rule', {}, [...sentences, known].join('\n'));
    }
    if (!rules.add(read.rules))
      return problem(409, 'too_many_rules', {}, `there is room for ${maxRules} rules: DELETE /faults removes all`);
    return json({ rules: rules.list() });
  },
  'GET /ledger': (url, _body, { ledger }) => {
    const after = numberIn(url, 'after', 0);
    const limit = numberIn(url, 'limit', defaultPage);
    const later = ledger.effects.filter(({ n }) => n > after);
    const effects = later.slice(0, limit);
    return json({ effects, next: later.length > effects.length ? (effects.at(-1)?.n ?? after) : null });
  },
  'GET /ledger/summary': (url, _body, { ledger }) => {
    const limit = numberIn(url, 'limit', defaultPage);
    const keyed = ledger.effects.filter(({ key }) => key !== null);
    const keys = countBy(keyed, ({ key }) => ({ key }), limit);
    // A cancelled refund has no order among its arguments.
    const orders = countBy(
      ledger.effects,
      ({ operation, args }) => ({ operation, order: args['order'] ?? null }),
      limit,
    );
    return json({ effects: ledger.effects.length, keys, orders });
  },
};

/** Null if the address is not one of these. */
export function control(method: string, url: URL, body: string, parts: ControlParts): Reply | null {
  return controls[`${method} ${url.pathname}`]?.(url, body, parts) ?? null;
}

/** Most effects first, so that duplicates are on the first page. */
function countBy<Item>(items: readonly Item[], groupOf: (item: Item) => object, limit: number): readonly object[] {
  const counts = new Map<string, number>();
  for (const item of items) {
    const group = JSON.stringify(groupOf(item));
    counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  const rows = [...counts].toSorted(([, one], [, other]) => other - one).slice(0, limit);
  return rows.map(([group, effects]) => ({ ...(JSON.parse(group) as object), effects }));
}

function numberIn({ searchParams }: URL, name: string, standard: number): number {
  const given = searchParams.get(name);
  const most = name === 'limit' ? maxPage : Number.MAX_SAFE_INTEGER;
  return given !== null && /^\d{1,15}$/.test(given) ? Math.min(Number(given), most) : standard;
}

const json = (body: object): Reply => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: body as Reply['body'],
});
