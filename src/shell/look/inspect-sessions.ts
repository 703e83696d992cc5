/**
 * Reads workflow sessions from the store for people: lists them, shows state and history of one, and follows its
 * history. Does not run the workflow, so it cannot say which actions come next. Must not write.
 */
import type { SessionId } from '../../core/call/call.ts';
import { isObject, type Json } from '../../core/values/json.ts';
import { maxLookedAt, type MeantId, meantId } from '../../core/values/short-id.ts';
import type { Fence, Session, SessionFilter, StoreReader, WorkflowSession } from '../../ports/store.ts';
import { type HistoryEntry, readHistory } from './history.ts';

export type { Fence, HistoryEntry };

export const sessionStatuses = ['open', 'done', 'stopped', 'cancelled', 'closed'] as const;
export type SessionStatus = (typeof sessionStatuses)[number];

/** A session that has a workflow. */
export interface WalkedSession extends Session {
  readonly workflow: WorkflowSession;
  readonly status: SessionStatus;
}

export interface SessionStory {
  readonly session: WalkedSession;
  /** The version of the workflow that it is pinned to; null if the manifest cannot be read. */
  readonly version: string | null;
  /** The whole present state; null if it is not kept. */
  readonly state: Json | null;
  readonly fences: readonly Fence[];
  /** The newest entries, the oldest of them first. */
  readonly history: readonly HistoryEntry[];
}

export type StateAt =
  | { readonly kind: 'state'; readonly seq: number; readonly state: Json }
  | { readonly kind: 'no_session' }
  /** `first` is the oldest step that is kept, `last` the newest. */
  | { readonly kind: 'not_kept'; readonly seq: number; readonly first: number | null; readonly last: number };

export interface SessionInspection {
  /** Finds a session by the beginning of its handle, among those that were used last. */
  meant(beginning: string): Promise<MeantId>;
  /** `complete` is false if the search ended at its limit of sessions read. */
  sessions(
    filter: Omit<SessionFilter, 'state'> & { readonly status?: SessionStatus },
  ): Promise<{ readonly found: readonly WalkedSession[]; readonly complete: boolean }>;
  session(handle: string, entries: number): Promise<SessionStory | null>;
  /** The state after step `seq`; null means the present state. */
  stateAt(handle: string, seq: number | null): Promise<StateAt>;
  /** The newest entries, oldest of them first; null if there is no such session. */
  history(handle: string, entries: number): Promise<readonly HistoryEntry[] | null>;
  /**
   * Entries after `last`, and then those that come; `wait` ends it by answering false. One that is running comes a
   * second time when it has ended, and so do those of `running` that were yielded before.
   */
  follow(
    handle: string,
    last: number,
    running: readonly number[],
    wait: () => Promise<boolean>,
  ): AsyncGenerator<HistoryEntry>;
}

/** Whether a session is done can only be read from its state, so such a search reads at most this many states. */
const maxScanned = 10_000;
const pageSize = 100;
/** An attempt has three or four records. */
const recordsPerEntry = 5;
/** More attempts of one session than ever run at the same time. */
const maxAwaited = 1_000;

