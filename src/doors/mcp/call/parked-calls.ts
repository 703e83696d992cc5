/**
 * Calls that wait for their client to return with answers. In revision 2026-07-28 a question ends the request, and the
 * client sends the call again with a state that is random, valid once, and bound to its connection and request.
 */
import { randomBytes } from 'node:crypto';
import type { Connection } from '../connection.ts';
import type { McpDoorLimits } from '../parts.ts';
import type { WaitingCall } from './waiting-call.ts';

export interface ParkedCall {
  readonly connection: Connection;
  /** The request in canonical form; returning with another one is refused. */
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
      // A client that does not return counts as gone, and an equal write may take its place.
      const timer = setTimeout(() => take(state)?.call.leave(), parkedForMs);
      timer.unref();
      parked.set(state, { ...call, timer });
      return state;
    },

    /** Null for a state that is forged, used, expired or of another client: they are not told apart. */
    claim(state: unknown, connection: Connection, request: string): ParkedCall | null {
      const found = typeof state === 'string' ? parked.get(state) : undefined;
      if (found === undefined || found.request !== request || !isSame(found.connection, connection)) return null;
      // INVARIANT: a state is valid once.
      return take(state as string) ?? null;
    },

    size: () => parked.size,
    leaveOf: (connection: Connection) => leaveWhere((each) => each.connection === connection),
    close: () => leaveWhere(() => true),
  };
}

/** Stateless requests share only their agent. */
function isSame(one: Connection, other: Connection): boolean {
  if (!one.stateless || !other.stateless) return one === other;
  return one.who.tenant === other.who.tenant && one.who.agent === other.who.agent;
}
