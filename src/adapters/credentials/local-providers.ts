/** Secrets of this machine: a variable of the environment, a file, the output of a program. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { isObject } from '../../core/values/json.ts';
import type { EnvSource, ExecSource, FileSource } from '../../core/credential/declared-credential.ts';
import { failed, lifetimeOf, maxSecretBytes, type Provided, type Provider, provided, reasonOf } from './provider.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export function createEnvProvider({ variable }: EnvSource, env: Environment): Provider {
  return {
    name: 'env',
    // A process keeps its environment.
    usualAgeMs: null,
    async fetch() {
      const value = Object.hasOwn(env, variable) ? env[variable] : undefined;
      return value === undefined ? failed(`${variable} is not set`) : provided(value, null);
    },
  };
}

export function createFileProvider({ path }: FileSource): Provider {
  return {
    name: 'file',
    // Whoever rotates a secret writes the file again.
    usualAgeMs: 60_000,
    async fetch(signal) {
      try {
        const found = await stat(path);
        // A pipe may never be opened and a device may never end: each such read would hold a thread of the process.
        if (!found.isFile()) return failed('the file: not a file');
        if (found.size > maxSecretBytes) return failed('the file is too long');
        const text = await readFile(path, { encoding: 'utf8', signal });
        return provided(text.replace(/\r?\n$/, ''), null);
      } catch (error) {
        return failed(`the file: ${reasonOf(error)}`);
      }
    },
  };
}

/** What a program of this machine needs to run; no variable of the gateway's own. */
const passedVariables = ['PATH', 'HOME', 'USER', 'LANG', 'TMPDIR', 'SystemRoot', 'SSL_CERT_FILE', 'XDG_CONFIG_HOME'];

export function createExecProvider({ command, args, cwd }: ExecSource, env: Environment): Provider {
  return {
    name: 'exec',
    usualAgeMs: 3_600_000,
    fetch: (signal) =>
      new Promise((resolve) => {
        const passed = Object.fromEntries(passedVariables.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
        // INVARIANT: its standard error goes nowhere: it may name the secret.
        const child = spawn(command, args, {
          env: passed,
          stdio: ['ignore', 'pipe', 'ignore'],
          detached: hasGroups,
          windowsHide: true,
          ...(cwd === null ? {} : { cwd }),
        });
        const stop = () => endGroup(child);
        signal.addEventListener('abort', stop, { once: true });
        const pieces: Buffer[] = [];
        let size = 0;
        child.stdout.on('data', (piece: Buffer) => {
          size += piece.length;
          if (size <= maxSecretBytes) return void pieces.push(piece);
          stop();
          resolve(failed('its output is too long'));
        });
        child.on('error', (error) => resolve(failed(`the command: ${reasonOf(error)}`)));
        child.on('close', (code, by) => {
          signal.removeEventListener('abort', stop);
          if (code !== 0) return resolve(failed(by === null ? `exit code ${code}` : 'it was stopped'));
          resolve(readOutput(Buffer.concat(pieces).toString('utf8')));
        });
      }),
  };
}

const hasGroups = process.platform !== 'win32';

/** With everything that it started: that would run on, and write to us without end. */
function endGroup(child: ChildProcess): void {
  child.stdout?.destroy();
  try {
    if (hasGroups && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // Ignored: the group is empty.
  }
}

/** The secret itself, or `{"secret": …, "expires_in": seconds}`. */
function readOutput(text: string): Provided {
  const plain = text.replace(/\r?\n$/, '');
  if (!plain.trimStart().startsWith('{')) return provided(plain, null);
  try {
    const read: unknown = JSON.parse(plain);
    const { secret, expires_in: expiresIn } = isObject(read) ? read : {};
    return typeof secret === 'string' ? provided(secret, lifetimeOf(expiresIn)) : failed('JSON without a secret');
  } catch {
    return failed('JSON that cannot be read');
  }
}
