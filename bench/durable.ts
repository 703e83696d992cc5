/** Whole durable calls of a tool that does nothing, beside the ceiling, at 1, 16, 64 and 256 callers. */
import path from 'node:path';
import { openCeiling, templateOf } from './ceiling.ts';
import { drive, median, type Row, type Throughput } from './measure.ts';
import { openNoop } from './noop-gateway.ts';

const rounds = 5;
const runsOf: Readonly<Record<number, number>> = { 1: 300, 16: 2_000, 64: 4_000, 256: 6_000 };

export async function benchDurable(folder: string): Promise<readonly Row[]> {
  const ours = await openNoop(path.join(folder, 'ours.db'));
  await ours.call();
  const ceiling = await openCeiling(path.join(folder, 'ceiling.db'), templateOf(path.join(folder, 'ours.db')));
  const seen: Record<string, Throughput[]> = {};
  const note = (name: string, throughput: Throughput) => (seen[name] ??= []).push(throughput);
  const measure = async (callers: number) => {
    const runs = runsOf[callers] ?? 1_000;
    note(`ceiling ${callers}`, await drive(callers, runs, () => ceiling.call()));
    note(`ours ${callers}`, await drive(callers, runs, () => ours.call()));
  };
  await measure(64); // warm both up, and forget it
  for (const name of Object.keys(seen)) delete seen[name];
  for (let round = 0; round < rounds; round++) for (const callers of [1, 16, 64, 256]) await measure(callers);
  await ours.close();
  await ceiling.close();

  const of = (side: string, callers: number, what: keyof Throughput) =>
    median((seen[`${side} ${callers}`] ?? []).map((throughput) => throughput[what]));
  const rows = [1, 16, 64, 256].map((callers): Row => {
    const [mine, raw] = [of('ours', callers, 'perSecond'), of('ceiling', callers, 'perSecond')];
    return {
      what: `durable calls a second at ${callers} caller${callers === 1 ? '' : 's'}, of the ceiling`,
      ratio: mine / raw,
      bar: callers === 64 ? { atLeast: 0.5 } : null,
      detail: `${mine.toFixed(0)}/s of ${raw.toFixed(0)}/s`,
    };
  });
  const [mine, raw] = [of('ours', 1, 'p50Ms'), of('ceiling', 1, 'p50Ms')];
  const detail = `${mine.toFixed(3)} ms of ${raw.toFixed(3)} ms`;
  return [
    ...rows,
    {
      what: 'whole call with a no-op function: p50 at 1 caller, of the ceiling',
      ratio: mine / raw,
      bar: { atMost: 1.5 },
      detail,
    },
  ];
}
