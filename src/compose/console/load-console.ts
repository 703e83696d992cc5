/** Reads the built console, once, when it is first asked for. Without a build there is none, and the reason is told. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { operatorTenant } from '../../core/call/identity.ts';
import { linkPath } from '../../core/http/console/console-header.ts';
import type { OpenIdentity } from '../state/authenticate.ts';
import { operatorName } from '../state/operator-token.ts';
import type { ConsoleFiles } from '../../doors/console/console-door.ts';

/** Beside `src` in a clone and beside `dist` in a package. */
const builtConsole = path.join(import.meta.dirname, '../../../console/dist');
const maxFiles = 500;

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export function createConsoleFiles(folder = builtConsole): () => ConsoleFiles {
  let files: ConsoleFiles | null = null;
  return () => (files ??= readConsole(folder));
}

/** A link for the operator of this machine; null without a build, or without the operator's key. */
export function consoleLink(url: string, { operator, console: sessions }: OpenIdentity): string | null {
  if ('message' in operator || !namesIn(builtConsole).includes('index.html')) return null;
  const who = { tenant: operatorTenant, role: 'admin', name: operatorName, keyId: operator.keyId } as const;
  // A wildcard address is reachable through loopback.
  const near = url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  return `${near}${linkPath(sessions.invite(who).code)}`;
}

function readConsole(folder: string): ConsoleFiles {
  const found = namesIn(folder).slice(0, maxFiles);
  return new Map(
    found.flatMap((name) => {
      const type = types[path.extname(name)];
      if (type === undefined) return [];
      const bytes = readFileSync(path.join(folder, name));
      const at = name === 'index.html' ? '/' : `/${name.split(path.sep).join('/')}`;
      return [[at, { type, bytes, packed: gzipSync(bytes) }]];
    }),
  );
}

/** Empty if there is no such folder. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
