/** Measures a call, and an opening, on a store of a million records beside an empty one. */
import path from 'node:path';
import { fillStore } from './fill-store.ts';
import { drive, interleave, type Row } from './measure.ts';
import { openNoop } from './noop-gateway.ts';

const records = Number(process.env['RECOURSE_BENCH_RECORDS'] ?? 1_000_000);
const runs = 300;

export async function benchMillion(folder: string): Promise<readonly Row[]> {
  const full = path.join(folder, 'full.db');
  const empty = path.join(folder, 'empty.db');
  const filled = await fillStore(full, records);
  const [small, large] = [await openNoop(empty), await openNoop(full)];
  const p50 = async (side: typeof small) => (await drive(1, runs, () => side.call())).p50Ms;
  await p50(small);
  await p50(large);
  const calls = await interleave(5, { empty: () => p50(small), full: () => p50(large) });
  await small.close();
  await large.close();
  const reopen = async (file: string) => {
    const started = performance.now();
    const gateway = await openNoop(file);
    const elapsed = performance.now() - started;
    await gateway.close();
    return elapsed;
  };
  const opening = await interleave(5, { empty: () => reopen(empty), full: () => reopen(full) });
  const more = opening.full - opening.empty;
  return [
    {
      what: `p50 of a call at ${records} journal records, of an empty store`,
      ratio: calls.full / calls.empty,
      bar: { atMost: 1.2 },
      detail: `${calls.full.toFixed(3)} ms of ${calls.empty.toFixed(3)} ms (filled at ${filled.toFixed(0)} records/s)`,
    },
    {
      what: 'reopening it, in units of 200 ms more than an empty one',
      ratio: more / 200,
      bar: { atMost: 1 },
      detail: `${opening.full.toFixed(0)} ms against ${opening.empty.toFixed(0)} ms: ${more.toFixed(0)} ms more`,
    },
  ];
}
