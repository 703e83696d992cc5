/** Fetches the one fact a gate asked for. An author's validator has a time limit; what cannot be had is a typed answer. */
import type { Principal, Request, SessionId } from '../core/call.ts';
import { canonicalText } from '../core/canonical.ts';
import type { ArgumentsFact, FactName, Facts, SessionFact } from '../core/facts.ts';
import { unreachable } from '../core/unreachable.ts';
import type { Session, StoreFault } from '../ports/store.ts';
import { commit } from './commit.ts';
import type { Shell } from './shell.ts';
import { bare } from './transition.ts';

export type Gathered =
  | { readonly kind: 'facts'; readonly facts: Facts }
  | ({ readonly kind: 'store_unavailable' } & Unopened);

/** Why a session could not be opened. */
export interface Unopened {
  readonly fault: StoreFault;
  readonly message: string;
}

export function firstFacts(shell: Shell): Facts {
  const { live, limits, catalogue } = shell;
  return {
    readiness: live.readiness,
    catalogue,
    inFlight: { now: live.running.size + live.orphans, max: limits.maxInFlight },
  };
}

export async function gather(
  fact: FactName,
  facts: Facts,
  request: Request,
  who: Principal,
  shell: Shell,
): Promise<Gathered> {
  switch (fact) {
    case 'session': {
      const found = await fetchSession(request.session, who, shell);
      if ('fault' in found) return { kind: 'store_unavailable', ...found };
      return { kind: 'facts', facts: { ...facts, session: found } };
    }
    case 'turnCancelled': {
      const session = facts.session?.found ? facts.session.id : null;
      const turnCancelled =
        session !== null && request.turn !== null && (await shell.ports.store.turnCancelled(session, request.turn));
      return { kind: 'facts', facts: { ...facts, turnCancelled } };
    }
    case 'arguments':
      return { kind: 'facts', facts: { ...facts, arguments: await validated(request, shell) } };
    default:
      return unreachable(fact);
  }
}

async function fetchSession(handle: SessionId | null, who: Principal, shell: Shell): Promise<SessionFact | Unopened> {
  if (handle === null) return standingSession(who, shell);
  return asFact(await shell.ports.store.session(handle), who);
}

/** The agent's own session for calls that name none; opened on first use, found again after a restart. */
async function standingSession(who: Principal, shell: Shell): Promise<SessionFact | Unopened> {
  const { store } = shell.ports;
  // Not joined by a character: names may hold any.
  const name = JSON.stringify([who.tenant, who.agent]);
  const remembered = shell.live.standing.get(name);
  const found =
    remembered === undefined ? await store.standingSession(who.tenant, who.agent) : await store.session(remembered);
  if (found !== null && found.standing && found.state === 'open') {
    shell.live.standing.set(name, found.id);
    return asFact(found, who);
  }
  const opened = await openSession(who, true, shell);
  if ('fault' in opened) return opened;
  shell.live.standing.set(name, opened.id);
  return asFact(opened, who);
}

export async function openSession(who: Principal, standing: boolean, shell: Shell): Promise<Session | Unopened> {
  const draft = bare(shell);
  const id = shell.ports.ids.random('ses_') as SessionId;
  const session: Session = { id, ...who, standing, state: 'open', seq: 0, entries: 0, openedAtMs: draft.atMs };
  const body = canonicalText({ tenant: who.tenant, agent: who.agent, standing });
  const result = await commit(
    {
      ...draft,
      session: { kind: 'open', session },
      records: [{ kind: 'session_opened', call: null, session: id, body, payloads: [] }],
    },
    shell,
  );
  if (result.kind === 'committed') return session;
  if (result.kind === 'unavailable') return { fault: result.fault, message: result.message };
  // Someone else opened the standing session first: theirs is ours.
  const theirs = await shell.ports.store.standingSession(who.tenant, who.agent);
  return theirs ?? { fault: 'overloaded', message: 'the standing session was opened and closed at once; ask again' };
}

function asFact(session: Session | null, who: Principal): SessionFact {
  if (session === null || session.tenant !== who.tenant || session.agent !== who.agent) return { found: false };
  return { found: true, id: session.id, state: session.state, seq: session.seq };
}

async function validated(request: Request, shell: Shell): Promise<ArgumentsFact> {
  const { clock, validator } = shell.ports;
  const limit = shell.limits.factTimeoutMs;
  let takeBack = (): void => undefined;
  const late = new Promise<ArgumentsFact>((resolve) => {
    const expected = `judged within ${limit / 1_000} s, but the tool's own validator did not answer`;
    takeBack = clock.schedule(limit, () => resolve({ ok: false, errors: [{ path: '', expected, got: null }] }));
  });
  const answer = await Promise.race([validator.validate(request.tool, request.args), late]);
  takeBack();
  return answer;
}
