/** Medians of interleaved rounds: whatever disturbs the machine disturbs both sides alike, so ratios hold. */
import { readFileSync } from 'node:fs';

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

export interface Throughput {
  readonly perSecond: number;
  readonly p50Ms: number;
}

/** `callers` loops at once, for so many runs in all; `once` gets the numbers of the run and of the caller. */
export async function drive(
  callers: number,
  runs: number,
  once: (run: number, caller: number) => Promise<void>,
): Promise<Throughput> {
  const latencies: number[] = [];
  let next = 0;
  const started = performance.now();
  const loop = async (caller: number) => {
    while (next < runs) {
      const run = next++;
      const before = performance.now();
      await once(run, caller);
      latencies.push(performance.now() - before);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => loop(caller)));
  return { perSecond: (runs / (performance.now() - started)) * 1_000, p50Ms: median(latencies) };
}

/** Every side once in each round, in turn. */
export async function interleave<Name extends string>(
  rounds: number,
  sides: Readonly<Record<Name, () => Promise<number> | number>>,
): Promise<Record<Name, number>> {
  const seen = new Map<Name, number[]>();
  for (let round = 0; round < rounds; round++)
    for (const name of Object.keys(sides) as Name[]) seen.set(name, [...(seen.get(name) ?? []), await sides[name]()]);
  return Object.fromEntries([...seen].map(([name, values]) => [name, median(values)])) as Record<Name, number>;
}

export interface Row {
  readonly what: string;
  readonly ratio: number;
  /** What the ratio must keep to; null where none was set. */
  readonly bar: { readonly atMost: number } | { readonly atLeast: number } | null;
  readonly detail: string;
}

export const holds = ({ ratio, bar }: Row): boolean =>
  bar === null || ('atMost' in bar ? ratio <= bar.atMost : ratio >= bar.atLeast);

export function table(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.ratio.toFixed(2),
    row.bar === null ? '' : 'atMost' in row.bar ? `≤ ${row.bar.atMost}` : `≥ ${row.bar.atLeast}`,
    row.bar === null ? '' : holds(row) ? 'ok' : 'MISSED',
    row.what,
    row.detail,
  ]);
  const all = [['ratio', 'bar', '', 'what', 'figures'], ...cells];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** The scheduler's unit in /proc; Linux has used 100 a second everywhere for decades. */
const msPerTick = 10;

/** User and system time that a process has used; NaN where there is no /proc. */
export function cpuTimeMs(pid: number): number {
  try {
    // The name of the program may hold spaces; the fields are counted from behind it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * msPerTick;
  } catch {
    return Number.NaN;
  }
}
