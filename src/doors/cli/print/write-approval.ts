/** Writes an approval for a person: what is asked for, who must approve, how long is left, and what happens then. */
import type { ApprovalEvent, ApprovalView } from '../../../core/approval/approval-view.ts';
import { cut } from '../../../core/values/canonical.ts';
import { isObject } from '../../../core/values/json.ts';
import { quoteName, quoteValue } from '../../../core/values/quote.ts';
import { unreachable } from '../../../core/values/unreachable.ts';
import type { Pair } from './table.ts';

/** What an approver needs to know; not escaped yet. */
export function pairsOf(approval: ApprovalView, nowMs: number): readonly Pair[] {
  const { reason, approved_by: votes, decided, edited_args: edited } = approval;
  const state = stateNow(approval, nowMs);
  return [
    ['state', state],
    ['agent', approval.agent],
    ['tool', approval.tool],
    [edited === undefined ? 'arguments' : 'asked for', argumentLines(approval.args)],
    ...(edited === undefined ? [] : [['will send', argumentLines(edited)] as const]),
    ['rule', reason === null ? approval.rule_ref : `${approval.rule_ref}: ${reason}`],
    ['approvers', `${whoMust(approval)}; ${votes.length} of ${approval.needed} approved`],
    ...votes.map(({ by, at }) => ['approved', `by ${by} at ${at}`] as const),
    ...(decided === null ? [] : [['decided', decidedBy(decided)] as const]),
    ...(approval.session === null ? [] : [['session', approval.session] as const]),
    ['call', approval.call_id],
    ['asked', approval.opened_at],
    [
      'left',
      state === 'pending' || state === 'granted' ? `${timeLeft(approval, nowMs)}, until ${approval.expires_at}` : '-',
    ],
    ['then', whatThen(approval)],
  ];
}

/** An approval past its time counts as expired, even if the gateway has not recorded that yet. */
export function stateNow({ state, expires_at: expiresAt }: ApprovalView, nowMs: number): ApprovalView['state'] {
  const isLive = state === 'pending' || state === 'granted' || state === 'denied';
  return isLive && nowMs >= Date.parse(expiresAt) ? 'expired' : state;
}

const longestArgument = 2_000;

/** INVARIANT: one argument is one line, so neither its name nor its value can look like another argument. */
export function argumentLines(args: unknown): readonly string[] {
  if (args === null || args === undefined) return ['(erased)'];
  if (!isObject(args)) return [clipped(quoteValue(args))];
  const lines = Object.entries(args).map(
    ([name, value]) => `${clipped(quoteName(name))}: ${clipped(quoteValue(value))}`,
  );
  return lines.length === 0 ? ['(none)'] : lines;
}

const clipped = (text: string): string =>
  text.length <= longestArgument
    ? text
    : `${cut(text, longestArgument)}… ${text.length} characters; --json shows all of them`;

function whoMust({ approvers, needed }: ApprovalView): string {
  const who = approvers === null ? 'whoever may approve' : `the role ${approvers.join(' or ')}`;
  return needed === 1 ? who : `${needed} people of: ${who}`;
}

const decidedBy = ({ by, at, reason }: NonNullable<ApprovalView['decided']>): string =>
  `by ${by} at ${at}${reason === null ? '' : `: ${reason}`}`;

/** An approval of spending is about a budget, not about a call. */
const isSpending = ({ tool, args }: ApprovalView): boolean =>
  tool.startsWith('budget ') && isObject(args) && 'beyond' in args;

function whatThen(approval: ApprovalView): string {
  if (isSpending(approval)) return 'once approved, any call may spend so much more until the window ends';
  return approval.on_approve === 'run'
    ? 'once approved, the gateway runs it'
    : "once approved, the agent's next equal call runs it";
}

export function timeLeft({ expires_at: expiresAt }: Pick<ApprovalView, 'expires_at'>, nowMs: number): string {
  return duration(Date.parse(expiresAt) - nowMs);
}

export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3_600), Math.floor(seconds / 86_400)];
  if (days > 0) return `${days} d ${hours % 24} h`;
  if (hours > 0) return `${hours} h ${minutes % 60} min`;
  return minutes > 0 ? `${minutes} min` : `${seconds} s`;
}

/** The consequence of a decision. */
export function consequence(approval: ApprovalView): string {
  const { state, approved_by: votes, needed, on_approve: then, expires_at: until } = approval;
  const spending = isSpending(approval) ? consequencesOfSpending[state] : undefined;
  if (spending !== undefined) return spending;
  switch (state) {
    case 'pending':
      return `${votes.length} of ${needed} approvals; it waits for the others`;
    case 'granted':
      return then === 'run' ? 'it runs now' : "the agent's next equal call runs it";
    case 'used':
      return 'it runs now';
    case 'denied':
      return `equal calls are denied until ${until}`;
    case 'revoked':
      return 'it covers nothing any more; an equal call asks anew';
    case 'expired':
      return 'its time is over; an equal call asks anew';
    case 'void':
      return 'what it was bound to has changed; an equal call asks anew';
    default:
      return unreachable(state);
  }
}

const consequencesOfSpending: Readonly<Partial<Record<ApprovalView['state'], string>>> = {
  granted: 'any call may spend so much more until the window ends',
  denied: 'beyond its max the budget denies until the window ends',
  revoked: 'it allows nothing more; beyond its max the budget denies until the window ends',
};

/** A change in a sentence, with who decided what. */
export function sentenceOf({ change, approval }: Pick<ApprovalEvent, 'change' | 'approval'>): string {
  const [tool, agent] = [quoteName(approval.tool), quoteName(approval.agent)];
  const what = `${tool} of ${agent}`;
  const { decided } = approval;
  const by = decided?.by ?? 'somebody';
  const why = decided === null || decided.reason === null ? '' : `: ${decided.reason}`;
  switch (change) {
    case 'opened':
      return `${agent} asks for ${tool}`;
    case 'approved':
      return approvedSentence(what, by, approval);
    case 'denied':
      return `${by} denied ${what}${why}`;
    case 'revoked':
      return `${by} took back the decision about ${what}${why}`;
    case 'used':
      return `${what} runs under its approval`;
    case 'expired':
      return `the time for ${what} ran out`;
    case 'voided':
      return `the approval of ${what} covers nothing any more`;
    default:
      return unreachable(change);
  }
}

function approvedSentence(what: string, decider: string, approval: ApprovalView): string {
  const { approved_by: votes, needed, edited_args: edited } = approval;
  const by = votes.at(-1)?.by ?? decider;
  const changed = edited === undefined ? '' : ', with other arguments';
  return `${by} approved ${what}${changed} (${Math.min(votes.length, needed)} of ${needed})`;
}
