/** Makes every write beyond a size fail for this process, for real, as a disk does that has gone bad. Linux only. */
import { execFileSync } from 'node:child_process';

/** Why it cannot be done here, or false. */
export function whyNoFileLimit(): string | false {
  try {
    execFileSync('prlimit', ['--pid', String(process.pid), '--fsize'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'prlimit is not there';
  }
}

export const breakDisk = (): void => limit('4096');
export const mendDisk = (): void => limit('unlimited');

function limit(bytes: string): void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`], { stdio: 'ignore' });
}
