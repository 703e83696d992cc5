/** Measures a decision, and reading a call, beside JSON.parse of the same call. */
import { createFunctionUpstream } from '../src/adapters/upstream-function/function-upstream.ts';
import type { SessionId } from '../src/core/call/call.ts';
import { decide } from '../src/core/call/decide.ts';
import { defaultLimits } from '../src/core/limits.ts';
import { readRequest } from '../src/core/call/request.ts';
import { tool } from '../src/index.ts';
import { interleave, type Row } from './measure.ts';
import { args } from './noop-gateway.ts';

const runs = 50_000;

export async function benchDecide(): Promise<readonly Row[]> {
  const pay = tool({
    name: 'noop',
    description: 'Does nothing.',
    input: {
      type: 'object',
      properties: { order: { type: 'string' }, amount: { type: 'number' } },
      required: ['order', 'amount'],
    },
    run: async () => null,
  });
  const { catalogue } = createFunctionUpstream([pay]);
  const call = { tool: 'noop', args, session: 'ses_00000000000000000000000000', key: 'k-1' };
  const text = JSON.stringify(call);
  const read = readRequest(call, defaultLimits);
  if (!read.ok) throw new Error('the bench call cannot be read');
  const facts = {
    principal: { tenant: 'default', agent: 'local' },
    nowMs: 1_000,
    readiness: { ready: true },
    catalogue,
    session: { found: true, id: call.session as SessionId, state: 'open', seq: 7, reason: null, step: null },
    inFlight: { now: 3, max: 4_096 },
  } as const;
  const per = (act: () => unknown) => () => {
    const started = performance.now();
    for (let run = 0; run < runs; run++) act();
    return ((performance.now() - started) / runs) * 1_000;
  };
  const sides = {
    decide: per(() => decide(read.request, facts)),
    parse: per(() => JSON.parse(text)),
    read: per(() => readRequest(call, defaultLimits)),
  };
  for (const side of Object.values(sides)) side();
  const { decide: decided, parse, read: reading } = await interleave(5, sides);
  return [
    {
      what: 'decide, of JSON.parse of the same call',
      ratio: decided / parse,
      bar: { atMost: 5 },
      detail: `${decided.toFixed(2)} µs of ${parse.toFixed(2)} µs`,
    },
    {
      what: 'reading and canonicalising a call, of JSON.parse',
      ratio: reading / parse,
      bar: null,
      detail: `${reading.toFixed(2)} µs of ${parse.toFixed(2)} µs`,
    },
  ];
}
