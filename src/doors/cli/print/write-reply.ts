/** Writes the reply of a call for a person: the outcome first, then the details, then what to do. */
import { isCompletion } from '../../../core/call/completion.ts';
import { isObject } from '../../../core/values/json.ts';
import { quoteName, quoteValue } from '../../../core/values/quote.ts';
import {
  type ErrorReply,
  isPending,
  isSuccess,
  type Notice,
  type Reply,
  type SuccessReply,
} from '../../../core/call/reply.ts';
import { renderForPerson } from '../../../core/recovery/render-error.ts';
import { isList } from '../daemon.ts';
import { type Pair, writePairs } from './table.ts';
import { harmless, type Paint } from '../terminal.ts';

export function writeReply(reply: Reply, paint: Paint): string {
  const about: Pair[] = [
    ['call', reply.call_id],
    ...(reply.session === null ? [] : [['session', reply.session] as const]),
    ...(reply.notices ?? []).map(({ code, human_message: says }: Notice) => ['notice', `${code}: ${says}`] as const),
  ];
  if (isPending(reply)) {
    const soon: Pair = ['ask again', `in ${reply.retry_after_seconds} s`];
    return `${paint('cyan', `… ${harmless(reply.requested)} is under way`)}\n${writePairs([soon, ...about], paint)}`;
  }
  return isSuccess(reply) ? writeSuccess(reply, about, paint) : writeError(reply, about, paint);
}

const againIn = ({ replayed }: SuccessReply | ErrorReply): string =>
  replayed === true ? '  (the stored reply of an earlier call)' : '';

function writeSuccess(reply: SuccessReply, about: readonly Pair[], paint: Paint): string {
  const { errors, action, result, done } = reply;
  const end = isCompletion(reply) ? 'the session is complete' : 'the workflow has ended';
  const pairs: Pair[] = [
    ...(errors ?? []).map((error) => ['failed', `${error.item}: ${error.code} ${error.message ?? ''}`] as const),
    ...(done === true ? [['done', end] as const] : []),
    ...about,
  ];
  const head = paint('green', `✓ ${harmless(action)}${errors === undefined ? '' : ', in part'}`);
  return `${head}${againIn(reply)}\n${writeValue(result)}\n${writePairs(pairs, paint)}`;
}

function writeError(reply: ErrorReply, about: readonly Pair[], paint: Paint): string {
  const { error, code, class: sort, effect, requested, valid_next_actions: next } = reply;
  const person = renderForPerson(reply);
  const rule = 'rule_ref' in reply && reply.rule_ref !== undefined ? [['rule', reply.rule_ref] as const] : [];
  const closed = 'blocked_by' in reply ? reply.blocked_by.map(({ guard }) => guard) : [];
  const guards = closed.length === 0 ? [] : [['guard', clipped([...new Set(closed)])] as const];
  const pairs: Pair[] = [
    ['code', `${sort} / ${code}`],
    ...rule,
    ...guards,
    ['effect', person.effect],
    ['what to do', person.todo],
    ...(next.length === 0 ? [] : [['instead', clipped(next)] as const]),
    ...about,
  ];
  const head = paint(effect === 'unknown' ? 'red' : 'yellow', `✗ ${harmless(requested ?? '(unreadable)')}: ${error}`);
  return `${head}${againIn(reply)}\n  ${harmless(person.sentence)}\n${writePairs(pairs, paint)}`;
}

const maxNames = 12;

const clipped = (names: readonly string[]): string =>
  names.length <= maxNames
    ? names.map(quoteName).join(', ')
    : `${names.slice(0, maxNames).map(quoteName).join(', ')} and ${names.length - maxNames} more`;

/** A string as it is, line by line; anything else as indented JSON. */
function writeValue(value: unknown): string {
  const text = textIn(value) ?? quoteValue(value, 2);
  return text
    .split('\n')
    .map((line) => `  ${harmless(line)}`)
    .join('\n');
}

/** The texts of an MCP result, if all of its content is text. */
function textIn(value: unknown): string | null {
  if (typeof value === 'string') return value;
  const content = isObject(value) ? value['content'] : null;
  if (!isList(content) || content.length === 0) return null;
  const texts = content.map(({ type, text }) => (type === 'text' && typeof text === 'string' ? text : null));
  return texts.includes(null) ? null : texts.join('\n');
}
