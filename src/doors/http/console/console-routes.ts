/** Routes of the console: make a link, sign in, who am I, sign out. Only people sign in: an agent's key is refused. */
import { may, type Identity, type Permission, permissions } from '../../../core/call/identity.ts';
import { whereKeysAre, whyUnknown } from '../../../core/http/door-problems.ts';
import { linkPath } from '../../../core/http/console/console-header.ts';
import { type Answer, type Asked, json, refuse, refuseInput } from '../answer.ts';
import { time } from '../call-routes.ts';
import type { OpenedConsole } from './console-sessions.ts';
import { cookieFor, isOwnPage, tokenIn } from './identify.ts';

export async function createConsoleLink({ who, parts }: Asked): Promise<Answer> {
  const { code, expiresAtMs } = parts.console.invite(who);
  return json({ path: linkPath(code), expires_at: time(expiresAtMs) });
}

export async function signIn(asked: Asked): Promise<Answer> {
  const { body, parts, headers } = asked;
  // A page of somebody else signs nobody in, as whomever. A browser names the page; what is no browser needs none.
  if (headers.origin !== undefined && !isOwnPage({ headers, method: 'POST' }))
    return refuse('OriginForbidden', 'sign in on the page of the console itself');
  const { code, key } = body as { readonly code?: string; readonly key?: string };
  if ((code === undefined) === (key === undefined))
    return refuseInput('signIn', [{ path: '', expected: 'either code or key', got: null }], parts);
  if (code !== undefined) {
    const opened = await parts.console.enter(code);
    return opened === null ? refuse('Unauthenticated', staleLink, challenge) : enter(opened, asked);
  }
  const who = await parts.authenticate({ authorization: `Bearer ${key}` });
  if ('problem' in who)
    return who.problem === 'unavailable'
      ? refuse('KeysUnavailable', whyUnknown.unavailable)
      : refuse('Unauthenticated', `the key is not known, has expired or was revoked; ${whereKeysAre}`, challenge);
  if (!may(who, 'look'))
    return refuse('RoleForbidden', 'the console is for people: use a key with the role viewer, approver or admin');
  return enter(parts.console.open(who), asked);
}

const challenge = { 'www-authenticate': 'Bearer realm="recourse"' };
const staleLink = 'the link was used already, or is too old: recourse console prints another';

function enter({ token, who, expiresAtMs }: OpenedConsole, asked: Asked): Answer {
  const maxAgeSeconds = (expiresAtMs - asked.parts.nowMs()) / 1_000;
  const cookie = cookieFor(asked.headers, token, maxAgeSeconds);
  return { kind: 'json', status: 200, value: sessionOf(who, expiresAtMs, asked), headers: { 'set-cookie': cookie } };
}

export async function readConsoleSession(asked: Asked): Promise<Answer> {
  const { headers, parts, who } = asked;
  const token = headers.authorization === undefined ? tokenIn(headers) : null;
  const found = token === null ? null : await parts.console.find(token);
  return json(sessionOf(who, found?.expiresAtMs ?? null, asked));
}

function sessionOf(who: Identity, expiresAtMs: number | null, { parts }: Asked) {
  const all = Object.keys(permissions) as Permission[];
  return {
    tenant: who.tenant,
    name: who.name,
    role: who.role,
    may: all.filter((each) => may(who, each)),
    version: parts.version,
    expires_at: expiresAtMs === null ? null : time(expiresAtMs),
  };
}

export async function signOut({ headers, parts }: Asked): Promise<Answer> {
  const token = tokenIn(headers);
  if (token !== null) parts.console.end(token);
  const gone = { 'set-cookie': cookieFor(headers, null, 0) };
  return { kind: 'json', status: 200, value: { signed_out: true }, headers: gone };
}
