/**
 * Keeps the links and sessions of the console, in memory: a restart ends them all. What a browser holds is random, and
 * only its hash is kept. INVARIANT: a session lives no longer than the key that opened it.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Identity } from '../../core/call/identity.ts';
import type { ConsoleSessions, OpenedConsole } from '../../doors/http/console/console-sessions.ts';
import type { Keyring } from '../../ports/keyring.ts';

export interface ConsoleSessionParts {
  readonly keyring: Pick<Keyring, 'liveHashes'>;
  readonly nowMs: () => number;
}

export interface ConsoleLimits {
  /** Beyond, the oldest makes way. */
  readonly maxSessions: number;
  readonly maxLinks: number;
  readonly sessionMs: number;
  readonly linkMs: number;
}

const minuteMs = 60_000;

export const defaultConsoleLimits: ConsoleLimits = {
  maxSessions: 200,
  maxLinks: 20,
  sessionMs: 12 * 60 * minuteMs,
  linkMs: 15 * minuteMs,
};

interface Kept {
  readonly who: Identity;
  readonly expiresAtMs: number;
}

const secretBytes = 32;
const newSecret = () => randomBytes(secretBytes).toString('base64url');
const hashOf = (secret: string) => createHash('sha256').update(secret).digest('base64url');

export function createConsoleSessions(
  { keyring, nowMs }: ConsoleSessionParts,
  limits: ConsoleLimits = defaultConsoleLimits,
): ConsoleSessions {
  const links = new Map<string, Kept>();
  const sessions = new Map<string, Kept>();

  /** INVARIANT: a key that was revoked or has expired opens nothing any more. */
  const isAlive = async ({ who, expiresAtMs }: Kept): Promise<boolean> => {
    if (expiresAtMs <= nowMs() || who.keyId === null) return false;
    return (await keyring.liveHashes([who.keyId], nowMs())).has(who.keyId);
  };

  const keep = (map: Map<string, Kept>, max: number, kept: Kept): string => {
    for (const [hash, { expiresAtMs }] of map) if (expiresAtMs <= nowMs()) map.delete(hash);
    const [oldest] = map.keys();
    if (map.size >= max && oldest !== undefined) map.delete(oldest);
    const secret = newSecret();
    map.set(hashOf(secret), kept);
    return secret;
  };

  const open = (who: Identity): OpenedConsole => {
    const expiresAtMs = nowMs() + limits.sessionMs;
    return { token: keep(sessions, limits.maxSessions, { who, expiresAtMs }), who, expiresAtMs };
  };

  return {
    invite(who) {
      const expiresAtMs = nowMs() + limits.linkMs;
      return { code: keep(links, limits.maxLinks, { who, expiresAtMs }), expiresAtMs };
    },
    async enter(code) {
      const hash = hashOf(code);
      const link = links.get(hash);
      // INVARIANT: taken away before anything is awaited, so that of two who come at once one gets in.
      links.delete(hash);
      return link !== undefined && (await isAlive(link)) ? open(link.who) : null;
    },
    open,
    async find(token) {
      const hash = hashOf(token);
      const session = sessions.get(hash);
      if (session === undefined) return null;
      if (await isAlive(session)) return session;
      sessions.delete(hash);
      return null;
    },
    end: (token) => void sessions.delete(hashOf(token)),
  };
}
