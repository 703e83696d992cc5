/**
 * Caches plain sessions. Every call reads its session and every commit changes it; the owner hears of each change
 * before the commit is acknowledged. Workflow sessions are not kept here, since more than their row belongs to them.
 */
import type { Session } from '../../../ports/store.ts';

/** Beyond this many, all are forgotten and read again. */
const maxKnown = 1_024;

export type KnownSessions = ReturnType<typeof createKnownSessions>;

export function createKnownSessions() {
  const known = new Map<string, Session>();
  return {
    /**
     * INVARIANT: what is known of a session is what its last acknowledged commit left. Null: it is not known what
     * changed.
     */
    committed(changed: readonly Session[] | null): void {
      if (changed === null || known.size + changed.length > maxKnown) known.clear();
      for (const session of changed ?? []) known.set(session.id, session);
    },
    find: (id: string): Session | null => known.get(id) ?? null,
  };
}
