/**
 * What a call is sent with: tool, arguments, step of a workflow, and the services its body may use. Also rechecks
 * policy and approval before a call is sent again.
 */
import type { Approval } from '../../core/approval/approval.ts';
import type { Call, CallId, Request } from '../../core/call/call.ts';
import type { ToolEntry } from '../../core/call/catalogue.ts';
import type { Json } from '../../core/values/json.ts';
import { type EgressList, withoutNames } from '../../core/egress/egress-list.ts';
import { egressHosts } from '../../core/gates/egress.ts';
import { fetchAddresses } from '../call/fetch-addresses.ts';
import { ceilingOf } from '../../core/policy/session-ceiling.ts';
import type { StepFact } from '../../core/workflow/step.ts';
import type { Notice, Reply } from '../../core/call/reply.ts';
import type { Effect } from '../../core/taxonomy.ts';
import type { AgentClient, Attempt, Relay } from '../../ports/upstream.ts';
import { type BodyOf, firstFacts, me, policyOf, recoveryOf, type Shell } from '../shell.ts';
import type { Kept } from '../../core/partial/kept-parts.ts';
import { onlyItems } from '../../core/partial/partial-rule.ts';
import type { SentItems } from './interpret-items.ts';
import type { CancelScope } from '../../core/call/answer.ts';
import type { CallEvent } from '../../core/call/lifecycle.ts';
import { invariant } from '../../core/values/unreachable.ts';
import { stageJournal } from '../stage/stage-journal.ts';
import { recordedClient } from './record-interaction.ts';
import { suppressedIn } from '../upkeep/record-suppressed.ts';
import { advanceAll, type CommitParts, note, toTransition } from '../ending/transition.ts';
import { type CredentialRefusal, recheck } from '../../core/call/recheck.ts';
import { fetchCredentials, handlesFor } from '../call/fetch-credentials.ts';
import type { Facts } from '../../core/gates/facts.ts';
import type { HeldAmount } from '../ending/held-amounts.ts';
import type { StoredCall } from '../../ports/store.ts';
import type { Undoing } from '../reversal/undoing.ts';

/** A tool and the arguments it will get. */
export interface Work {
  readonly tool: ToolEntry;
  readonly args: Json;
  /** Where the workflow stands in which this is a step; null without one. */
  readonly step: StepFact | null;
  /** Whom the body can ask while it runs. */
  readonly client: AgentClient | null;
  /** Where a streamed answer goes while it arrives; absent if nobody reads it. */
  readonly relay?: ((call: CallId) => Relay) | undefined;
  /** The call whose body asked for it; absent where no body did. */
  readonly bodyOf?: BodyOf | undefined;
  /** What its reply says beside the outcome. */
  readonly notices?: readonly Notice[];
  /** What it holds of budgets. */
  readonly holds: readonly HeldAmount[];
  /** What of its items is done already: only the others are sent. */
  readonly kept?: Kept | undefined;
  /** What it has to do with reversals; absent: nothing. */
  readonly undoing?: Undoing;
  /** The reads that it relies on, and what they said. */
  readonly evidence?: { readonly refs: readonly string[]; readonly contents: readonly string[]; readonly hash: string };
}

/** The step under way: where its session stood, and the inputs that passed. */
export interface Step {
  readonly fact: StepFact;
  readonly inputs: Json;
}

export const stepOf = (work: Work): Step | null => (work.step === null ? null : { fact: work.step, inputs: work.args });

export function timeoutOf(work: Work, call: Call, nowMs: number): number {
  return Math.max(1, Math.min(work.tool.timeoutMs, call.deadlineAtMs - nowMs));
}

/** What is sent, by its items. */
export const sentItems = ({ tool, args, kept }: Work, shell: Shell): SentItems => ({
  rule: recoveryOf(tool, shell).partial ?? null,
  args,
  kept: kept ?? null,
});

/** INVARIANT: of a call of which some items are done, only the others are sent, and under another key. */
function sendOf(call: Call, work: Work, shell: Shell): Pick<Attempt, 'args' | 'key'> {
  const { rule, args, kept } = sentItems(work, shell);
  if (rule === null || kept === null) return { args };
  const key = rule.keyedByItem ? {} : { key: `${call.id}/items/${kept.sends}` };
  return { args: onlyItems(rule, args, kept.left), ...key };
}

export function attemptOf(call: Call, work: Work, shell: Shell): Attempt {
  return {
    callId: call.id,
    attempt: call.attempt,
    tool: work.tool.invokes,
    ...sendOf(call, work, shell),
    session: call.session,
    tenant: call.tenant,
    agent: call.agent,
    deadlineAtMs: call.deadlineAtMs,
    timeoutMs: timeoutOf(work, call, shell.ports.clock.nowMs()),
    workflowContext: work.step === null ? null : work.step.snapshot.context,
    client: work.client === null ? null : recordedClient(work.client, call, shell),
    relay: work.relay?.(call.id),
    callTool: callToolFor(call, work.bodyOf ?? call, shell),
    credentials: handlesFor(work.tool, call.agent, shell),
    ...(work.tool.isStage === true ? { stage: stageJournal(call, shell) } : {}),
    suppressed: suppressedIn(call, shell),
    egress: egressOf(call.agent, shell),
  };
}

