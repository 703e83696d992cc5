/** Fetches the one fact a gate asked for. An author's validator has a time limit; what cannot be had is a typed answer. */
import type { Principal, Request } from '../../core/call/call.ts';
import type { ArgumentsFact, FactName, Facts, SessionFact } from '../../core/gates/facts.ts';
import { stepOf } from '../../core/gates/reachable.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import type { StepFact } from '../../core/workflow/step.ts';
import { fetchApproval } from '../approval/fetch-approval.ts';
import { fetchEvidence, readEvidenceAgain } from './fetch-evidence.ts';
import { type Asking, fetchSession, lookAtSession, type Unopened } from '../session/fetch-session.ts';
import { fencesOf } from '../session/position.ts';
import type { BodyOf, Shell } from '../shell.ts';

export type Gathered =
  | { readonly kind: 'facts'; readonly facts: Facts }
  | ({ readonly kind: 'store_unavailable' } & Unopened);

export async function gather(
  fact: FactName,
  facts: Facts,
  request: Request,
  who: Principal,
  asking: Asking | null,
  shell: Shell,
): Promise<Gathered> {
  switch (fact) {
    case 'session':
      return withSession(await fetchSession(request.session, who, asking, shell), facts);
    case 'turnCancelled': {
      const session = facts.session?.found ? facts.session.id : null;
      const turnCancelled =
        session !== null && request.turn !== null && (await shell.ports.store.turnCancelled(session, request.turn));
      return { kind: 'facts', facts: { ...facts, turnCancelled } };
    }
    case 'arguments':
      return { kind: 'facts', facts: { ...facts, arguments: await validated(request, stepOf(facts), shell) } };
    case 'approval': {
      const approval = await fetchApproval(request, facts, who, asking?.approval ?? null, shell);
      return { kind: 'facts', facts: { ...facts, approval } };
    }
    case 'evidence': {
      const evidence = await fetchEvidence(request.evidence ?? [], who, shell);
      return { kind: 'facts', facts: { ...facts, evidence } };
    }
    case 'evidenceNow': {
      const bound = facts.evidence?.ok === true ? facts.evidence.contents : [];
      const evidenceNow = await readEvidenceAgain(request.evidence ?? [], bound, shell);
      return { kind: 'facts', facts: { ...facts, evidenceNow } };
    }
    default:
      return unreachable(fact);
  }
}

/** The same for somebody who only asks what would be: nothing is opened, fired or sent, not even a read of evidence. */
export async function gatherLooking(
  fact: FactName,
  facts: Facts,
  request: Request,
  who: Principal,
  shell: Shell,
): Promise<Gathered> {
  if (fact === 'session') return withSession(await lookAtSession(request.session, who, shell), facts);
  if (fact !== 'evidenceNow') return gather(fact, facts, request, who, null, shell);
  const hash = facts.evidence?.ok === true ? facts.evidence.hash : '';
  return { kind: 'facts', facts: { ...facts, evidenceNow: { kind: 'read', hash, changed: '' } } };
}

function withSession(found: SessionFact | Unopened, facts: Facts): Gathered {
  if ('fault' in found) return { kind: 'store_unavailable', ...found };
  const catalogue = found.found && found.step !== null ? found.step.workflow.catalogue : facts.catalogue;
  return { kind: 'facts', facts: { ...facts, session: found, catalogue } };
}

async function validated(request: Request, step: StepFact | null, shell: Shell): Promise<ArgumentsFact> {
  const { clock, validator } = shell.ports;
  const limit = shell.limits.factTimeoutMs;
  let takeBack = (): void => undefined;
  const late = new Promise<ArgumentsFact>((resolve) => {
    const expected = `judged within ${limit / 1_000} s, but the tool's own validator did not answer`;
    takeBack = clock.schedule(limit, () => resolve({ ok: false, errors: [{ path: '', expected, got: null }] }));
  });
  const of = step === null ? null : { workflow: step.workflow.name, context: step.snapshot.context };
  const answer = await Promise.race([validator.validate(request.tool, request.args, of), late]);
  takeBack();
  return answer;
}

/** For a call that a body makes: the workflow that the body is a step of, and what is in doubt there. Only reads. */
export async function bodyFact(bodyOf: BodyOf | undefined, shell: Shell): Promise<Pick<Facts, 'body'>> {
  const id = bodyOf?.session ?? null;
  const session = id === null ? null : await shell.ports.store.session(id);
  const workflow = shell.workflows.get(session?.workflow?.name ?? '');
  if (session === null || workflow === undefined) return {};
  return { body: { workflow, fences: await fencesOf(session.id, shell) } };
}
