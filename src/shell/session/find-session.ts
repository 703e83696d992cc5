/** A session and where it stands, both of one moment, for whoever asks about it from outside its steps. */
import type { Principal, SessionId } from '../../core/call/call.ts';
import type { SessionFact } from '../../core/gates/facts.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import type { StepFact } from '../../core/workflow/step.ts';
import type { Session } from '../../ports/store.ts';
import { fetchSession, lookAtSession } from './fetch-session.ts';
import { sayFault } from '../call/record-refusal.ts';
import { refuseSession } from './refuse-session.ts';
import type { Shell } from '../shell.ts';
import { fireDue } from './timers.ts';

/** `read`: nothing happens. `look`: timers that are due fire first. `change` and `changed`: a migration comes before, too. */
type Purpose = 'read' | 'look' | 'change' | 'changed';

export interface Found {
  readonly session: Session;
  readonly fact: StepFact;
  readonly whole: SessionFact;
}

/**
 * What is over can be looked at and not changed; what is stopped, or has drifted, can be both.
 */
export async function findSession(
  handle: string,
  requested: string,
  purpose: Purpose,
  who: Principal,
  shell: Shell,
): Promise<Found | ErrorReply> {
  if (!shell.live.readiness.ready) return sayFault(requested, null, 'closed', shell);
  const id = (typeof handle === 'string' ? handle : '') as SessionId;
  const { fact, session } = await factAndSession(id, purpose, who, shell);
  if ('fault' in fact) return sayFault(requested, id, fact.fault, shell);
  if (!fact.found || session === null) return refuseSession(fact, id, requested, shell);
  const over = fact.state === 'cancelled' || fact.state === 'closed';
  if (over && purpose === 'change') return refuseSession(fact, id, requested, shell);
  if (fact.step === null) return refuseSession({ found: false, why: 'plain' }, id, requested, shell);
  return { session, fact: fact.step, whole: fact };
}

/** Of one moment: if the session moved while it was read, it is read again. */
async function factAndSession(id: SessionId, purpose: Purpose, who: Principal, shell: Shell) {
  for (let tries = 0; ; tries++) {
    const fact = await factFor(purpose, id, who, shell);
    const session = 'found' in fact && fact.found ? await shell.ports.store.session(id) : null;
    const isWhole = session === null || ('seq' in fact && fact.seq === session.seq);
    if (isWhole || tries > shell.limits.maxRedecisions) return { fact, session };
  }
}

function factFor(purpose: Purpose, id: SessionId, who: Principal, shell: Shell) {
  if (purpose === 'read') return lookAtSession(id, who, shell);
  return purpose === 'look' ? lookWithTimers(id, who, shell) : fetchSession(id, who, null, shell);
}

async function lookWithTimers(id: SessionId, who: Principal, shell: Shell) {
  const fact = await lookAtSession(id, who, shell);
  // Only for whoever may see the session.
  if (!('found' in fact) || !fact.found || fact.step === null || fact.step.drift !== null) return fact;
  const fired = await fireDue(id, shell);
  return fired === null || (fired.seq === fact.seq && fired.state === fact.state)
    ? fact
    : lookAtSession(id, who, shell);
}
