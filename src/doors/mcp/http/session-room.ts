/**
 * Whose MCP session gives way when there are as many as there may be? The longest unused one of the agent who asks, if that agent
 * has its share; otherwise one of the agent who has the most. Never one with a request under way.
 */
import type { Principal } from '../../../core/call/call.ts';

export interface RoomLimits {
  readonly maxSessions: number;
  readonly maxSessionsPerAgent: number;
}

/** What the room must know of a session. */
export interface RoomySession {
  readonly who: Principal | undefined;
  /** When something was last asked in it. */
  readonly usedAtMs: number;
  /** A request has no answer yet, or the session is being opened. */
  isBusy(): boolean;
  /** Its client only listens. */
  isListening(): boolean;
  close(): Promise<void>;
}

export interface SessionRoom {
  /** False if there is none left for this session. */
  take(session: RoomySession): boolean;
  leave(session: RoomySession): void;
}

export function createSessionRoom({ maxSessions, maxSessionsPerAgent }: RoomLimits): SessionRoom {
  const taken = new Map<RoomySession, string>();
  const giveWay = (among: readonly RoomySession[]): boolean => {
    const idle = among.filter((session) => !session.isBusy()).sort(leastMissed);
    const [session] = idle;
    if (session === undefined) return false;
    taken.delete(session);
    void session.close();
    return true;
  };
  return {
    take(session) {
      const name = nameOf(session);
      const theirs = [...taken.keys()].filter((each) => taken.get(each) === name);
      if (theirs.length >= maxSessionsPerAgent) {
        if (!giveWay(theirs)) return false;
      } else if (taken.size >= maxSessions && !ofLargestFirst([...taken]).some(giveWay)) return false;
      taken.set(session, name);
      return true;
    },
    leave: (session) => void taken.delete(session),
  };
}

const nameOf = ({ who }: RoomySession): string => (who === undefined ? '' : JSON.stringify([who.tenant, who.agent]));

/** One that nobody listens on before one that somebody does, and the longest unused first. */
const leastMissed = (a: RoomySession, b: RoomySession): number =>
  Number(a.isListening()) - Number(b.isListening()) || a.usedAtMs - b.usedAtMs;

/** The sessions of each agent, those of the one with the most first. */
function ofLargestFirst(taken: readonly (readonly [RoomySession, string])[]): readonly (readonly RoomySession[])[] {
  const byName = Map.groupBy(taken, ([, name]) => name);
  return [...byName.values()].map((each) => each.map(([session]) => session)).sort((a, b) => b.length - a.length);
}
