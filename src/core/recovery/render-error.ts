/**
 * Renders a failure for its three readers: the model (safe words, no stack, no cause), a person (a sentence and what
 * to do), and the audit (everything, with the chain of causes). Pure.
 */
import type { ErrorReply } from '../call/reply.ts';
import { type Effect, type Resolution, resolutions } from '../taxonomy.ts';
import { safeText } from '../values/redact.ts';
import { unreachable } from '../values/unreachable.ts';

export interface FailureWords {
  readonly errorType: string;
  readonly message: string;
  /** The chain of causes; null if there is none. */
  readonly cause: string | null;
}

const maxTypeChars = 200;
/** Characters of a chain of causes for each one of a message. */
const auditFactor = 8;

/** A line of a stack. Paths of the gateway's own are replaced before. */
const stackLine = /^\s+at (?:[^\n]*:\d+:\d+\)?|[^\n]*\[path\]\)?|[^\n]*\((?:<anonymous>|native)\))$/;

export function renderForModel(words: Omit<FailureWords, 'cause'>, maxChars: number): Omit<FailureWords, 'cause'> {
  return {
    errorType: safeText(words.errorType, maxTypeChars),
    message: safeText(withoutStack(words.message), maxChars),
  };
}

function withoutStack(text: string): string {
  if (!text.includes('\n')) return text;
  const lines = text.split('\n').filter((line) => !stackLine.test(line));
  return lines.join('\n');
}

/** For an author who asked for it: the message and the chain of causes, without known secrets. */
export function renderForAuthor(message: string, cause: string, maxChars: number): string {
  return safeText(`${message}\n${cause}`, maxChars);
}

/** Null if there is nothing beside the message. */
export function renderForAudit({ cause }: Pick<FailureWords, 'cause'>, maxChars: number): string | null {
  return cause === null ? null : cause.slice(0, maxChars * auditFactor).toWellFormed();
}

export interface PersonWords {
  /** What happened. */
  readonly sentence: string;
  readonly effect: string;
  readonly todo: string;
}

/** A reply on record may be of another version: what this one does not know is told by its name. */
export function renderForPerson({ message, effect, resolution }: ErrorReply): PersonWords {
  const todo = Object.hasOwn(resolutions, resolution.type) ? todoOf(resolution) : resolution.type;
  return { sentence: message, effect: effects[effect], todo };
}

const effects: Readonly<Record<Effect, string>> = {
  none: 'none: nothing happened',
  applied: 'applied: it did happen',
  unknown: 'unknown: it may or may not have happened',
};

function todoOf(resolution: Resolution): string {
  switch (resolution.type) {
    case 'rule_block':
      return `change the rule ${resolution.rule_id}, or do without the call`;
    case 'pending_approval':
      return `decide about approval ${resolution.approval_id}`;
    case 'pending_approvals':
      return `decide about approvals ${resolution.approval_ids.join(', ')}`;
    case 'retry_after':
      return `ask again in ${resolution.retry_after_seconds} s`;
    case 'budget_reset':
      return `wait until ${resolution.resets_at}, or raise the budget`;
    case 'manual_audit':
      return 'look at what happened: the gateway cannot tell';
    case 'choose_action':
      return 'choose another action';
    case 'fix_input':
      return `correct ${resolution.fields.join(', ') || 'the input'} and call again`;
    case 'reconcile':
      return `find out whether it happened, then: recourse calls settle ${resolution.call_id}`;
    case 'escalated':
      return `see ticket ${resolution.ticket_id} in queue ${resolution.queue}`;
    case 'replan':
      return resolution.reason;
    case 'authenticate':
      return `sign in: ${resolution.interaction_id}`;
    default:
      return unreachable(resolution);
  }
}
