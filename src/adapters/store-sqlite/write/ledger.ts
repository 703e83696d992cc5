/**
 * Holds the sessions that a batch changes. Rows are read once and written back once, before COMMIT.
 * Sessions are remembered from batch to batch, since nobody else writes them; a batch that was not committed is
 * forgotten.
 */
import type { Session } from '../../../ports/store.ts';
import { sessionOf, type SessionRow } from '../read/rows.ts';
import type { Statements } from './statements.ts';

export type MutableSession = { -readonly [Name in keyof Session]: Session[Name] } & { changed: boolean };

const maxRemembered = 1_024;
/** More than this many changed sessions of one batch are not listed. */
const maxTold = 64;

export type Ledger = ReturnType<typeof createLedger>;

export function createLedger(statements: Statements) {
  const sessions = new Map<string, MutableSession>();
  /** Written since the last `changed()`. */
  const written = new Set<MutableSession>();
  let forgotten = false;

  return {
    hasFence: (session: string, call: string): boolean => statements.fence.get(session, call) !== undefined,
    session(id: string): MutableSession | null {
      const known = sessions.get(id);
      if (known !== undefined) return known;
      const row = statements.session.get(id) as SessionRow | undefined;
      if (row === undefined) return null;
      const session = { ...sessionOf(row), changed: false };
      sessions.set(id, session);
      return session;
    },
    standing(tenant: string, agent: string): MutableSession | null {
      const row = statements.standingSession.get(tenant, agent) as SessionRow | undefined;
      return row === undefined ? null : this.session(row.id);
    },
    openSession(session: Session): MutableSession {
      const { id, tenant, agent, standing, state, seq, entries, openedAtMs, usedAtMs, workflow } = session;
      const identity = [id, tenant, agent, standing ? 1 : 0] as const;
      const pinned = [workflow?.name ?? null, workflow?.manifest ?? null, workflow?.timerAtMs ?? null] as const;
      const pinnedAtSeq = workflow?.pinnedAtSeq ?? 0;
      statements.insertSession.run(...identity, state, seq, entries, openedAtMs, usedAtMs, ...pinned, pinnedAtSeq);
      const opened = { ...session, changed: false };
      sessions.set(id, opened);
      return opened;
    },
    /** Writes back what changed; the batch commits right after. */
    flush(): void {
      for (const session of sessions.values()) {
        if (!session.changed) continue;
        write(session, statements);
        written.add(session);
        session.changed = false;
      }
    },
    /** After a COMMIT: what is remembered is what the file holds. */
    committed(): void {
      if (sessions.size > maxRemembered) sessions.clear();
    },
    /** The plain sessions that changed since the last call; null if there are too many, or it is not known which. */
    changed(): readonly Session[] | null {
      const told = forgotten || written.size > maxTold ? null : [...written].filter(isPlain).map(asItStands);
      forgotten = false;
      written.clear();
      return told;
    },
    forget(): void {
      forgotten = true;
      sessions.clear();
    },
  };
}

const isPlain = ({ workflow }: MutableSession): boolean => workflow === null;

export function asItStands({ changed: _changed, ...session }: MutableSession): Session {
  return session;
}

function write({ id, state, seq, entries, usedAtMs, workflow }: MutableSession, statements: Statements): void {
  if (workflow === null) {
    statements.updateSession.run(seq, entries, usedAtMs, id);
    // INVARIANT: a plain session that has ended never opens again, so one that is open is open in the file.
    if (state !== 'open') statements.endSession.run(state, id);
    return;
  }
  const { manifest, pinnedAtSeq, turn, timerAtMs, reason } = workflow;
  const about = [state, manifest, turn?.call ?? null, turn?.operation ?? null, timerAtMs, reason, pinnedAtSeq] as const;
  statements.updateWorkflow.run(seq, entries, usedAtMs, ...about, id);
}
