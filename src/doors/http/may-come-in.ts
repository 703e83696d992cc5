/**
 * By which name are we called, and by whose page? A page of another site that had its name point at us calls us by that name, and
 * is turned away here before anything is read.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { type DoorProblem, doorProblem } from '../../core/http/door-problems.ts';
import type { HttpDoorOptions } from './parts.ts';

type Names = Pick<HttpDoorOptions, 'allowedHosts' | 'allowedOrigins'>;

/** Null if they may. */
export function whyNotIn({ host, origin }: IncomingHttpHeaders, names: Names): DoorProblem | null {
  const called = nameIn(host ?? '');
  if (called === null || !names.allowedHosts.includes(called))
    return doorProblem('HostForbidden', 'call this server by one of its own names');
  if (origin === undefined) return null;
  const page = originName(origin);
  if (page === null || !names.allowedOrigins.includes(page))
    return doorProblem('OriginForbidden', 'pages of this origin may not call this server');
  return null;
}

const hostHeader = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i;

/** Without its port; null if it cannot be read. */
const nameIn = (host: string): string | null => hostHeader.exec(host)?.[1]?.toLowerCase() ?? null;

const originHeader = /^https?:\/\/(.+)$/i;

function originName(origin: string): string | null {
  const host = originHeader.exec(origin)?.[1];
  return host === undefined ? null : nameIn(host);
}
