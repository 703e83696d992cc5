/** Routes for reversals and rollbacks: an agent undoes its own by token or session, an administrator any call. */
import { may } from '../../../core/call/identity.ts';
import { secondsToMs } from '../../../core/values/duration.ts';
import { unmarked } from '../../../core/values/short-id.ts';
import { type Answer, type Asked, json, refuse, refuseInput, reply } from '../answer.ts';
import { principal, scopeOf, storeUnavailable, wholeId } from '../call-routes.ts';

interface Wish {
  readonly token?: string;
  readonly call?: string;
  readonly reason?: string;
  readonly wait_seconds?: number;
}

const waitOf = ({ wait_seconds: seconds }: Wish): number | null =>
  seconds === undefined ? null : secondsToMs(seconds);

export async function redeemReversal(asked: Asked): Promise<Answer> {
  const { body, who, parts, client } = asked;
  const wish = body as Wish;
  if ((wish.token === undefined) === (wish.call === undefined))
    return refuseInput('redeemReversal', [{ path: '', expected: 'either a token or a call', got: null }], parts);
  if (wish.token !== undefined) {
    if (!may(who, 'call')) return refuse('RoleForbidden', 'only the agent of a token may redeem it: name the call');
    const asking = { requester: client, waitMs: waitOf(wish) };
    return reply(await parts.reversals.redeem(wish.token, principal(who), asking));
  }
  return reverseCall(wish.call ?? '', wish, asked);
}

async function reverseCall(given: string, wish: Wish, { who, parts }: Asked): Promise<Answer> {
  if (!may(who, 'administer'))
    return refuse('RoleForbidden', 'an agent redeems the token of its call; a person needs the key of an admin');
  const scope = { tenant: who.tenant, agent: null };
  const id = await wholeId(given, 'decide', (beginning) => parts.view.meant(beginning, scope));
  if (typeof id !== 'string') return id;
  const { reason } = wish;
  const asking = { by: who.name, waitMs: waitOf(wish), ...(reason === undefined ? {} : { reason }) };
  const answered = await parts.reversals.reverse(id, scope, asking);
  return answered === null ? unknownCall(id) : reply(answered);
}

const unknownCall = (id: string): Answer => refuse('UnknownCall', `no call '${id}' is known to this key`);

export async function readReversal({ id: given, who, parts }: Asked): Promise<Answer> {
  const scope = scopeOf(who);
  const id = await wholeId(given, 'look', (beginning) => parts.view.meant(beginning, scope));
  if (typeof id !== 'string') return id;
  const view = await parts.reversals.look(id, scope);
  return view === null ? refuse('UnknownCall', `no call '${id}' that can be undone is known to this key`) : json(view);
}

export async function rollBackSession({ id: given, body, who, parts }: Asked): Promise<Answer> {
  const id = unmarked(given);
  const wish = body as Wish;
  const { reason } = wish;
  const asking = { by: who.name, waitMs: waitOf(wish), ...(reason === undefined ? {} : { reason }) };
  const view = await parts.reversals.rollBack(id, scopeOf(who), asking);
  if (view === 'store_unavailable') return storeUnavailable('roll_back_session', parts.newCallId());
  return view === null ? unknownSession(id) : json(view, view.state === 'running' ? 202 : 200);
}

export async function readRollback({ id: given, who, parts }: Asked): Promise<Answer> {
  const id = unmarked(given);
  const view = await parts.reversals.rollback(id, scopeOf(who));
  return view === null ? unknownSession(id) : json(view);
}

const unknownSession = (id: string): Answer =>
  refuse('UnknownCall', `no session '${id}' that can be rolled back, or was, is known to this key`);
