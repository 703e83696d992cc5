/**
 * Which call does a client come back to with its answers? In revision 2026-07-28 a question ends the request, and the
 * client sends the call again with a state that we gave it. That state is hostile input: it is random, known only here,
 * good for one use, for the same agent and connection, the same request, and a limited time.
 */
import { randomBytes } from 'node:crypto';
import type { Connection } from '../connection.ts';
import type { McpDoorLimits } from '../parts.ts';
import type { WaitingCall } from './waiting-call.ts';

export interface ParkedCall {
  readonly connection: Connection;
  /** The request in canonical form: coming back with another one is refused. */
  readonly request: string;
  readonly call: WaitingCall;
}

export type ParkedCalls = ReturnType<typeof createParkedCalls>;

const stateBytes = 32;

export function createParkedCalls({ maxParkedCalls, parkedForMs }: McpDoorLimits) {
  const parked = new Map<string, ParkedCall & { readonly timer: NodeJS.Timeout }>();
  const take = (state: string): ParkedCall | undefined => {
    const found = parked.get(state);
    clearTimeout(found?.timer);
    parked.delete(state);
    return found;
  };
  const leaveWhere = (isMeant: (each: ParkedCall) => boolean) => {
    for (const [state, each] of parked) if (isMeant(each)) take(state)?.call.leave();
  };
  return {
    /** The state under which the client comes back; null when too many are waiting. */
    park(call: ParkedCall): string | null {
      if (parked.size >= maxParkedCalls) return null;
      const state = randomBytes(stateBytes).toString('base64url');
      // A client that does not come back has left, and an equal write may take its place.
      const timer = setTimeout(() => take(state)?.call.leave(), parkedForMs);
      timer.unref();
      parked.set(state, { ...call, timer });
      return state;
    },

    /** Null for every state that is forged, used up, expired, or somebody else's: they are not told apart. */
    claim(state: unknown, connection: Connection, request: string): ParkedCall | null {
      const found = typeof state === 'string' ? parked.get(state) : undefined;
      if (found === undefined || found.request !== request || !isSame(found.connection, connection)) return null;
      // INVARIANT: a state is good once.
      return take(state as string) ?? null;
    },

    size: () => parked.size,
    leaveOf: (connection: Connection) => leaveWhere((each) => each.connection === connection),
    close: () => leaveWhere(() => true),
  };
}

/** Stateless requests have nothing in common but their agent. */
function isSame(one: Connection, other: Connection): boolean {
  if (!one.stateless || !other.stateless) return one === other;
  return one.who.tenant === other.who.tenant && one.who.agent === other.who.agent;
}
