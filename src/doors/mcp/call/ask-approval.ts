/**
 * Asks the user of the agent's client for an approval, where the rule allows it. Counts only answers to a question
 * that this gateway asked: on the stream of the call, or with a signed state.
 */
import type { Decider } from '../../../core/approval/approval.ts';
import { cut } from '../../../core/values/canonical.ts';
import { isObject, type JsonObject } from '../../../core/values/json.ts';
import { quoteValue, spellOut } from '../../../core/values/quote.ts';
import type { Reply } from '../../../core/call/reply.ts';
import { unreachable } from '../../../core/values/unreachable.ts';
import type { ApprovalView } from '../../../shell/approval/approval-service.ts';
import { hasForms } from './ask-client.ts';
import type { Exchange, Question } from './exchange.ts';
import { requestText, type ToolCall } from './read-tool-call.ts';
import { type ShownApproval, type StateHolder, type StateProblem } from './sealed-states.ts';
import type { Serving } from '../serving.ts';

export type Put =
  /** The user cannot be asked, or has not answered: the approval stays open for others. */
  | { readonly kind: 'unanswered' }
  /** The user has decided: repeat the call, in the session in which it waits. */
  | { readonly kind: 'answered'; readonly session: string | null }
  | { readonly kind: 'asks'; readonly question: Question; readonly state: string };

/** The result of a returned state. If it is valid the call is repeated, with or without an answer. */
export type Heard =
  | { readonly kind: 'heard'; readonly session: string | null }
  | { readonly kind: 'refused'; readonly problem: StateProblem };

const unanswered: Put = { kind: 'unanswered' };
const questionKey = 'approval';
/** INVARIANT: a client's user is not asked about what cannot be shown whole. */
const maxShownChars = 8_000;
const maxReasonChars = 500;
/** The longest delay of a timer. */
export const maxPushMs = 2 ** 31 - 1;

const requestedSchema: JsonObject = {
  type: 'object',
  properties: {
    approve: { type: 'boolean', title: 'Approve', description: 'Yes lets exactly this call run, once.' },
    reason: {
      type: 'string',
      title: 'Reason',
      description: 'Told to the agent if you say no.',
      maxLength: maxReasonChars,
    },
  },
  required: ['approve'],
};

/** Called with the reply of a call that waits for an approval. */
export async function askUser(reply: Reply, call: ToolCall, exchange: Exchange, serving: Serving): Promise<Put> {
  const { approvals } = serving.parts;
  const id = approvalOf(reply);
  if (approvals === undefined || id === null || !hasForms(exchange.capabilities['elicitation'])) return unanswered;
  const { who } = serving.connection;
  if (!(await approvals.mayClientDecide(id, who))) return unanswered;
  const [view, binding] = [await approvals.read(id, who), await approvals.binding(id, who)];
  const message = view === null ? null : questionAbout(view);
  if (view === null || binding === null || message === null) return unanswered;
  const params = { mode: 'form', message, requestedSchema };
  const shown = { id, shown: view.shown };
  if (exchange.push !== null) {
    const timeout = Math.max(1, Math.min(binding.expiresAtMs - approvals.nowMs(), maxPushMs));
    const given = await pushed(params, timeout, exchange, serving.closing);
    const counts = await hear(given, shown, exchange, serving);
    return counts ? { kind: 'answered', session: binding.session } : unanswered;
  }
  const holder = holderOf(call, serving);
  const state = holder === null ? null : (serving.states?.give(shown, binding, holder) ?? null);
  if (state === null) return unanswered;
  return { kind: 'asks', question: { key: questionKey, method: 'elicitation/create', params }, state };
}

/** The client returns with a signed state, and perhaps an answer. */
export async function readUserAnswer(
  state: string,
  call: ToolCall,
  exchange: Exchange,
  serving: Serving,
): Promise<Heard> {
  const holder = holderOf(call, serving);
  if (holder === null || serving.states === null) return { kind: 'refused', problem: 'forged' };
  const taken = await serving.states.take(state, holder);
  if (!taken.ok) return { kind: 'refused', problem: taken.problem };
  await hear(exchange.responses[questionKey], taken, exchange, serving);
  return { kind: 'heard', session: taken.session };
}

function holderOf(call: ToolCall, { parts, connection }: Serving): StateHolder | null {
  const request = requestText(call);
  return request === null ? null : { door: parts.name, who: connection.who, request };
}

/** Undefined if there is no answer. */
export async function pushed(
  params: JsonObject,
  timeout: number,
  { push, follow }: Exchange,
  closing: AbortSignal,
): Promise<unknown> {
  const gone = new AbortController();
  const stop = () => gone.abort('the call is over');
  const unfollow = follow(stop, stop);
  try {
    return await push?.('elicitation/create', params, { signal: AbortSignal.any([gone.signal, closing]), timeout });
  } catch {
    // A client that declares elicitation and then fails counts as no answer.
    return undefined;
  } finally {
    unfollow();
  }
}

/**
 * Whether the call is to be repeated. Whether a yes counts is decided by the gate. A no that came too late repeats
 * nothing: no new approval is opened for what the user does not want.
 */
async function hear(
  given: unknown,
  { id, shown }: ShownApproval,
  { client }: Exchange,
  { parts: { approvals }, connection: { who } }: Serving,
): Promise<boolean> {
  const said = readAnswer(given);
  const by: Decider = { kind: 'client', ...who, ...(client === null ? {} : { client }) };
  switch (said.kind) {
    case 'nothing':
      return false;
    case 'yes':
      await approvals?.approve(id, by, { shown });
      return true;
    case 'no': {
      const denied = await approvals?.deny(id, by, { shown, ...(said.reason === null ? {} : { reason: said.reason }) });
      return denied?.ok === true;
    }
    default:
      return unreachable(said);
  }
}

type Said = { readonly kind: 'yes' | 'nothing' } | { readonly kind: 'no'; readonly reason: string | null };

/** INVARIANT: only an accepted form with `approve: true` is a yes. */
export function readAnswer(given: unknown): Said {
  if (!isObject(given)) return { kind: 'nothing' };
  if (given['action'] === 'decline') return { kind: 'no', reason: null };
  const content = given['action'] === 'accept' && isObject(given['content']) ? given['content'] : {};
  if (content['approve'] === true) return { kind: 'yes' };
  if (content['approve'] !== false) return { kind: 'nothing' };
  const reason = typeof content['reason'] === 'string' ? spellOut(content['reason'].trim()) : '';
  return { kind: 'no', reason: reason === '' ? null : cut(reason, maxReasonChars) };
}

function approvalOf(reply: Reply): string | null {
  if (!('error' in reply) || reply.code !== 'POLICY_DEFER') return null;
  return reply.resolution.type === 'pending_approval' ? reply.resolution.approval_id : null;
}

/** Null if it is too long to be shown whole. Names and values come from others, and are quoted. */
export function questionAbout({ tool, agent, reason, args, edited_args: edited }: ApprovalView): string | null {
  const text = [
    `May ${quoteValue(agent)} call ${quoteValue(tool)}? It runs once, with exactly these arguments:`,
    quoteValue(edited ?? args, 2),
    edited === undefined ? '' : `An approver changed them. The agent had asked for:\n${quoteValue(args, 2)}`,
    reason === null ? '' : `Why you are asked: ${spellOut(reason)}`,
  ]
    .filter((part) => part !== '')
    .join('\n');
  return text.length > maxShownChars ? null : text;
}
