/**
 * Writes a reply as a short text for the model: what happened, what to do, what is possible next. The whole reply is
 * in `structuredContent`.
 */
import { isCompletion } from '../../../core/call/completion.ts';
import { cut } from '../../../core/values/canonical.ts';
import { quoteWord, spellOut } from '../../../core/values/quote.ts';
import {
  isPending,
  isSuccess,
  type ErrorReply,
  type PendingReply,
  type Reply,
  type SuccessReply,
} from '../../../core/call/reply.ts';
import { resolutions, type Effect, type Resolution } from '../../../core/taxonomy.ts';
import { unreachable } from '../../../core/values/unreachable.ts';

const maxResultChars = 300;
const maxStateChars = 160;
const maxNextChars = 240;
const maxMessageChars = 400;
const maxItemChars = 120;

/** `passOn`: the caller must name the session itself, because no connection remembers it. */
export function writeText(reply: Reply, passOn: boolean): string {
  const body = isSuccess(reply) ? ofSuccess(reply) : isPending(reply) ? ofPending(reply) : ofRefusal(reply);
  return spellOut([...body, sessionLine(reply, passOn)].filter((part) => part !== '').join(' '));
}

function ofSuccess(reply: SuccessReply): readonly string[] {
  return [
    `${partialLine(reply) ?? `ok: ${reply.action}`}${reply.replayed ? ` (${whoseResult(reply)})` : ''}.`,
    `result: ${short(reply.result, maxResultChars)}.`,
    reply.state === null || reply.state === undefined ? '' : `state: ${short(reply.state, maxStateChars)}.`,
    reply.done ? (isCompletion(reply) ? 'The session is complete.' : 'The workflow has ended.') : next(reply),
  ];
}

const maxItemsTold = 5;

/** What failed comes before what was done; null if everything was done. */
export function partialLine({ action, errors }: SuccessReply): string | null {
  if (errors === undefined) return null;
  const told = errors.slice(0, maxItemsTold).map(({ item, code, message, effect }) => {
    const unknown = effect === 'unknown' ? ', effect unknown' : '';
    return `${quoteWord(item)} (${code}${unknown}${message === undefined ? '' : `: ${cut(message, maxItemChars)}`})`;
  });
  const more = errors.length > maxItemsTold ? `, and ${errors.length - maxItemsTold} more in errors` : '';
  const count = `${errors.length} item${errors.length === 1 ? '' : 's'}`;
  return `partial: ${action}: ${count} failed: ${told.join(', ')}${more}; the rest was done`;
}

/** A caller without a key must learn what the same call would do now. */
const whoseResult = ({ notices = [] }: SuccessReply): string =>
  notices.find(({ code }) => code === 'EARLIER_RESULT')?.human_message ?? 'done before, this is its reply';

/** The reply does not say whether there was a key. Without one the call must not be sent again. */
function ofPending(reply: PendingReply): readonly string[] {
  const again = `ask again with the same key in ${reply.retry_after_seconds} s`;
  const without = 'If you gave no key, do not send it again, it would happen twice: read recourse://history.';
  return [`pending: ${reply.requested} still runs as ${reply.call_id}; ${again}.`, without];
}

function ofRefusal(reply: ErrorReply): readonly string[] {
  return [
    sentence(reply.message.startsWith(`${reply.error}: `) ? reply.message : `${reply.error}: ${reply.message}`),
    guardLine(reply),
    effectLine(reply.effect),
    advice(reply.resolution),
    next(reply),
  ];
}

/** The reason of a rule may lack its full stop. */
function sentence(text: string): string {
  const said = cut(text, maxMessageChars);
  return /[.!?…]$/.test(said) ? said : `${said}.`;
}

/** The fixed message of this error does not name the guards. */
function guardLine(reply: ErrorReply): string {
  if (reply.error !== 'invalid_transition' || reply.code === 'GuardError') return '';
  const guards = [...new Set(reply.blocked_by.map(({ guard }) => guard))];
  if (guards.length === 0) return '';
  return `refused by guard${guards.length === 1 ? '' : 's'} ${ellipsis(guards.join(', '), maxNextChars)}.`;
}

function effectLine(effect: Effect): string {
  switch (effect) {
    case 'none':
      return '';
    case 'applied':
      return 'effect: applied, it did happen.';
    case 'unknown':
      return 'effect: unknown, it may have happened.';
    default:
      return unreachable(effect);
  }
}

/** The taxonomy's advice for the agent, with the details of this case. */
function advice(resolution: Resolution): string {
  const { type, ...particulars } = resolution;
  const said = resolutions[type].agent;
  // The list of actions follows anyway.
  if (type === 'choose_action') return '';
  const named = Object.entries(particulars).map(([name, value]) => `${name}: ${short(value, 120)}`);
  return named.length === 0 ? said : `${said} (${named.join(', ')})`;
}

function next({ valid_next_actions: actions, next_total: total }: ErrorReply | SuccessReply): string {
  if (actions.length === 0) return 'next: nothing.';
  const more = total === undefined ? '' : ` (${total} in all)`;
  return `next: ${ellipsis(actions.join(', '), maxNextChars)}${more}.`;
}

function sessionLine(reply: Reply, passOn: boolean): string {
  if (reply.session === null) return '';
  const seq = isSuccess(reply) ? `, seq ${reply.seq}` : '';
  // Nothing comes after the end.
  const isOver = isSuccess(reply) && reply.done === true;
  return passOn && !isOver
    ? `Pass session ${reply.session} with the next step${seq}.`
    : `session ${reply.session}${seq}.`;
}

function short(value: unknown, max: number): string {
  return ellipsis(quoteWord(value), max);
}

function ellipsis(text: string, max: number): string {
  return text.length <= max ? text : `${cut(text, max - 1)}…`;
}
