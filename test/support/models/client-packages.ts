/** The clients of models, installed beside the tests when they are first needed, and loaded as their users do. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { registryOutOfReach, runCommand } from '../run-npm.ts';

const home = path.join(import.meta.dirname, '../../peers/models');
const installsWithinMs = 600_000;

interface Manifest {
  readonly version?: string;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Manifest;
const wanted = Object.entries(read(path.join(home, 'package.json')).devDependencies ?? {});

/** Null, or why they cannot be had: only that the registry is out of reach. Any other trouble is a failure. */
export async function installClients(): Promise<string | null> {
  if (isInstalled()) return null;
  const problem = await registryOutOfReach(wanted.map(([name, version]) => `${name}@${version}`)[0] ?? '', home);
  if (problem !== null) return `the clients of models are not installed and ${problem}`;
  const { code, said } = await runCommand('npm', ['ci', '--ignore-scripts'], home, installsWithinMs);
  if (code !== 0 || !isInstalled()) throw new Error(`npm ci in test/peers/models has failed: ${said}`);
  return null;
}

/** npm writes its hidden lock file last, so a half installation is none. */
function isInstalled(): boolean {
  if (!existsSync(path.join(home, 'node_modules/.package-lock.json'))) return false;
  return wanted.every(([name, version]) => {
    const file = path.join(home, 'node_modules', name, 'package.json');
    return existsSync(file) && read(file).version === version;
  });
}

const here = createRequire(path.join(home, 'package.json'));

/** They are not there when types are checked, so what they export has none. */
export const loadClient = async (name: string): Promise<Untyped> =>
  (await import(pathToFileURL(here.resolve(name)).href)) as Untyped;

// oxlint-disable-next-line typescript/no-explicit-any
export type Untyped = any;
