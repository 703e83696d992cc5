/** Reads an occurrence, something that people are told about, from a journal record. Pure. */
import { type GapKind, gapKinds, gapNotice } from '../../../core/call/gap.ts';
import type { Position } from '../../../core/journal/record.ts';
import { codesOfGovernance } from '../../../core/taxonomy/codes-of-governance.ts';
import type { GovernanceCode } from '../../../core/taxonomy.ts';
import { isObject } from '../../../core/values/json.ts';
import { toldKinds, type WebhookEvent, type WebhookKind } from '../../../core/http/webhook-message.ts';
import type { JournalEntry } from '../../../ports/store.ts';

/** What is kept of a record until everybody was told, without its large parts. */
export interface Occurrence {
  readonly at: Position;
  /** The events under which it is told; whoever asked for one of them is told once. */
  readonly events: readonly [WebhookEvent, ...WebhookEvent[]];
  readonly kind: WebhookKind;
  readonly atMs: number;
  readonly call: string | null;
  readonly session: string | null;
  readonly body: Body;
  /** What the agent was told, or a sentence about what happened; null if the record does not say. */
  readonly said: string | null;
}

type Body = Readonly<Record<string, unknown>>;
type Told = Pick<Occurrence, 'events' | 'body' | 'said'>;

export function occurrenceOf(entry: JournalEntry): Occurrence | null {
  const { kind, epoch, seq, timeMs: atMs, call, session } = entry;
  if (!isTold(kind)) return null;
  const told = toldKinds[kind] === 'its_code' ? denialIn(entry) : toldIn(entry, kind, toldKinds[kind]);
  return told === null ? null : { at: { epoch, seq }, kind, atMs, call, session, ...told };
}

/** The event under which these are told of it; null if they did not ask for it. */
export const eventFor = ({ events }: Occurrence, asked: readonly string[]): WebhookEvent | null =>
  events.find((event) => asked.includes(event)) ?? null;

function toldIn({ body: text }: JournalEntry, kind: WebhookKind, event: WebhookEvent): Told | null {
  const body = parsed(text);
  // The record of the same adoption at the call that gave its result.
  if (kind === 'adopted' && typeof body['from'] !== 'string') return null;
  // People are told when a budget reaches its mark; every call beyond it says so to its agent.
  if (kind === 'budget_warned' && body['first'] === false) return null;
  const isEdited = kind === 'approval_used' && text.includes('"APPROVAL_EDITED"');
  return { events: isEdited ? [event, 'APPROVAL_EDITED'] : [event], body, said: sentenceOf(kind, body) };
}

/** Replies of denials are small; results of tools may be of any size and are not searched. */
const maxReplyChars = 64 * 1_024;
const codeText = new RegExp(`"code":"(?:${Object.keys(codesOfGovernance).join('|')})"`);

/** A call that was denied: at a gate, or after it was sent. */
function denialIn({ kind, body: text, payloads }: JournalEntry): Told | null {
  const replyText = payloads.find(({ part }) => part === 'reply')?.text ?? '';
  const place = kind === 'refused' ? text : replyText;
  // Most records are no denial: search the text before parsing it.
  if (place.length > maxReplyChars || !codeText.test(place)) return null;
  const reply = parsed(replyText);
  const body = parsed(text);
  const code = kind === 'refused' ? body['code'] : 'error' in reply ? reply['code'] : null;
  if (!isGovernance(code)) return null;
  return { events: [code], body, said: textIn(reply, 'human_message') ?? codesOfGovernance[code].meaning };
}

function sentenceOf(kind: WebhookKind, body: Body): string | null {
  switch (kind) {
    case 'runtime_gap': {
      const { kind: gap, subject } = body;
      return isGap(gap) && typeof subject === 'string' ? gapNotice(gap, subject).human_message : null;
    }
    case 'budget_warned':
      return textIn(body, 'human_message');
    case 'breaker_opened':
    case 'breaker_closed':
      return breakerSentence(kind, body);
    default:
      return null;
  }
}

function breakerSentence(kind: 'breaker_opened' | 'breaker_closed', body: Body): string | null {
  const upstream = textIn(body, 'upstream');
  if (upstream === null) return null;
  if (kind === 'breaker_closed') return `upstream '${upstream}' answers again; calls are sent to it as before`;
  const { retry_after_seconds: seconds } = body;
  const wait = typeof seconds === 'number' ? `for ${seconds} seconds` : 'for a while';
  return `upstream '${upstream}' failed too often (last: ${textIn(body, 'why') ?? 'unknown'}); nothing is sent to it ${wait}`;
}

export function textIn(body: Body, name: string): string | null {
  const value = body[name];
  return typeof value === 'string' ? value : null;
}

const isGap = (kind: unknown): kind is GapKind => typeof kind === 'string' && Object.hasOwn(gapKinds, kind);

const isGovernance = (code: unknown): code is GovernanceCode =>
  typeof code === 'string' && Object.hasOwn(codesOfGovernance, code);

const isTold = (kind: string): kind is WebhookKind => Object.hasOwn(toldKinds, kind);

function parsed(text: string): Body {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    // A record that cannot be parsed is reported without its content.
    return {};
  }
}
