/**
 * What may one tenant, or one agent of it, see of the store? Every read and every judgement at a door that serves
 * several tenants
 * goes through here. What belongs to others does not exist.
 */
import type { CallId, Principal, SessionId } from '../../core/call/call.ts';
import { isObject } from '../../core/values/json.ts';
import { type Position, recordKinds } from '../../core/journal/record.ts';
import type { Reply } from '../../core/call/reply.ts';
import { afterAll, maxLookedAt, type MeantId, meantId } from '../../core/values/short-id.ts';
import type { Effect } from '../../core/taxonomy.ts';
import type { CallFilter, JournalEntry, StoredCall } from '../../ports/store.ts';
import type { ToldRecord } from './inspect.ts';
import { createSessionInspection, type SessionInspection } from './inspect-sessions.ts';
import { replyWithNotices } from '../completion/tasks.ts';
import { effectOf } from '../ending/transition.ts';
import { type Judged, type Judgement, settleDoubt } from '../ending/settle-doubt.ts';
import type { Scope, Shell } from '../shell.ts';

export type SeenCall = StoredCall & { readonly effect: Effect };
type SessionWish = Parameters<SessionInspection['sessions']>[0];

export interface RecordPage {
  readonly records: readonly ToldRecord[];
  /** Where to go on: the last record that was looked at, whoever's it was. */
  readonly last: Position;
  /** False when there was nothing more to look at. */
  readonly more: boolean;
}

export interface TenantView {
  /** The reply of a call, pending while it is under way; null if there is no such call in the scope. */
  reply(id: string, scope: Scope): Promise<Reply | null>;
  /** Which call of the scope is meant by the beginning of its id. */
  meant(beginning: string, scope: Scope): Promise<MeantId>;
  calls(scope: Scope, filter: Omit<CallFilter, 'tenant'>): Promise<readonly SeenCall[]>;
  settle(id: string, judgement: Judgement, tenant: string): Promise<Judged>;
  sessions(scope: Scope, filter: Omit<SessionWish, 'tenant'>): ReturnType<SessionInspection['sessions']>;
  /** Whose session it is; null if there is no such session in the scope. */
  ownerOf(session: string, scope: Scope): Promise<Principal | null>;
  /** Records after a position, from the first if null. Those of no tenant (the journal's own) are nobody's. */
  records(tenant: string, after: Position | null, limit: number): Promise<RecordPage>;
  /** Where the journal ends now, whoever's record it is. */
  head(): Promise<Position>;
}

const beforeTheFirst: Position = { epoch: 0, seq: 0 };
/** Tenants of calls and sessions seen last, which never change. */
const maxRemembered = 10_000;

export function createTenantView(shell: Shell): TenantView {
  const { store } = shell.ports;
  const tenants = new Map<string, string>();
  const remember = async (id: string, look: () => Promise<{ readonly tenant: string } | null>) => {
    const known = tenants.get(id);
    if (known !== undefined) return known;
    const tenant = (await look())?.tenant ?? null;
    if (tenants.size >= maxRemembered) tenants.clear();
    if (tenant !== null) tenants.set(id, tenant);
    return tenant;
  };
  const tenantOf = ({ call, session, body }: JournalEntry): Promise<string | null> => {
    if (call !== null) return remember(call, () => store.call(call as CallId));
    if (session !== null) return remember(session, () => store.session(session as SessionId));
    return Promise.resolve(namedIn(body));
  };
  const find = async (id: string, scope: Scope): Promise<StoredCall | null> => {
    const call = await store.call(id as CallId);
    return call !== null && isIn(call, scope) ? call : null;
  };
  return {
    async reply(id, scope) {
      const call = await find(id, scope);
      return call === null ? null : replyWithNotices(call, shell);
    },
    async meant(beginning, scope) {
      const found = await store.listCalls({ ...within(scope), before: afterAll(beginning), limit: maxLookedAt });
      const theirs = found.filter((call) => isIn(call, scope));
      return meantId(
        beginning,
        theirs.map(({ id }) => id),
      );
    },
    async calls(scope, filter) {
      const found = await store.listCalls({ ...filter, ...within(scope) });
      return found.filter((call) => isIn(call, scope)).map((call) => ({ ...call, effect: effectOf(call.state) }));
    },
    async settle(id, judgement, tenant) {
      const call = await find(id, { tenant, agent: null });
      return call === null ? 'not_found' : settleDoubt(call.id, judgement, shell);
    },
    async sessions(scope, filter) {
      const { found, complete } = await createSessionInspection(store).sessions({ ...filter, ...within(scope) });
      return { found: found.filter((session) => isIn(session, scope)), complete };
    },
    async ownerOf(session, scope) {
      const found = await store.session(session as SessionId);
      return found !== null && isIn(found, scope) ? { tenant: found.tenant, agent: found.agent } : null;
    },
    async records(tenant, after, limit) {
      const from = after ?? beforeTheFirst;
      const page = await store.entries(from, limit);
      const records: ToldRecord[] = [];
      for (const entry of page) if ((await tenantOf(entry)) === tenant) records.push(tell(entry));
      return { records, last: placeOf(page.at(-1) ?? from), more: page.length === limit };
    },
    async head() {
      return placeOf((await store.entries(null, 1)).at(-1) ?? beforeTheFirst);
    },
  };
}

/** A record of no call and no session may name its tenant; the gateway writes bodies, and no agent does. */
function namedIn(body: string): string | null {
  try {
    const written: unknown = JSON.parse(body);
    const tenant = isObject(written) ? written['tenant'] : null;
    return typeof tenant === 'string' ? tenant : null;
  } catch {
    // Whoever reads a journal must be able to read a broken one.
    return null;
  }
}

/** INVARIANT: whatever a filter says, the scope has the last word. */
const within = ({ tenant, agent }: Scope) => ({ tenant, ...(agent === null ? {} : { agent }) });

const isIn = (found: Principal, { tenant, agent }: Scope): boolean =>
  found.tenant === tenant && (agent === null || found.agent === agent);

const placeOf = ({ epoch, seq }: Position): Position => ({ epoch, seq });

function tell(entry: JournalEntry): ToldRecord {
  const meanings: Readonly<Record<string, string>> = recordKinds;
  return { ...entry, meaning: meanings[entry.kind] ?? 'a kind of record that this version does not know' };
}
