/**
 * One decision by policy, beside other engines. Compared are the same rules: each permits one tool, two before the end
 * also ask for an `amount` below 100, and there is no default. The call is about that late one, half of the calls below
 * the limit. Ours checks the condition's types against the tool's schema when it is compiled, and evaluates CEL in each
 * call.
 */
import { compilePolicy } from '../src/core/policy/compile-policy.ts';
import type { RuleCall } from '../src/core/policy/policy.ts';
import { interleave, type Row } from './measure.ts';
import {
  type BenchCall,
  type BenchRule,
  cedarOf,
  type Engine,
  flatGovernanceOf,
  governanceOf,
} from './policy-peers.ts';

const rounds = 7;
const sizes = [1, 50, 1_000, 10_000] as const;
const limit = 100;
/** The one amount that the flat rules of another engine can ask for. */
const exactly = 12;

const rulesOf = (count: number): readonly BenchRule[] =>
  Array.from({ length: count }, (_, index) => ({
    tool: `server${index}/tool`,
    below: index === lateOf(count) ? limit : null,
  }));

const lateOf = (count: number): number => Math.max(0, count - 2);

export async function benchPolicy(): Promise<readonly Row[]> {
  const compiledMs = new Map<number, number>();
  const ours = (count: number, when = `args.amount < ${limit}`): Engine => {
    const started = performance.now();
    const engine = oursOf(rulesOf(count), when);
    compiledMs.set(count, performance.now() - started);
    return engine;
  };
  const calls = callsTo(`server${lateOf(50)}/tool`, [exactly, limit, 99, 1_000]);
  const compared = { ours: ours(50), cedar: cedarOf(rulesOf(50)), governance: governanceOf(rulesOf(50)) };
  agree(Object.values(compared), calls);
  const same = callsTo(`server${lateOf(50)}/tool`, [exactly, limit]);
  const flat = { ours: ours(50, `args.amount == ${exactly}`), flat: flatGovernanceOf(rulesOf(50), exactly) };
  agree(Object.values(flat), same);

  const bySize = Object.fromEntries(
    sizes.map((count) => {
      const tool = `server${lateOf(count)}/tool`;
      return [`ours${count}`, measure(ours(count), callsTo(tool, [exactly, limit, 99, 1_000]), 40_000)];
    }),
  );
  const sides = {
    ...bySize,
    cedar: measure(compared.cedar, calls, 500),
    governance: measure(compared.governance, calls, 1_000),
    equal: measure(flat.ours, same, 40_000),
    flat: measure(flat.flat, same, 40_000),
  };
  for (const side of Object.values(sides)) side();
  const us = (await interleave(rounds, sides)) as Readonly<Record<string, number>>;
  const of = (name: string): number => us[name] ?? Number.NaN;
  return [
    ...sizes.map((count): Row => ({
      what: `a decision by ${count} rule${count === 1 ? '' : 's'}, of one by 50`,
      ratio: of(`ours${count}`) / of('ours50'),
      bar: count === 10_000 ? { atMost: 2 } : null,
      detail: `${perSecond(of(`ours${count}`))}/s, compiled in ${(compiledMs.get(count) ?? 0).toFixed(0)} ms`,
    })),
    {
      what: 'decisions a second by 50 rules, of @cedar-policy/cedar-wasm 4.13.0 with policies parsed before',
      ratio: of('cedar') / of('ours50'),
      bar: { atLeast: 10 },
      detail: `${perSecond(of('ours50'))}/s of ${perSecond(of('cedar'))}/s`,
    },
    {
      what: 'a decision by 50 rules, of @microsoft/agent-governance-sdk 4.0.0 with the same condition',
      ratio: of('ours50') / of('governance'),
      bar: { atMost: 2 },
      detail: `${of('ours50').toFixed(2)} µs of ${of('governance').toFixed(2)} µs`,
    },
    {
      what: 'the same of its flat rules, which can only ask whether a field equals a value',
      ratio: of('equal') / of('flat'),
      bar: { atMost: 2 },
      detail: `${of('equal').toFixed(2)} µs of ${of('flat').toFixed(2)} µs`,
    },
  ];
}

const perSecond = (us: number): string => Math.round(1_000_000 / us).toLocaleString('en-US');

const callsTo = (tool: string, amounts: readonly number[]): readonly BenchCall[] =>
  amounts.map((amount) => ({ tool, amount }));

function oursOf(rules: readonly BenchRule[], when: string): Engine {
  const inputSchema = { type: 'object', properties: { amount: { type: 'number' } }, additionalProperties: false };
  const compiled = compilePolicy(
    {
      mode: 'enforce',
      ref: 'recourse.yaml:1',
      agents: [
        {
          agent: 'clerk',
          ref: 'recourse.yaml:2',
          default: null,
          rules: rules.map(({ tool, below }, index) => ({
            effect: 'permit',
            match: tool,
            when: below === null ? null : when,
            reason: null,
            ref: `recourse.yaml:${index + 3}`,
          })),
          ceiling: null,
          models: null,
          redact: [],
        },
      ],
    },
    rules.map(({ tool: name }) => ({ name, inputSchema })),
  );
  const policy = compiled.ok ? compiled.policy.agents.get('clerk') : undefined;
  if (policy === undefined) throw new Error(`the bench policy is wrong: ${JSON.stringify(compiled)}`);
  return ({ tool, amount }) => {
    const call: RuleCall = {
      tool: { name: tool, effect: 'plain', reach: 'network', annotations: {} },
      args: { amount },
      agent: { name: 'clerk' },
      principal: { tenant: 'default', agent: 'clerk' },
      session: { id: null, seq: 0, workflow: null },
      state: null,
      model: null,
      host: null,
      nowMs: 0,
    };
    return policy.judge(call).effect === 'permit';
  };
}

/** Engines that answer differently are not compared. */
function agree(engines: readonly Engine[], calls: readonly BenchCall[]): void {
  for (const call of calls) {
    const expected = call.amount < limit;
    if (engines.some((engine) => engine(call) !== expected))
      throw new Error(`the engines do not agree about ${JSON.stringify(call)}`);
  }
}

/** Microseconds for one decision. */
const measure = (engine: Engine, calls: readonly BenchCall[], runs: number) => () => {
  let permitted = 0;
  const started = performance.now();
  for (let run = 0; run < runs; run++) if (engine(calls[run % calls.length] as BenchCall)) permitted++;
  const us = ((performance.now() - started) / runs) * 1_000;
  if (permitted * 2 !== runs) throw new Error(`the bench permitted ${permitted} of ${runs}`);
  return us;
};