export function createSessionInspection(reader: StoreReader): SessionInspection {
  return {
    async meant(beginning) {
      const found = await reader.listSessions({ limit: maxScanned });
      const theirs = found.filter(({ id }) => id.startsWith(beginning)).map(({ id }) => id);
      return meantId(beginning, theirs.slice(0, maxLookedAt));
    },
    sessions: (filter) => listSessions(filter, reader),
    async session(handle, entries) {
      const found = await find(handle, reader);
      if (found === null) return null;
      const [session, fences, history, version] = await Promise.all([
        withStatus(found, reader),
        reader.fences(found.id),
        newest(found, entries, reader),
        versionOf(found.workflow.manifest, reader),
      ]);
      return { session, version, state: await stateOf(found.id, found.seq, reader), fences, history };
    },
    async stateAt(handle, seq) {
      const found = await find(handle, reader);
      if (found === null) return { kind: 'no_session' };
      const at = seq ?? found.seq;
      const state = await stateOf(found.id, at, reader);
      if (state !== null) return { kind: 'state', seq: at, state };
      return { kind: 'not_kept', seq: at, first: await reader.firstSnapshot(found.id, 0), last: found.seq };
    },
    async history(handle, entries) {
      const found = await find(handle, reader);
      return found === null ? null : newest(found, entries, reader);
    },
    async *follow(handle, last, running, wait) {
      const awaited = new Set(running);
      let after = last;
      do {
        const session = await find(handle, reader);
        if (session === null) return;
        for (const entry of awaited) {
          const [now] = (await readHistory(session, entry - 1, 1, reader)).entries;
          if (now?.entry === entry && now.outcome === 'running') continue;
          awaited.delete(entry);
          if (now?.entry === entry) yield now;
        }
        for await (const entry of entriesAfter(session, after, reader)) {
          after = entry.entry;
          if (entry.outcome === 'running' && awaited.size < maxAwaited) awaited.add(entry.entry);
          yield entry;
        }
      } while (await wait());
    },
  };
}

type Found = Session & { readonly workflow: WorkflowSession };

async function find(handle: string, reader: StoreReader): Promise<Found | null> {
  const session = await reader.session(handle as SessionId);
  return session === null || session.workflow === null ? null : { ...session, workflow: session.workflow };
}

const listSessions: (
  filter: Parameters<SessionInspection['sessions']>[0],
  reader: StoreReader,
) => ReturnType<SessionInspection['sessions']> = async ({ status, ...filter }, reader) => {
  const needsState = status === 'open' || status === 'done';
  const state = status === 'done' ? 'open' : status;
  const limit = needsState ? maxScanned : filter.limit;
  const listed = await reader.listSessions({ ...filter, ...(state === undefined ? {} : { state }), limit });
  const found: WalkedSession[] = [];
  for (const session of listed) {
    if (session.workflow === null) continue;
    const walked = await withStatus({ ...session, workflow: session.workflow }, reader);
    if (status === undefined || walked.status === status) found.push(walked);
    if (found.length === filter.limit) return { found, complete: true };
  }
  return { found, complete: !needsState || listed.length < maxScanned };
};

async function withStatus(session: Found, reader: StoreReader): Promise<WalkedSession> {
  if (session.state !== 'open') return { ...session, status: session.state };
  const state = await stateOf(session.id, session.seq, reader);
  return { ...session, status: isObject(state) && state['done'] === true ? 'done' : 'open' };
}

async function stateOf(id: SessionId, seq: number, reader: StoreReader): Promise<Json | null> {
  const text = await reader.snapshot(id, seq);
  return text === null ? null : parse(text);
}

async function versionOf(manifest: string, reader: StoreReader): Promise<string | null> {
  const text = await reader.blob(manifest);
  const read = text === null ? null : parse(text);
  return isObject(read) && typeof read['version'] === 'string' ? read['version'] : null;
}

/** Reads from far enough back for this many entries; from further back if most records were no entries. */
async function newest(session: Found, entries: number, reader: StoreReader): Promise<readonly HistoryEntry[]> {
  if (entries === 0) return [];
  for (let back = entries * recordsPerEntry; ; back *= 4) {
    const from = Math.max(0, session.entries - back);
    const found: HistoryEntry[] = [];
    for await (const entry of entriesAfter(session, from, reader)) {
      found.push(entry);
      if (found.length > entries) found.shift();
    }
    if (found.length === entries || from === 0) return found;
  }
}

async function* entriesAfter(session: Found, after: number, reader: StoreReader): AsyncGenerator<HistoryEntry> {
  for (let from: number | null = after; from !== null;) {
    const page: Awaited<ReturnType<typeof readHistory>> = await readHistory(session, from, pageSize, reader);
    yield* page.entries;
    from = page.next;
  }
}

/** A damaged store must be readable too: what is no JSON is shown as text. */
function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
