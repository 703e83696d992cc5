/**
 * Reads the store, and settles calls in doubt, for one tenant or one of its agents. Every door that serves several
 * tenants goes through here. What belongs to others is treated as absent.
 */
import type { CallId, Principal, SessionId } from '../../core/call/call.ts';
import { isObject } from '../../core/values/json.ts';
import { improvementSubject } from '../../core/improvement/step.ts';
import type { Position } from '../../core/journal/record.ts';
import type { Reply } from '../../core/call/reply.ts';
import { afterAll, maxLookedAt, type MeantId, meantId } from '../../core/values/short-id.ts';
import type { Effect } from '../../core/taxonomy.ts';
import type { CallFilter, JournalEntry, StoredCall } from '../../ports/store.ts';
import { explainRecord, type ExplainedRecord } from './inspect.ts';
import { createSessionInspection, type SessionInspection } from './inspect-sessions.ts';
import { replyWithNotices } from '../completion/tasks.ts';
import { effectOf } from '../ending/transition.ts';
import { type Judged, type Judgement, settleDoubt } from '../ending/settle-doubt.ts';
import type { Scope, Shell } from '../shell.ts';

export type SeenCall = StoredCall & { readonly effect: Effect };
type SessionWish = Parameters<SessionInspection['sessions']>[0];

export interface RecordPage {
  readonly records: readonly ExplainedRecord[];
  /** Where the next page begins: after the last record read, of whichever tenant. */
  readonly last: Position;
  /** False at the end of the journal. */
  readonly more: boolean;
}

type Whose = Pick<JournalEntry, 'call' | 'session' | 'body'>;

export interface TenantView {
  /** The reply of a call, pending while it runs; null if there is no such call in the scope. */
  reply(id: string, scope: Scope): Promise<Reply | null>;
  /** Finds a call of the scope by the beginning of its id. */
  meant(beginning: string, scope: Scope): Promise<MeantId>;
  calls(scope: Scope, filter: Omit<CallFilter, 'tenant'>): Promise<readonly SeenCall[]>;
  settle(id: string, judgement: Judgement, tenant: string): Promise<Judged>;
  sessions(scope: Scope, filter: Omit<SessionWish, 'tenant'>): ReturnType<SessionInspection['sessions']>;
  /** The owner of a session; null if there is no such session in the scope. */
  ownerOf(session: string, scope: Scope): Promise<Principal | null>;
  /** The agent whose call it is; null if there is none in the scope. */
  callerOf(call: string, scope: Scope): Promise<Principal | null>;
  /** Records after a position, from the first if null. Records of no tenant (the journal's own) are left out. */
  records(tenant: string, after: Position | null, limit: number): Promise<RecordPage>;
  /** The position of the last record, of whichever tenant. */
  head(): Promise<Position>;
  /** Whose a record is; null for one of the journal's own, or of a call that is not there. */
  tenantOf(record: Whose): Promise<string | null>;
}

const beforeTheFirst: Position = { epoch: 0, seq: 0 };
/** How many calls and sessions have their tenant remembered; it never changes. */
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
  const tenantOf = ({ call, session, body }: Whose): Promise<string | null> => {
    if (call === improvementSubject) return Promise.resolve(tenantIn(body));
    if (call !== null) return remember(call, () => store.call(call as CallId));
    if (session !== null) return remember(session, () => store.session(session as SessionId));
    return Promise.resolve(tenantIn(body));
  };
  const find = async (id: string, scope: Scope): Promise<StoredCall | null> => {
    const call = await store.call(id as CallId);
    return call !== null && isInScope(call, scope) ? call : null;
  };
  return {
    async reply(id, scope) {
      const call = await find(id, scope);
      return call === null ? null : replyWithNotices(call, shell);
    },
    async meant(beginning, scope) {
      const found = await store.listCalls({ ...within(scope), before: afterAll(beginning), limit: maxLookedAt });
      const theirs = found.filter((call) => isInScope(call, scope));
      return meantId(
        beginning,
        theirs.map(({ id }) => id),
      );
    },
    async calls(scope, filter) {
      const found = await store.listCalls({ ...filter, ...within(scope) });
      return found.filter((call) => isInScope(call, scope)).map((call) => ({ ...call, effect: effectOf(call.state) }));
    },
    async settle(id, judgement, tenant) {
      const call = await find(id, { tenant, agent: null });
      return call === null ? 'not_found' : settleDoubt(call.id, judgement, shell);
    },
    async sessions(scope, filter) {
      const { found, complete } = await createSessionInspection(store).sessions({ ...filter, ...within(scope) });
      return { found: found.filter((session) => isInScope(session, scope)), complete };
    },
    async ownerOf(session, scope) {
      const found = await store.session(session as SessionId);
      return found !== null && isInScope(found, scope) ? { tenant: found.tenant, agent: found.agent } : null;
    },
    async callerOf(call, scope) {
      const found = await store.call(call as CallId);
      return found !== null && isInScope(found, scope) ? { tenant: found.tenant, agent: found.agent } : null;
    },
    async records(tenant, after, limit) {
      const from = after ?? beforeTheFirst;
      const page = await store.entries(from, limit);
      const records: ExplainedRecord[] = [];
      for (const entry of page) if ((await tenantOf(entry)) === tenant) records.push(explainRecord(entry));
      return { records, last: positionOf(page.at(-1) ?? from), more: page.length === limit };
    },
    tenantOf,
    async head() {
      return positionOf((await store.entries(null, 1)).at(-1) ?? beforeTheFirst);
    },
  };
}

/** A record of no call and no session may name its tenant in the body, which only the gateway writes. */
function tenantIn(body: string): string | null {
  try {
    const written: unknown = JSON.parse(body);
    const tenant = isObject(written) ? written['tenant'] : null;
    return typeof tenant === 'string' ? tenant : null;
  } catch {
    // A damaged journal must be readable too.
    return null;
  }
}

/** INVARIANT: the scope overrides whatever a filter says. */
const within = ({ tenant, agent }: Scope) => ({ tenant, ...(agent === null ? {} : { agent }) });

const isInScope = (found: Principal, { tenant, agent }: Scope): boolean =>
  found.tenant === tenant && (agent === null || found.agent === agent);

const positionOf = ({ epoch, seq }: Position): Position => ({ epoch, seq });
