/**
 * Fetches the fact that a gate asked for. Validators and reads of evidence have a time limit; every failure is a typed
 * answer.
 */
import type { Principal, Request, CallId } from '../../core/call/call.ts';
import type {
  ArgumentsFact,
  FactName,
  Facts,
  SessionFact,
  EvidenceFact,
  EvidenceNowFact,
} from '../../core/gates/facts.ts';
import { egressHosts } from '../../core/gates/egress.ts';
import { stepOf } from '../../core/gates/reachable.ts';
import type { StepFact } from '../../core/workflow/step.ts';
import { fetchCredentials, lookAtCredentials } from './fetch-credentials.ts';
import { fetchApproval } from '../approval/fetch-approval.ts';
import { fetchBudgets, fetchRates } from './fetch-quotas.ts';
import { type Asking, fetchSession, lookAtSession, type Unopened } from '../session/fetch-session.ts';
import { denialsOf, fencesOf, toolOf } from '../session/position.ts';
import type { BodyOf, Shell } from '../shell.ts';
import { canonicalise, canonicalText } from '../../core/values/canonical.ts';
import type { Json } from '../../core/values/json.ts';
import { isSuccess, type Reply } from '../../core/call/reply.ts';
import type { StoredCall } from '../../ports/store.ts';
import { whyNotResend, attemptOf, type Work } from '../attempt/work.ts';
import { fetchAddresses } from './fetch-addresses.ts';
import { isMasked } from '../mask.ts';
import { storedReply } from '../ending/stored-reply.ts';

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
  turnCancelled: async (facts, { request }, shell) => ({
    turnCancelled: await isTurnCancelled(request, facts, shell),
  }),
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
  evidence: async (_facts, { request, who }, shell) => ({
    evidence: await fetchEvidence(request.evidence ?? [], who, shell),
  }),
  evidenceNow: async ({ evidence }, { request }, shell) => ({
    evidenceNow: await readEvidenceAgain(request.evidence ?? [], evidence?.ok === true ? evidence.contents : [], shell),
  }),
  credentials: async ({ catalogue }, { request, who }, shell) => ({
    credentials: await fetchCredentials(catalogue.get(request.tool), who.agent, shell),
  }),
};

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
  return { kind: 'facts', facts: { ...facts, evidenceNow: { kind: 'read', hash, changed: '' } } };
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

export async function fetchEvidence(refs: readonly string[], who: Principal, shell: Shell): Promise<EvidenceFact> {
  const found = await Promise.all(refs.map((ref) => readingOf(ref, who, shell)));
  const readings = found.filter((reading) => reading !== null);
  const contents = readings.map(({ content }) => content);
  if (readings.length === found.length) return { ok: true, hash: hashOf(readings, shell), contents };
  const wrong = found.indexOf(null);
  const expected = 'the call_id of a read of your own that succeeded';
  return { ok: false, errors: [{ path: `/evidence_refs/${wrong}`, expected, got: refs[wrong] ?? null }] };
}

export async function readEvidenceAgain(
  refs: readonly string[],
  bound: readonly string[],
  shell: Shell,
): Promise<EvidenceNowFact> {
  const readings: Reading[] = [];
  for (const [index, ref] of refs.entries()) {
    const call = await shell.ports.store.call(ref as CallId);
    if (call === null) return { kind: 'unreadable', problem: `${ref} is gone` };
    const read = await readAgain(call, shell);
    if ('problem' in read) return { kind: 'unreadable', problem: read.problem };
    if (read.content !== bound[index]) return { kind: 'read', hash: '', changed: `${call.tool} (${ref})` };
    readings.push({ of: call.fingerprint, content: read.content });
  }
  return { kind: 'read', hash: hashOf(readings, shell), changed: '' };
}

/** What was read, and the hash of what it said. */
interface Reading {
  readonly of: string;
  readonly content: string;
}

/** By what was read, not by when: whoever looks again before they ask again, and finds the same, relies on the same. */
const hashOf = (readings: readonly Reading[], { ports }: Shell): string =>
  ports.sha256(canonicalText(readings.map(({ of, content }) => [of, content])));

/** Null if it is no read, or not theirs. */
async function readingOf(ref: string, who: Principal, shell: Shell): Promise<Reading | null> {
  const call = await shell.ports.store.call(ref as CallId);
  if (call === null || call.tenant !== who.tenant || call.agent !== who.agent) return null;
  if (call.state !== 'SUCCEEDED' || call.effectClass !== 'pure') return null;
  const reply: Reply = await storedReply(call, shell);
  if (!isSuccess(reply)) return null;
  return { of: call.fingerprint, content: shell.ports.sha256(canonicalText(reply.result as Json)) };
}

async function readAgain(
  call: StoredCall,
  shell: Shell,
): Promise<{ readonly content: string } | { readonly problem: string }> {
  const { clock, store, upstream, sha256 } = shell.ports;
  const { tool, step } = await toolOf(call, shell);
  const args = await store.args(call.id);
  const name = `${call.tool} (${call.id})`;
  if (tool === undefined || args.kind !== 'text' || isMasked(args.text) || tool.effectClass !== 'pure')
    return { problem: `${name} cannot be read again` };
  const work: Work = { tool, args: JSON.parse(args.text) as Json, step, client: null, holds: [] };
  if ((await whyNotResend(call, work, shell)) !== null) return { problem: `${name} may not be read any more` };
  const limitMs = Math.min(tool.timeoutMs, shell.limits.factTimeoutMs);
  const attempt = attemptOf({ ...call, attempt: call.attempt + 1, deadlineAtMs: clock.nowMs() + limitMs }, work, shell);
  const stop = new AbortController();
  let takeBack = (): void => undefined;
  const late = new Promise<null>((resolve) => (takeBack = clock.schedule(limitMs, () => resolve(null))));
  const result = await Promise.race([upstream.invoke(attempt, stop.signal), late]);
  takeBack();
  stop.abort();
  if (result === null || result.kind !== 'returned') return { problem: `${name} could not be read again` };
  const written = canonicalise(result.output === undefined ? null : result.output, { maxDepth: shell.limits.maxDepth });
  return written.ok ? { content: sha256(written.text) } : { problem: `${name} could not be read again` };
}
