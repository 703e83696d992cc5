/** Checks Host and Origin (DNS rebinding): a page of another site may not call us under a name of its own. */
import type { IncomingHttpHeaders } from 'node:http';
import { type DoorProblem, doorProblem } from '../../core/http/door-problems.ts';
import { nameIn } from '../shared/host-name.ts';
import type { HttpDoorOptions } from './parts.ts';

type Names = Pick<HttpDoorOptions, 'allowedHosts' | 'allowedOrigins'>;

/** Null if both are allowed. */
export function checkOrigin({ host, origin }: IncomingHttpHeaders, names: Names): DoorProblem | null {
  const name = nameIn(host ?? '');
  if (name === null || !names.allowedHosts.includes(name))
    return doorProblem('HostForbidden', 'call this server by one of its own names');
  if (origin === undefined) return null;
  const page = originName(origin);
  if (page === null || !names.allowedOrigins.includes(page))
    return doorProblem('OriginForbidden', 'pages of this origin may not call this server');
  return null;
}

const originHeader = /^https?:\/\/(.+)$/i;

function originName(origin: string): string | null {
  const host = originHeader.exec(origin)?.[1];
  return host === undefined ? null : nameIn(host);
}
