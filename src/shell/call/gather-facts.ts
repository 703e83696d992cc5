/**
 * Fetches the fact that a gate asked for. Validators and reads of evidence have a time limit; every failure is a typed
 * answer.
 */
import { endOfTurn } from '../ending/turn-rider.ts';
import type { Principal, Request } from '../../core/call/call.ts';
import type { ArgumentsFact, FactName, Facts, SessionFact } from '../../core/gates/facts.ts';
import { egressHosts } from '../../core/gates/egress.ts';
import { stepOf } from '../../core/gates/reachable.ts';
import type { StepFact } from '../../core/workflow/step.ts';
import { fetchCredentials, lookAtCredentials } from './fetch-credentials.ts';
import { fetchApproval } from '../approval/fetch-approval.ts';
import { fetchBudgets, fetchRates } from './fetch-quotas.ts';
import { type Asking, fetchSession, lookAtSession, type Unopened } from '../session/fetch-session.ts';
import { denialsOf, fencesOf } from '../session/position.ts';
import { fetchEvidence, noEvidence, readEvidenceAgain } from '../evidence/read-evidence.ts';
import type { BodyOf, Shell } from '../shell.ts';
import { fetchAddresses } from './fetch-addresses.ts';

export type Gathered =
  | { readonly kind: 'facts'; readonly facts: Facts }
  | ({ readonly kind: 'store_unavailable' } & Unopened);

/** Whose facts are fetched; `asking` is null for whoever only looks. */
export interface FactsFor {
  readonly request: Request;
  readonly who: Principal;
  readonly asking: Asking | null;
}

export async function gather(fact: FactName, facts: Facts, wanted: FactsFor, shell: Shell): Promise<Gathered> {
  const { request, who, asking } = wanted;
  if (fact === 'session') return withSession(await fetchSession(request.session, who, asking, shell), facts, shell);
  return { kind: 'facts', facts: { ...facts, ...(await fetchers[fact](facts, wanted, shell)) } };
}

type Fetch = (facts: Facts, wanted: FactsFor, shell: Shell) => Promise<Partial<Facts>>;

/** How each fact is fetched. */
const fetchers: Readonly<Record<Exclude<FactName, 'session'>, Fetch>> = {
  turnCancelled: async (facts, { request }, shell) => turnFacts(request, facts, shell),
  fences: async ({ session }, _wanted, shell) => ({
    fences: session?.found === true ? await fencesOf(session.id, shell) : [],
  }),
  arguments: async (facts, { request }, shell) => ({ arguments: await validated(request, stepOf(facts), shell) }),
  addresses: async (facts, { request }, shell) => ({
    addresses: await fetchAddresses(egressHosts(request, facts), shell),
  }),
  rates: async (facts, { request, who }, shell) => ({ rates: await fetchRates(request, facts, who, shell) }),
  budgets: async (facts, { request, who, asking }, shell) => ({
    budgets: await fetchBudgets(request, facts, who, asking !== null, shell),
  }),
  approval: async (facts, { request, who, asking }, shell) => ({
    approval: await fetchApproval(request, facts, who, asking?.approval ?? null, shell),
  }),
  evidence: async (facts, { request, who, asking }, shell) => ({
    evidence: await fetchEvidence(request, facts, who, asking, shell),
  }),
  evidenceNow: async ({ evidence }, _wanted, shell) => ({
    evidenceNow: await readEvidenceAgain(evidence?.ok === true ? evidence : noEvidence, shell),
  }),
  credentials: async ({ catalogue }, { request, who }, shell) => ({
    credentials: await fetchCredentials(catalogue.get(request.tool), who.agent, shell),
  }),
};

async function turnFacts(
  request: Request,
  facts: Facts,
  shell: Shell,
): Promise<Pick<Facts, 'turnCancelled' | 'turnEnd'>> {
  const { session } = facts;
  const turnCancelled = await isTurnCancelled(request, facts, shell);
  if (!turnCancelled || session?.found !== true || request.turn === null || session.step !== null)
    return { turnCancelled };
  return { turnCancelled, turnEnd: await endOfTurn(session.id, request.turn, shell) };
}

async function isTurnCancelled({ turn }: Request, { session }: Facts, { ports }: Shell): Promise<boolean> {
  return session?.found === true && turn !== null && (await ports.store.turnCancelled(session.id, turn));
}

/** The same for somebody who only asks what would be: nothing is opened, fired or sent, not even a read of evidence. */
export async function gatherLooking(
  fact: FactName,
  facts: Facts,
  request: Request,
  who: Principal,
  shell: Shell,
): Promise<Gathered> {
  if (fact === 'session') return withSession(await lookAtSession(request.session, who, shell), facts, shell);
  if (fact === 'credentials') {
    const credentials = lookAtCredentials(facts.catalogue.get(request.tool), who.agent, shell);
    return { kind: 'facts', facts: { ...facts, credentials } };
  }
  if (fact !== 'evidenceNow') return gather(fact, facts, { request, who, asking: null }, shell);
  const hash = facts.evidence?.ok === true ? facts.evidence.hash : '';
  return { kind: 'facts', facts: { ...facts, evidenceNow: { kind: 'read', hash, changes: [] } } };
}

async function withSession(found: SessionFact | Unopened, facts: Facts, shell: Shell): Promise<Gathered> {
  if ('fault' in found) return { kind: 'store_unavailable', ...found };
  if (!found.found) return { kind: 'facts', facts: { ...facts, session: found } };
  const own = await denialsOf(found.id, shell);
  const denials = [...(facts.denials ?? []), ...own];
  const session = found.step === null || own.length === 0 ? found : { ...found, step: { ...found.step, denials: own } };
  const catalogue = found.step === null ? facts.catalogue : found.step.workflow.catalogue;
  return { kind: 'facts', facts: { ...facts, session, catalogue, ...(denials.length === 0 ? {} : { denials }) } };
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

/** For a call that a body makes: the workflow that the body is a step of, what is in doubt and forbidden there. */
export async function bodyFact(bodyOf: BodyOf | undefined, shell: Shell): Promise<Pick<Facts, 'body' | 'denials'>> {
  const id = bodyOf?.session ?? null;
  const session = id === null ? null : await shell.ports.store.session(id);
  if (session === null) return {};
  const workflow = shell.workflows.get(session.workflow?.name ?? '');
  const found = await denialsOf(session.id, shell);
  const denials = found.length === 0 ? {} : { denials: found };
  return workflow === undefined
    ? denials
    : { ...denials, body: { workflow, fences: await fencesOf(session.id, shell) } };
}
