/**
 * Serves the built files of the console: one page and its hashed assets. They are the same for everybody and hold no
 * data; what the page shows it asks of the API. Nothing is read from the disk by a path of a request.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { nameIn } from '../shared/host-name.ts';

export interface ConsoleFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** Gzip. */
  readonly packed: Buffer;
}

/** By path, `/` for the page itself. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

export interface ConsoleDoor {
  /** False if the path is not one of the console; then nothing was done. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
}

/** Scripts and styles of our own files alone; no frame, no form, no other host, no script in the page. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ');

const guards = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
};

/** The name of an asset has the hash of its content, so it never changes. */
const assets = '/assets/';
const forever = 'public, max-age=31536000, immutable';

/** `hosts`: the names that it may be called by; under any other one it serves nothing (DNS rebinding). */
export function createConsoleDoor(files: () => ConsoleFiles, hosts: readonly string[]): ConsoleDoor {
  const fileFor = ({ url = '', headers }: IncomingMessage): (ConsoleFile & { readonly path: string }) | null => {
    const path = url.split('?')[0] ?? '';
    if (path !== '/' && !path.startsWith(assets) && path !== '/favicon.svg') return null;
    if (!hosts.includes(nameIn(headers.host ?? '') ?? '')) return null;
    const file = files().get(path);
    return file === undefined ? null : { ...file, path };
  };
  return {
    handle(request, response) {
      const file = fileFor(request);
      if (file === null) return false;
      request.resume();
      const { method } = request;
      if (method !== 'GET' && method !== 'HEAD') {
        response.writeHead(405, { allow: 'GET, HEAD', ...guards }).end();
        return true;
      }
      const packs = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
      const body = packs ? file.packed : file.bytes;
      response.writeHead(200, {
        ...guards,
        'content-type': file.type,
        'content-length': body.length,
        'cache-control': file.path.startsWith(assets) ? forever : 'no-cache',
        vary: 'accept-encoding',
        ...(packs ? { 'content-encoding': 'gzip' } : {}),
      });
      response.end(method === 'HEAD' ? undefined : body);
      return true;
    },
  };
}
