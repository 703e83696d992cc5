// Finds the Chromium that the tests of the console use. Where none is, installs Debian's, if that is asked for and this
// user may. The tests themselves only ask where it is.
import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const places = [
  ...names.map((name) => `/usr/bin/${name}`),
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const installWithinMs = 240_000;

/** The path of an executable, or null. CHROMIUM_PATH counts alone if it is set. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | null {
  const { CHROMIUM_PATH: named, PATH: searched = '' } = env;
  if (named) return isProgram(named) ? named : null;
  const inPath = searched
    .split(delimiter)
    .filter(isAbsolute)
    .flatMap((folder) => names.map((name) => join(folder, name)));
  return [...places, ...inPath].find(isProgram) ?? null;
}

type Needed =
  | { readonly path: string; readonly missing?: undefined }
  | { readonly path?: undefined; readonly missing: string };

/** The same, and otherwise Debian's; or why there is none. */
export function needChromium({ installs }: { readonly installs: boolean }): Needed {
  const { env } = process;
  const found = findChromium(env);
  if (found !== null) return { path: found };
  const named = env['CHROMIUM_PATH'];
  if (named) return { missing: `CHROMIUM_PATH names no program: ${named}` };
  const hint = 'install it, or set CHROMIUM_PATH';
  if (!installs) return { missing: `no Chromium was found: ${hint}, or run npm run test:browser as root on Debian` };
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0)
    return { missing: `no Chromium was found, and it can be installed only by root with apt-get: ${hint}` };
  process.stdout.write('no Chromium was found: installing that of Debian\n');
  const problem = install();
  const path = findChromium(env);
  return path === null ? { missing: `Chromium could not be installed (${problem}): ${hint}` } : { path };
}

/** Within one time for both commands. */
function install(): string {
  const until = performance.now() + installWithinMs;
  for (const words of [['update'], ['install', '-y', '--no-install-recommends', 'chromium']]) {
    try {
      execFileSync('apt-get', ['-q', ...words], {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
        timeout: Math.max(1, until - performance.now()),
        killSignal: 'SIGTERM',
      });
    } catch (error) {
      const { code, status } = error as { readonly code?: string; readonly status?: number };
      const why = code === 'ETIMEDOUT' ? `not within ${installWithinMs / 1000} s` : `exit ${status ?? code}`;
      return `apt-get ${words[0]}: ${why}`;
    }
  }
  return 'there is no program after it';
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
