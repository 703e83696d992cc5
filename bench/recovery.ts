/**
 * What recovery costs a call that succeeds, and what the gateway adds to a plain HTTP request: beside bare undici and
 * the two commits.
 */
import path from 'node:path';
import { request } from 'undici';
import { createGateway, httpTool, isSuccess, type Tool, tool } from '../src/index.ts';
import { openCeiling, templateOf } from './ceiling.ts';
import { startChild } from './child.ts';
import { drive, interleave, median, type Row } from './measure.ts';
import { args, noop } from './noop-gateway.ts';

const rounds = 15;

export async function benchRecovery(folder: string): Promise<readonly Row[]> {
  return [await benchSuccess(folder), await benchHttpTool(folder)];
}

/** Its own row and everything that can be declared, beside the same tool that is sent once. */
async function benchSuccess(folder: string): Promise<Row> {
  const once = tool({ ...noop, retry: { retryable: false } } as never) as Tool;
  const recovers = tool({
    ...noop,
    effect: 'probeable',
    retry: { max_attempts: 5, backoff: 'exponential', base_ms: 200 },
    reconcile: { tool: 'look', args: () => ({}), happened: () => true },
    quarantine_seconds: 60,
    operation_key: ({ order }: { order: string }) => order,
  } as never) as Tool;
  const look = tool({ name: 'look', input: {}, effect: 'pure', run: async () => null });
  const [without, declared] = [
    await openGateway(path.join(folder, 'without.db'), [once]),
    await openGateway(path.join(folder, 'declared.db'), [recovers, look]),
  ];
  const ratios: number[] = [];
  const seen = { without: [] as number[], declared: [] as number[] };
  for (let round = 0; round <= rounds; round++) {
    const [bare, ours] = [await cpuOf(() => without.call('noop')), await cpuOf(() => declared.call('noop'))];
    if (round === 0) continue; // warms both up
    seen.without.push(bare);
    seen.declared.push(ours);
    ratios.push(ours / bare);
  }
  await without.close();
  await declared.close();
  const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)} by round`;
  return {
    what: 'CPU of a call that succeeds, with everything about recovery declared, of the same that is sent once',
    ratio: median(ratios),
    bar: null,
    detail: `${median(seen.declared).toFixed(0)} µs of ${median(seen.without).toFixed(0)} µs, ${spread}`,
  };
}

/** Microseconds of this process for a call, all its threads together. */
async function cpuOf(call: () => Promise<void>): Promise<number> {
  const runs = 1_500;
  const before = process.cpuUsage();
  await drive(16, runs, call);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / runs;
}

async function benchHttpTool(folder: string): Promise<Row> {
  const api = await startChild('./echo-child.ts');
  const url = new URL('/refunds', api.url).href;
  const refund = httpTool({
    name: 'noop',
    method: 'POST',
    url,
    input: noop.input,
    output: { type: 'object' },
  });
  const gateway = await openGateway(path.join(folder, 'http.db'), [refund]);
  await gateway.call('noop');
  const ceiling = await openCeiling(path.join(folder, 'ceiling.db'), templateOf(path.join(folder, 'http.db')));
  const body = JSON.stringify(args);
  const headers = { 'content-type': 'application/json', accept: 'application/json', 'idempotency-key': 'call_1' };
  const bare = async () => {
    const answer = await request(url, { method: 'POST', headers, body });
    if (answer.statusCode !== 200) throw new Error(`the bench met ${answer.statusCode}`);
    await answer.body.json();
  };
  const p50 = (call: () => Promise<void>) => async () => (await drive(1, 200, call)).p50Ms;
  const sides = {
    request: p50(bare),
    commits: p50(() => ceiling.call()),
    both: p50(async () => {
      await bare();
      await ceiling.call();
    }),
    gateway: p50(() => gateway.call('noop')),
  };
  await interleave(1, sides); // warms all up
  const ms = await interleave(rounds, sides);
  await gateway.close();
  await ceiling.close();
  await api.stop();
  const share = (part: number) => `${((part / ms.gateway) * 100).toFixed(0)} %`;
  const rest = share(ms.gateway - ms.both);
  return {
    what: 'plain HTTP tool: p50 at 1 caller, of bare undici and the two commits',
    ratio: ms.gateway / ms.both,
    bar: null,
    detail:
      `${ms.gateway.toFixed(2)} ms of ${ms.both.toFixed(2)} ms; ` +
      `request ${share(ms.request)}, commits ${share(ms.commits)}, the rest ${rest}`,
  };
}

async function openGateway(file: string, tools: readonly Tool[]) {
  const gateway = await createGateway({ tools, file });
  return {
    async call(name: string): Promise<void> {
      const reply = await gateway.handle({ tool: name, args });
      if (!isSuccess(reply)) throw new Error(`the bench met ${JSON.stringify(reply)}`);
    },
    close: () => gateway.close(),
  };
}
