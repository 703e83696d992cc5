/** Reads an occurrence, something that webhooks report, from a journal record. Pure. */
import { type GapKind, gapKinds, gapNotice } from '../../core/call/gap.ts';
import type { Position } from '../../core/journal/record.ts';
import { isObject } from '../../core/values/json.ts';
import { toldKinds, type WebhookEvent, type WebhookKind } from '../../core/http/webhook-message.ts';
import type { JournalEntry } from '../../ports/store.ts';

/** What is kept of a record until all hooks have seen it, without its large parts. */
export interface Occurrence {
  readonly at: Position;
  readonly event: WebhookEvent;
  readonly kind: WebhookKind;
  readonly atMs: number;
  readonly call: string | null;
  readonly session: string | null;
  readonly body: Readonly<Record<string, unknown>>;
  /** What the agent was told; null if the record does not say. */
  readonly said: string | null;
}

export function occurrenceOf(entry: JournalEntry): Occurrence | null {
  if (!isTold(entry.kind)) return null;
  const { kind, epoch, seq, timeMs, call, session } = entry;
  const event = toldKinds[kind];
  // Refusals are many and few are reported: search the text before parsing it.
  if (kind === 'refused' && !entry.body.includes(event)) return null;
  const body = parsed(entry.body);
  if (kind === 'refused' && body['code'] !== event) return null;
  return { at: { epoch, seq }, event, kind, atMs: timeMs, call, session, body, said: saidIn(entry, body) };
}

function saidIn({ kind, payloads }: JournalEntry, body: Occurrence['body']): string | null {
  const { kind: gap, subject } = body as { readonly kind?: unknown; readonly subject?: unknown };
  if (kind === 'runtime_gap')
    return isGap(gap) && typeof subject === 'string' ? gapNotice(gap, subject).human_message : null;
  const reply = parsed(payloads.find(({ part }) => part === 'reply')?.text ?? '');
  return typeof reply['human_message'] === 'string' ? reply['human_message'] : null;
}

const isGap = (kind: unknown): kind is GapKind => typeof kind === 'string' && Object.hasOwn(gapKinds, kind);

const isTold = (kind: string): kind is WebhookKind => Object.hasOwn(toldKinds, kind);

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    // A record that cannot be parsed is reported without its content.
    return {};
  }
}
