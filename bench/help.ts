/** Measures `recourse --help` of the packed package beside a Node that does nothing. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { interleave, type Row } from './measure.ts';

const runs = 15;

export async function benchHelp(folder: string): Promise<readonly Row[]> {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { stdio: ['ignore', 'ignore', 'inherit'] });
  const packed = readdirSync(folder).find((file) => file.endsWith('.tgz')) ?? '';
  execFileSync('tar', ['-xzf', path.join(folder, packed), '-C', folder]);
  const time =
    (...line: string[]) =>
    () => {
      const started = performance.now();
      const { status } = spawnSync(process.execPath, line, { stdio: 'ignore' });
      if (status !== 0) throw new Error(`${line.join(' ')} ended with ${status}`);
      return performance.now() - started;
    };
  const { help, nothing } = await interleave(runs, {
    nothing: time('-e', '0'),
    help: time(path.join(folder, 'package', 'bin', 'recourse.js'), '--help'),
  });
  const detail = `${help.toFixed(0)} ms of ${nothing.toFixed(0)} ms`;
  return [{ what: 'recourse --help (packed), of node -e 0', ratio: help / nothing, bar: { atMost: 3 }, detail }];
}
