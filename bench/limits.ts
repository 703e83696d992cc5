/**
 * Measures what rate limits and budgets add to a durable call: the same tool under the same rules with and without
 * them, in turn, and one agent among many with budgets beside one among few.
 */
import path from 'node:path';
import { defaultTerms } from '../src/core/approval/approval.ts';
import type { WrittenBudget } from '../src/core/budget/budget.ts';
import { compilePolicy } from '../src/core/policy/compile-policy.ts';
import type { WrittenAgent, WrittenPolicy } from '../src/core/policy/policy.ts';
import { createGateway, isSuccess } from '../src/index.ts';
import { drive, median, type Row } from './measure.ts';
import { args, noop } from './noop-gateway.ts';

const pairs = 121;
const callsOfRound = 96;
const callers = 16;
const [few, many] = [10, 10_000];

export async function benchLimits(folder: string): Promise<readonly Row[]> {
  const one = { limits: [aLimit('noop', 'recourse.yaml:7')], budgets: [aBudget('daily')] };
  const several = { ...one, budgets: [...one.budgets, aBudget('all', { window: 'total' })] };
  const shared = {
    limits: [aLimit('**', 'recourse.yaml:90')],
    budgets: [aBudget('team', { window: 'monthly', agents: ['local'] })],
  };
  const without = await open(path.join(folder, 'without.db'), [anAgent('local')]);
  const limited = await open(path.join(folder, 'limited.db'), [anAgent('local', one)]);
  const rows = await compare(limited, without, 'a call with a rate limit and a budget, of one without', 1.3);
  await limited.close();
  const crowded = await open(path.join(folder, 'several.db'), [anAgent('local', several)], shared);
  const what = 'a call with two rate limits and three budgets, of one without';
  rows.push(...(await compare(crowded, without, what, null)));
  await crowded.close();
  await without.close();
  const [small, large] = [
    await open(path.join(folder, 'few.db'), budgeted(few)),
    await open(path.join(folder, 'many.db'), budgeted(many)),
  ];
  const size = `${many.toLocaleString('en-US')} budgets, of one among ${few}`;
  rows.push(...(await compare(large, small, `a call with its budget among ${size}`, 1.2)));
  await small.close();
  await large.close();
  return rows;
}

const aLimit = (match: string, ref: string) => ({ match, rate: '100000000/second', burst: null, ref });

const aBudget = (name: string, more: Partial<WrittenBudget> = {}): WrittenBudget => {
  const max = { micros: 2 ** 50, unit: 'USD' };
  const nothing = { reserve: null, warnAt: null, agents: null, timeZone: 'Europe/Berlin', terms: defaultTerms };
  return {
    name,
    max,
    raise: max,
    match: 'noop',
    cost: 'args.amount',
    window: 'daily',
    onExceed: 'deny',
    ref: '',
    ...nothing,
    ...more,
  };
};

const anAgent = (agent: string, more: Partial<WrittenAgent> = {}): WrittenAgent => ({
  agent,
  ref: 'recourse.yaml:5',
  default: null,
  rules: [{ effect: 'permit', match: 'noop', when: null, reason: null, ref: 'recourse.yaml:6' }],
  ceiling: null,
  models: null,
  redact: [],
  ...more,
});

/** Agents with ten budgets each, of which one is of the tool; the one who calls is the last. */
const budgeted = (count: number): readonly WrittenAgent[] =>
  Array.from({ length: count / few }, (_, at) => {
    const budgets = Array.from({ length: few }, (_each, of) =>
      aBudget(`daily${of}`, { match: of === 0 ? 'noop' : `other${of}/*` }),
    );
    return anAgent(at === count / few - 1 ? 'local' : `agent${at}`, { budgets });
  });

async function open(file: string, agents: readonly WrittenAgent[], shared: Partial<WrittenPolicy> = {}) {
  const compiled = compilePolicy({ mode: 'enforce', ref: 'recourse.yaml:1', agents, ...shared }, null);
  if (!compiled.ok) throw new Error(`the bench policy is wrong: ${JSON.stringify(compiled)}`);
  const gateway = await createGateway({ tools: [noop], file, policy: compiled.policy });
  return {
    async call(): Promise<void> {
      const reply = await gateway.handle({ tool: 'noop', args });
      if (!isSuccess(reply)) throw new Error(`the bench met ${JSON.stringify(reply)}`);
    },
    close: () => gateway.close(),
  };
}

type Side = Awaited<ReturnType<typeof open>>;

interface Spent {
  /** Microseconds of this process for a call, all its threads together. */
  readonly cpu: number;
  readonly p50: number;
}

async function roundOf(side: Side): Promise<Spent> {
  const before = process.cpuUsage();
  const { p50Ms: p50 } = await drive(callers, callsOfRound, () => side.call());
  const { user, system } = process.cpuUsage(before);
  return { cpu: (user + system) / callsOfRound, p50 };
}

/** Short rounds in pairs: whatever disturbs the machine disturbs both; who goes first takes turns. */
async function compare(ours: Side, bare: Side, what: string, atMost: number | null): Promise<Row[]> {
  for (let warm = 0; warm < 10; warm++) await roundOf(warm % 2 === 0 ? ours : bare);
  const seen: { readonly our: Spent; readonly their: Spent }[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const [first, second] = pair % 2 === 0 ? [ours, bare] : [bare, ours];
    const [one, other] = [await roundOf(first), await roundOf(second)];
    seen.push(pair % 2 === 0 ? { our: one, their: other } : { our: other, their: one });
  }
  return [
    rowOf('cpu', `CPU of ${what}`, seen, atMost),
    rowOf('p50', `the same, p50 at ${callers} callers`, seen, atMost),
  ];
}

function rowOf(
  name: keyof Spent,
  what: string,
  seen: readonly { readonly our: Spent; readonly their: Spent }[],
  atMost: number | null,
): Row {
  const ratios = seen.map(({ our, their }) => our[name] / their[name]).sort((a, b) => a - b);
  const at = (share: number) => (ratios[Math.floor(share * (ratios.length - 1))] ?? 0).toFixed(2);
  const show = (value: number) => (name === 'cpu' ? `${value.toFixed(0)} µs` : `${value.toFixed(2)} ms`);
  const figures = `${show(median(seen.map(({ our }) => our[name])))} of ${show(median(seen.map(({ their }) => their[name])))}`;
  const detail = `${figures}, ${at(0.1)} to ${at(0.9)} in eight of ten pairs`;
  return { what, ratio: median(ratios), bar: atMost === null ? null : { atMost }, detail };
}
