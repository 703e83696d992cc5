/** Runs npm, or another command, to its end, and tells a registry that nobody answers at from every other failure. */
import { execFile } from 'node:child_process';

const maxOutputBytes = 8 << 20;
const answersWithinMs = 180_000;

/** How npm says that nobody answers at the registry. */
const nobodyThere =
  /\b(?:ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)\b/;
const onlyOnce = ['--fetch-retries=0', '--fetch-timeout=20000'];

/** Null, or that nobody answers at the registry: the only reason to skip a test that needs it. */
export async function registryOutOfReach(name: string, cwd: string): Promise<string | null> {
  const found = await runCommand('npm', ['view', name, 'version', ...onlyOnce], cwd, answersWithinMs);
  const [cause] = found.code === 0 ? [] : (nobodyThere.exec(found.said) ?? []);
  return cause === undefined ? null : `the npm registry cannot be reached (${cause})`;
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly said: string;
}

export function runCommand(
  command: string,
  args: readonly string[],
  cwd: string,
  timeout: number,
  env = process.env,
): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { cwd, env, timeout, maxBuffer: maxOutputBytes, killSignal: 'SIGKILL' } as const;
    execFile(command, args, options, (error, out, said) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, out, said: code === -1 ? `${said}${String(error)}` : said });
    });
  });
}
