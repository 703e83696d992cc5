/**
 * The command line of the MCP Inspector, installed beside the tests when it is first needed, and run as a user runs it.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { registryOutOfReach, runCommand } from './run-npm.ts';

const peers = path.join(import.meta.dirname, '../peers');
const inspector = path.join(peers, 'node_modules/@modelcontextprotocol/inspector');
const launcher = path.join(inspector, 'clients/launcher/build/index.js');
const installsWithinMs = 180_000;
/** Ceilings: on a busy machine the start of a gateway takes longer than the Inspector waits by itself. */
const answersWithinMs = 180_000;
const connectsWithinMs = 120_000;

/** Null, or why it cannot be had: only that the registry is out of reach. Any other trouble is a failure. */
export async function installInspector(): Promise<string | null> {
  if (isInstalled()) return null;
  const name = `@modelcontextprotocol/inspector@${pinned()}`;
  // Asked first, because an installation forgives what it cannot reach of what is optional, and fails in other words.
  const problem = await registryOutOfReach(name, peers);
  if (problem !== null) return `the MCP Inspector is not installed and ${problem}`;
  // As the lock file says, which stays as it is; without scripts, and without the native parts, which only its web page
  // needs.
  const options = ['--ignore-scripts', '--no-save', '--omit=optional'];
  const { code, said } = await runCommand('npm', ['install', ...options], peers, installsWithinMs);
  if (code !== 0 || !isInstalled()) throw new Error(`npm install in test/peers has failed: ${said}`);
  return null;
}

/** npm writes its hidden lock file last, so a half installation is none. */
function isInstalled(): boolean {
  if (!existsSync(path.join(peers, 'node_modules/.package-lock.json')) || !existsSync(launcher)) return false;
  return versionIn(path.join(inspector, 'package.json')).version === pinned();
}

const pinned = () => versionIn(path.join(peers, 'package.json')).devDependencies?.['@modelcontextprotocol/inspector'];

interface Manifest {
  readonly version?: string;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const versionIn = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Manifest;

export interface Inspected {
  /** 0: done; 5: the tool answered with an error. */
  readonly code: number;
  readonly result: Readonly<Record<string, unknown>>;
  readonly complaint: string;
}

export type Inspect = (...words: readonly string[]) => Promise<Inspected>;

/**
 * `target` is an address, or a command. `home` instead of the person's own: none of their settings count or are
 * written.
 */
export function createInspect(home: string, target: readonly string[]): Inspect {
  return async (...words) => {
    const { code, out, said } = await runCommand(
      process.execPath,
      [
        launcher,
        '--cli',
        ...target,
        '--format',
        'json',
        '--quiet',
        '--connect-timeout',
        String(connectsWithinMs),
        ...words,
      ],
      home,
      answersWithinMs,
      { ...process.env, HOME: home },
    );
    assert.notEqual(out, '', `the Inspector answered nothing to ${words.join(' ')}: ${said}`);
    const { result } = JSON.parse(out) as { readonly result: Readonly<Record<string, unknown>> };
    return { code, result, complaint: said };
  };
}
