/**
 * Routes for sessions: open, list, read, step, reset, fork, accept, history. An agent sees its own; operators see all
 * of the tenant.
 */
import type { Principal } from '../../core/call/call.ts';
import { defaultPage } from '../../core/http/http-routes.ts';
import { isObject } from '../../core/values/json.ts';
import type { Reach } from '../../core/policy/policy.ts';
import type { SessionStatus, WalkedSession } from '../../shell/look/inspect-sessions.ts';
import { type Answer, type Asked, json, jsonOrReply, reply } from './answer.ts';
import { keysDiffer, principal, scopeOf, time, withControls } from './call-routes.ts';

export async function openSession({ body, who, parts }: Asked): Promise<Answer> {
  const { workflow, mode = null } = body as { readonly workflow?: string; readonly mode?: Reach };
  const opened =
    workflow === undefined
      ? parts.openSession(principal(who), mode)
      : parts.workflows.open(workflow, principal(who), mode);
  return jsonOrReply(await opened);
}

export async function listSessions({ query, who, parts }: Asked): Promise<Answer> {
  const limit = Number(query['limit'] ?? defaultPage);
  if (limit === 0) return json({ sessions: [], complete: false });
  const { agent, workflow, status } = query as Readonly<Record<string, string | undefined>>;
  const { found, complete } = await parts.view.sessions(scopeOf(who), {
    ...(agent === undefined ? {} : { agent }),
    ...(workflow === undefined ? {} : { workflow }),
    ...(status === undefined ? {} : { status: status as SessionStatus }),
    limit,
  });
  return json({ sessions: found.map(sessionEntry), complete: complete && found.length < limit });
}

function sessionEntry(session: WalkedSession) {
  return {
    session: session.id,
    agent: session.agent,
    workflow: session.workflow.name,
    seq: session.seq,
    status: session.status,
    reason: session.workflow.reason,
    opened_at: time(session.openedAtMs),
    last_used_at: time(session.usedAtMs),
  };
}

/**
 * The principal for the service: the agent itself or, for an operator, the agent that owns the session, if it is of the
 * tenant.
 */
export async function principalFor({ id, who, parts }: Asked): Promise<Principal> {
  const scope = scopeOf(who);
  if (scope.agent !== null) return principal(who);
  return (await parts.view.ownerOf(id, scope)) ?? principal(who);
}

export async function readSession(asked: Asked): Promise<Answer> {
  return jsonOrReply(await asked.parts.workflows.look(asked.id, await principalFor(asked)));
}

export async function readHistory(asked: Asked): Promise<Answer> {
  const { id, query, parts } = asked;
  const [after, limit] = [Number(query['after'] ?? 0), Number(query['limit'] ?? defaultPage)];
  return jsonOrReply(await parts.workflows.history(id, await principalFor(asked), after, limit));
}

export async function takeStep(asked: Asked): Promise<Answer> {
  const { id, who, parts, client } = asked;
  const whole = withControls(asked);
  if (whole === null) return keysDiffer(asked);
  if (!isObject(whole.raw)) {
    const expected = 'an object {action, inputs}';
    return reply(await parts.unfit([{ path: '', expected, got: null }], principal(who)));
  }
  const named = whole.raw['session'] ?? id;
  if (named !== id) {
    const expected = 'the session of the path, or left out';
    return reply(await parts.unfit([{ path: '/session', expected, got: null }], principal(who)));
  }
  return reply(await parts.workflows.step('', { ...whole.raw, session: id }, principal(who), client));
}

/** By the agent, or by an administrator, whose name goes on record, for the agent that owns the session. */
export async function resetSession(asked: Asked): Promise<Answer> {
  return reply(await asked.parts.workflows.reset(asked.id, await principalFor(asked), asked.who.name));
}

export async function forkSession(asked: Asked): Promise<Answer> {
  const { seq = null } = asked.body as { readonly seq?: number };
  return reply(await asked.parts.workflows.fork(asked.id, seq, await principalFor(asked), asked.who.name));
}

/** Accepted by an administrator, whose name goes on record, for the agent that owns the session. */
export async function acceptSession(asked: Asked): Promise<Answer> {
  return reply(await asked.parts.workflows.accept(asked.id, await principalFor(asked), asked.who.name));
}
