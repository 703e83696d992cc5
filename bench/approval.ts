/**
 * Measures what the approval gate adds to a call that needs no approval: the same gateway with the gate on its ladder
 * and without it, in pairs of short rounds in turn.
 */
import path from 'node:path';
import { compilePolicy } from '../src/core/policy/compile-policy.ts';
import { isSuccess } from '../src/index.ts';
import { openGateway } from '../src/main.ts';
import { handleCall } from '../src/shell/call/handle-call.ts';
import type { Shell } from '../src/shell/shell.ts';
import { median, type Row } from './measure.ts';
import { args, noop } from './noop-gateway.ts';

const pairs = 301;
const callsOfRound = 64;
const callers = 16;

export async function benchApproval(folder: string): Promise<readonly Row[]> {
  const compiled = compilePolicy(
    {
      mode: 'enforce',
      ref: 'recourse.yaml:1',
      agents: [
        {
          agent: 'local',
          ref: 'recourse.yaml:2',
          default: null,
          rules: [
            { effect: 'defer', match: 'noop', when: 'args.amount > 100', reason: null, ref: 'recourse.yaml:4' },
            { effect: 'permit', match: 'noop', when: null, reason: null, ref: 'recourse.yaml:5' },
          ],
          ceiling: null,
          models: null,
          redact: [],
        },
      ],
    },
    null,
  );
  if (!compiled.ok) throw new Error(`the bench policy is wrong: ${JSON.stringify(compiled)}`);
  const file = path.join(folder, 'approval.db');
  const { gateway, shell } = await openGateway({ tools: [noop], file, policy: () => compiled.policy });
  const without: Shell = { ...shell, ladder: shell.ladder.filter(({ name }) => name !== 'approval') };
  const round = async (through: Shell): Promise<number> => {
    const started = performance.now();
    for (let left = callsOfRound; left > 0; left -= callers)
      await Promise.all(Array.from({ length: callers }, () => call(through)));
    return performance.now() - started;
  };
  try {
    for (let warm = 0; warm < 8; warm++) await round(warm % 2 === 0 ? shell : without);
    const ratios: number[] = [];
    const times: number[] = [];
    for (let pair = 0; pair < pairs; pair++) {
      // Who goes first has no advantage over all pairs.
      const order = pair % 2 === 0 ? [shell, without] : [without, shell];
      const [one, other] = [await round(order[0] ?? shell), await round(order[1] ?? shell)];
      ratios.push(pair % 2 === 0 ? one / other : other / one);
      times.push(pair % 2 === 0 ? one : other);
    }
    const perCall = (median(times) / callsOfRound) * 1_000;
    return [
      {
        what: 'a durable call that needs no approval, with the approval gate, of the same without it',
        ratio: median(ratios),
        bar: { atMost: 1.02 },
        detail: `${perCall.toFixed(0)} µs a call, ${callers} at once, ${pairs} pairs`,
      },
    ];
  } finally {
    await gateway.close();
  }
}

async function call(shell: Shell): Promise<void> {
  const reply = await handleCall({ tool: 'noop', args }, { tenant: 'default', agent: 'local' }, {}, shell);
  if (!isSuccess(reply)) throw new Error(`the bench met ${JSON.stringify(reply)}`);
}
