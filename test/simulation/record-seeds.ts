/**
 * Did a change alter what the gateway does? Records a digest of all that each seed's world did: every byte of its
 * journals, which hold the transitions, records and replies of every call. `node test/simulation/record-seeds.ts record
 * FILE [seeds]`, then, after the change, `node test/simulation/record-seeds.ts compare FILE`. Uses every core.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { runSeed } from './run-seed.ts';

type Digests = Readonly<Record<string, string>>;

/** Seeds of the plain worlds, and of those in which people decide. */
async function digest(first: number, last: number, every: number): Promise<Digests> {
  const digests: Record<string, string> = {};
  for (let seed = first; seed <= last; seed += every)
    for (const approvals of [false, true]) {
      const report = await runSeed({ seed, ...(approvals ? { approvals } : {}) });
      const { broken, steps, calls } = report;
      digests[`${seed}${approvals ? ' with approvals' : ''}`] =
        broken === null ? `${report.digest} ${steps} ${calls}` : `broken: ${broken.invariant}`;
    }
  return digests;
}

async function digestAll(seeds: number): Promise<Digests> {
  const every = availableParallelism();
  const parts = Array.from({ length: every }, async (_, at) => {
    const child = fork(import.meta.filename, ['part', String(at + 1), String(seeds), String(every)]);
    const [part] = (await once(child, 'message')) as [Digests];
    return part;
  });
  return Object.assign({}, ...(await Promise.all(parts))) as Digests;
}

const [what, file = '', more = '1000'] = process.argv.slice(2);
const started = performance.now();
const seconds = () => `${((performance.now() - started) / 1_000).toFixed(0)} s`;
if (what === 'part') {
  const [first, last, every] = process.argv.slice(3).map(Number);
  process.send?.(await digest(first ?? 1, last ?? 1, every ?? 1));
  process.disconnect();
} else if (what === 'record') {
  const digests = await digestAll(Number(more));
  writeFileSync(file, `${JSON.stringify(digests, null, 1)}\n`);
  console.log(`${Object.keys(digests).length} worlds recorded in ${seconds()}`);
} else {
  const before = JSON.parse(readFileSync(file, 'utf8')) as Digests;
  const after = await digestAll(Math.max(...Object.keys(before).map((name) => Number.parseInt(name, 10))));
  const differing = Object.keys(before).filter((name) => before[name] !== after[name]);
  const list = differing.length === 0 ? '' : `: ${differing.slice(0, 20).join(', ')}`;
  console.log(`${Object.keys(before).length} worlds compared in ${seconds()}: ${differing.length} differ${list}`);
  process.exitCode = differing.length === 0 ? 0 : 1;
}
