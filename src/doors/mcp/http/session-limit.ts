/**
 * Limits the number of MCP sessions. When it is reached, the longest unused session of the agent that asks is closed if
 * that agent has its share, otherwise one of the agent with the most. A session with an open request is never closed
 * for another.
 */
import type { Principal } from '../../../core/call/call.ts';

export interface SessionLimits {
  readonly maxSessions: number;
  readonly maxSessionsPerAgent: number;
}

/** What the limit needs to know of a session. */
export interface LimitedSession {
  readonly who: Principal | undefined;
  /** The time of the last request. */
  readonly usedAtMs: number;
  /** A request has no answer yet, or the session is being opened. */
  isBusy(): boolean;
  /** A stream is open on which its client listens. */
  isListening(): boolean;
  close(): Promise<void>;
}

export interface SessionLimit {
  /** False if there is no room for this session. */
  admit(session: LimitedSession): boolean;
  release(session: LimitedSession): void;
}

export function createSessionLimit({ maxSessions, maxSessionsPerAgent }: SessionLimits): SessionLimit {
  const admitted = new Map<LimitedSession, string>();
  const closeOne = (among: readonly LimitedSession[]): boolean => {
    const idle = among.filter((session) => !session.isBusy()).sort(byUse);
    const [session] = idle;
    if (session === undefined) return false;
    admitted.delete(session);
    void session.close();
    return true;
  };
  return {
    admit(session) {
      const name = nameOf(session);
      const theirs = [...admitted.keys()].filter((each) => admitted.get(each) === name);
      if (theirs.length >= maxSessionsPerAgent) {
        if (!closeOne(theirs)) return false;
      } else if (admitted.size >= maxSessions && !byAgentLargestFirst([...admitted]).some(closeOne)) return false;
      admitted.set(session, name);
      return true;
    },
    release: (session) => void admitted.delete(session),
  };
}

const nameOf = ({ who }: LimitedSession): string => (who === undefined ? '' : JSON.stringify([who.tenant, who.agent]));

/** Those without a listener first, then the longest unused. */
const byUse = (a: LimitedSession, b: LimitedSession): number =>
  Number(a.isListening()) - Number(b.isListening()) || a.usedAtMs - b.usedAtMs;

/** The sessions by agent, the agent with the most first. */
function byAgentLargestFirst(
  admitted: readonly (readonly [LimitedSession, string])[],
): readonly (readonly LimitedSession[])[] {
  const byName = Map.groupBy(admitted, ([, name]) => name);
  return [...byName.values()].map((each) => each.map(([session]) => session)).sort((a, b) => b.length - a.length);
}
