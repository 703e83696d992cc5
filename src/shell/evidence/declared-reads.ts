/**
 * The reads that a tool declares as the evidence of its calls. The gateway makes them as calls of the agent, through
 * all gates, before the call is decided. A call that waits for its approval, or has it, keeps the reads that it was
 * asked for with.
 */
import { isLive } from '../../core/approval/approval.ts';
import type { Principal, Request } from '../../core/call/call.ts';
import { isPending, isSuccess, type Reply } from '../../core/call/reply.ts';
import { argumentsIn, type Facts } from '../../core/gates/facts.ts';
import { ceilingOf } from '../../core/policy/session-ceiling.ts';
import { sessionOfStep, subjectOf } from '../approval/fetch-approval.ts';
import type { Asking } from '../session/fetch-session.ts';
import type { Shell } from '../shell.ts';

export type DeclaredReads =
  /** `isFresh`: they were made for this very decision. */
  | { readonly ok: true; readonly refs: readonly string[]; readonly isFresh: boolean }
  | { readonly ok: false; readonly problem: string };

const none: DeclaredReads = { ok: true, refs: [], isFresh: true };

/** `asking` is null for whoever only looks: nothing is read for them. */
export async function declaredReads(
  request: Request,
  facts: Facts,
  who: Principal,
  asking: Asking | null,
  shell: Shell,
): Promise<DeclaredReads> {
  const entry = facts.catalogue.get(request.tool);
  if (entry?.evidence === undefined || asking === null) return none;
  const bound = await boundReads(request, facts, who, asking, shell);
  if (bound !== null && bound.length === entry.evidence.length) return { ok: true, refs: bound, isFresh: false };
  const args = argumentsIn(request, facts);
  const refs: string[] = [];
  for (const [index, read] of entry.evidence.entries()) {
    const asked = read.ask(args);
    if (asked === null) return { ok: false, problem: `the arguments of ${read.tool} could not be made` };
    // INVARIANT: a read of evidence relies on no evidence itself, and has no effect.
    if (shell.catalogue().get(read.tool)?.effectClass !== 'pure')
      return { ok: false, problem: `${read.tool} is not a read that is available` };
    const made = await makeRead(read.tool, asked, `${asking.call}/evidence/${index}`, { facts, who, asking }, shell);
    if (!isSuccess(made)) return { ok: false, problem: `${read.tool} could not be read: ${saidBy(made)}` };
    refs.push(made.call_id);
  }
  return { ok: true, refs, isFresh: true };
}

const saidBy = (reply: Exclude<Reply, { action: string }>): string =>
  isPending(reply) ? 'it is still under way' : reply.message;

interface ReadFor {
  readonly facts: Facts;
  readonly who: Principal;
  readonly asking: Asking;
}

/** As the agent's own call, in the session of the call that relies on it unless that one has a workflow. */
function makeRead(
  tool: string,
  args: Parameters<Shell['live']['callTool']>[0]['args'],
  key: string,
  read: ReadFor,
  shell: Shell,
) {
  const { facts, who, asking } = read;
  const session = facts.session?.found === true ? facts.session : null;
  const ceiling = session === null ? null : ceilingOf(session.id);
  const place = session !== null && session.step === null ? { session: session.id } : {};
  const body = { id: asking.call, tool, session: session?.id ?? null };
  return shell.live.callTool({ tool, args, key, ...place }, who, body, 'session' in place ? null : ceiling);
}

/** Those that the approval of this call was asked for with; null without one. */
async function boundReads(
  request: Request,
  facts: Facts,
  who: Principal,
  { approval: asker }: Asking,
  shell: Shell,
): Promise<readonly string[] | null> {
  const { store } = shell.ports;
  const under = asker?.under ?? null;
  const subject = subjectOf(who, request.tool, argumentsIn(request, facts), sessionOfStep(facts), shell);
  const found = under === null ? await store.approvalOf(who.tenant, who.agent, subject) : await store.approval(under);
  if (found === null || !isLive(found) || found.evidence === null) return null;
  const held = (await store.recordsOf(found.callId)).find(({ kind }) => kind === 'held');
  const { evidence_reads: reads } = JSON.parse(held?.body ?? '{}') as { evidence_reads?: readonly string[] };
  return reads ?? null;
}
