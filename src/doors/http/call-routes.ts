/** Routes for calls: create, read, list, settle, and evaluate without running. */
import type { Principal } from '../../core/call/call.ts';
import { defaultPage } from '../../core/http/http-routes.ts';
import { type Identity, may } from '../../core/call/identity.ts';
import type { CallEntry } from '../../core/http/look/call-look.ts';
import { isObject } from '../../core/values/json.ts';
import { chosenId, isWhole, type MeantId, saysEnough, unmarked } from '../../core/values/short-id.ts';
import type { CallState } from '../../core/taxonomy.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import type { Judgement } from '../../shell/ending/settle-doubt.ts';
import type { Scope } from '../../shell/shell.ts';
import type { SeenCall } from '../../shell/look/tenant-view.ts';
import { type Answer, type Asked, json, jsonOrReply, refuse, refuseInput, reply } from './answer.ts';

/** The agent who holds the key. */
export const principal = ({ tenant, name }: Identity): Principal => ({ tenant, agent: name });

/** What the holder may see: its own calls, or all of the tenant. */
export const scopeOf = (who: Identity): Scope => ({
  tenant: who.tenant,
  agent: may(who, 'look') ? null : who.name,
});

/** The body with the key and wait time of headers and query; null if two keys contradict each other. */
export function withControls({ body, query, header }: Asked): { readonly raw: unknown } | null {
  if (!isObject(body)) return { raw: body };
  const key = header('idempotency-key');
  const said = body['key'] ?? undefined;
  if (key !== undefined && said !== undefined && key !== said) return null;
  const wait = body['wait_seconds'] ?? query['wait'] ?? preferredWait(header('prefer'));
  return {
    raw: {
      ...body,
      ...(key === undefined ? {} : { key }),
      ...(wait === undefined ? {} : { wait_seconds: wait }),
    },
  };
}

/** RFC 7240: a preference that is not understood is ignored. */
function preferredWait(prefer: string | undefined): number | undefined {
  const seconds = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?(?=$|[,;\s])/i.exec(prefer ?? '')?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

export async function keysDiffer({ parts, who }: Asked): Promise<Answer> {
  const expected = 'the same in the body and in the header Idempotency-Key';
  return reply(await parts.unfit([{ path: '/key', expected, got: null }], principal(who)));
}

export async function createCall(asked: Asked): Promise<Answer> {
  const whole = withControls(asked);
  if (whole === null) return keysDiffer(asked);
  return reply(await asked.parts.call(whole.raw, principal(asked.who), asked.client));
}

/** Resolves the beginning of an id, or refuses an ambiguous one. Anything else is returned as it is. */
export async function wholeId(
  given: string,
  use: 'look' | 'decide',
  find: (beginning: string) => Promise<MeantId>,
): Promise<string | Answer> {
  const beginning = unmarked(given);
  if (isWhole(beginning) || !saysEnough(beginning, 'look')) return beginning;
  const chosen = chosenId(beginning, use, await find(beginning));
  return 'id' in chosen ? chosen.id : refuse('AmbiguousId', chosen.problem);
}

export async function readCall({ id: given, who, parts }: Asked): Promise<Answer> {
  const scope = scopeOf(who);
  const id = await wholeId(given, 'look', (beginning) => parts.view.meant(beginning, scope));
  if (typeof id !== 'string') return id;
  const found = await parts.view.reply(id, scope);
  return found === null ? unknownCall(id) : reply(found);
}

export const unknownCall = (id: string): Answer => refuse('UnknownCall', `no call '${id}' is known to this key`);

export async function listCalls({ query, who, parts }: Asked): Promise<Answer> {
  const limit = Number(query['limit'] ?? defaultPage);
  if (limit === 0) return json({ calls: [], next: null });
  const { agent, session, tool, state, before } = query as Readonly<Record<string, string | undefined>>;
  const found = await parts.view.calls(scopeOf(who), {
    ...(agent === undefined ? {} : { agent }),
    ...(session === undefined ? {} : { session }),
    ...(tool === undefined ? {} : { tool }),
    ...(state === undefined ? {} : { state: state as CallState }),
    ...(before === undefined ? {} : { before }),
    limit,
  });
  return json({ calls: found.map(callEntry), next: found.length < limit ? null : (found.at(-1)?.id ?? null) });
}

export function callEntry(call: SeenCall): CallEntry {
  return {
    call_id: call.id,
    agent: call.agent,
    tool: call.tool,
    session: call.session,
    turn: call.turn,
    key: call.key,
    state: call.state,
    effect_class: call.effectClass,
    effect: call.effect,
    attempts: call.attempt,
    created_at: time(call.createdAtMs),
    updated_at: time(call.updatedAtMs),
    deadline_at: time(call.deadlineAtMs),
    repeats: call.repeats,
  };
}

const latestTime = 8.64e15;
export const time = (atMs: number): string => new Date(Math.min(atMs, latestTime)).toISOString();

export async function settleCall({ id: given, body, who, parts }: Asked): Promise<Answer> {
  const scope = { tenant: who.tenant, agent: null };
  const id = await wholeId(given, 'decide', (beginning) => parts.view.meant(beginning, scope));
  if (typeof id !== 'string') return id;
  const judgement = { ...(body as Omit<Judgement, 'by'>), by: who.name };
  const judged = await parts.view.settle(id, judgement, who.tenant);
  if (typeof judged === 'object') return refuse('InQuarantine', inQuarantine(id, judged.quarantinedForMs));
  switch (judged) {
    case 'settled':
      return json({ call_id: id, happened: judgement.happened, by: judgement.by });
    case 'not_found':
      return unknownCall(id);
    case 'not_in_doubt':
      return refuse('NotInDoubt', `call '${id}' is not in doubt; read what became of it`);
    case 'unclear':
      return refuseInput('settleCall', [{ path: '', expected: 'a judgement that can be kept', got: null }], parts);
    case 'store_unavailable':
      return storeUnavailable('settle_call', parts.newCallId());
    default:
      return unreachable(judged);
  }
}

const inQuarantine = (id: string, leftMs: number): string =>
  `call '${id}' may still be carried out: a no counts in ${Math.ceil(leftMs / 1_000)} s, or now with force: true`;

/** The same refusal as for a call. */
export function storeUnavailable(requested: string | null, callId: string): ReturnType<typeof reply> {
  return reply({
    error: 'session_error',
    requested,
    class: 'Session',
    code: 'StoreUnavailable',
    message: 'the store cannot record anything at the moment; ask again in a moment.',
    effect: 'none',
    resolution: { type: 'retry_after', retry_after_seconds: 6 },
    valid_next_actions: [],
    call_id: callId,
    session: null,
  });
}

/** An agent asks for itself; an operator names the agent. */
export async function evaluate({ body, who, parts }: Asked): Promise<Answer> {
  const { agent = null, ...raw } = body as Readonly<Record<string, unknown>>;
  const meant = await meantAgent('evaluate', agent as string | null, { who, parts });
  return typeof meant === 'string'
    ? jsonOrReply(await parts.evaluate(raw, { tenant: who.tenant, agent: meant }))
    : meant;
}

/** The agent that the request is about: an agent itself, or the one that an operator names. */
export function meantAgent(
  what: 'evaluate' | 'listTools',
  named: string | null,
  { who, parts }: Pick<Asked, 'who' | 'parts'>,
): string | Answer {
  if (may(who, 'evaluate'))
    return named ?? refuseInput(what, [{ path: '/agent', expected: 'the name of an agent', got: null }], parts);
  if (named === null || named === who.name) return who.name;
  return refuse('RoleForbidden', 'an agent may ask for itself only: leave `agent` out');
}