/** What our own connections hold this agent to. Audit mode softens names, never addresses. */
function egressOf(agent: string, shell: Shell): EgressList | null {
  const policy = policyOf(agent, shell);
  const list = policy?.agent?.egress?.list ?? null;
  return list === null || policy?.mode === 'enforce' ? list : withoutNames(list);
}

/** The same key for the same call of the same body, however often the body is sent. */
function callToolFor({ id, tenant, agent, session }: Call, bodyOf: BodyOf, shell: Shell): Attempt['callTool'] {
  const ceiling = ceilingOf(session);
  let calls = 0;
  /** Where its calls run that may reach no further than its own session; known with the first reply. */
  let within: string | null = null;
  return async (tool, args, name) => {
    if (name === undefined) calls += 1;
    const key = `${id}/${name ?? calls}`;
    // A stage that goes on may find its call under way: it waits for that.
    const waits = name === undefined ? {} : { wait_seconds: stageWaitSeconds };
    const request = { tool, args, key, ...waits, ...(within === null ? {} : { session: within }) };
    const reply = await shell.live.callTool(request, { tenant, agent }, bodyOf, within === null ? ceiling : null);
    if (ceiling !== null) within ??= reply.session;
    return { reply, effect: effectOfReply(reply, tool, shell) };
  };
}

/** Between two looks at a call of a stage that takes long. */
const stageWaitSeconds = 60;

function effectOfReply(reply: Reply, tool: string, shell: Shell): Effect {
  if ('error' in reply) return reply.effect;
  if ('pending' in reply) return 'unknown';
  return shell.catalogue().get(tool)?.effectClass === 'pure' ? 'none' : 'applied';
}

/** Why a call is not sent again. */
export interface ResendDenial {
  readonly message: string;
  /** Absent if it is the policy that denies it. */
  readonly credential?: CredentialRefusal;
}

export async function whyNotResend(
  call: StoredCall,
  { tool, args, step, undoing }: Work,
  shell: Shell,
): Promise<ResendDenial | null> {
  const { id, tenant, agent, session, seq } = call;
  // Which model asked is not on record, and it passed when it did: a rule that reads it denies.
  const request = { tool: tool.name, args, session, model: null } as Request;
  const facts: Facts = {
    ...firstFacts({ tenant, agent }, shell),
    catalogue: new Map([[tool.name, tool]]),
    ...(undoing?.redeems === undefined ? {} : { redeems: undoing.redeems }),
    ...(session === null ? {} : { session: { found: true, id: session, state: 'open', reason: null, seq, step } }),
  };
  let known = facts;
  let approval: Approval | null | undefined;
  for (;;) {
    const answer = recheck(request, known, approval);
    if (answer.kind !== 'need') return answer.kind === 'denied' ? answer : null;
    if (answer.fact === 'credentials') known = { ...known, credentials: await fetchCredentials(tool, agent, shell) };
    else if (answer.fact === 'addresses')
      known = { ...known, addresses: await fetchAddresses(egressHosts(request, known), shell) };
    else {
      invariant(approval === undefined, 'a resend is decided by its approval and its credentials');
      approval = await shell.ports.store.approvalOfCall(id);
    }
  }
}

/** The right to send, taken in one commit with what `parts` carries: the next attempt, its owner and its lease. */
export function dispatch(call: Call, before: readonly CallEvent[], work: Work, parts: CommitParts, shell: Shell) {
  const { sendWindowMs, leaseMarginMs } = shell.limits;
  const now = shell.ports.clock.nowMs();
  const leaseUntilMs = now + timeoutOf(work, call, now) + sendWindowMs + leaseMarginMs;
  const { next, effects } = advanceAll(call, [...before, { kind: 'claimed', owner: me(shell), leaseUntilMs }]);
  const dispatched = { attempt: next.attempt, owner: next.owner, lease_until_ms: next.dueAtMs };
  const body = { ...parts.body, dispatched };
  const again = call.attempt === 0 ? [] : [note('attempt_started', next, { attempt: next.attempt })];
  const notes = [...(parts.notes ?? []), ...again];
  return { dispatched: next, transition: toTransition(call, next, effects, { ...parts, body, notes }, shell) };
}

export interface Control {
  readonly cancel: (scope: CancelScope) => void;
  readonly scope: () => CancelScope | null;
  readonly onCancel: (stop: (scope: CancelScope) => void) => void;
}
