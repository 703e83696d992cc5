/** The answer of a person to a ticket, as it is sent. */
import type { TicketStory } from '../../../src/core/recovery/ticket-view.ts';
import type { AnswerKind } from '../../../src/core/ticket/answer-kinds.ts';
import type { Json } from '../../../src/core/values/json.ts';
import { type Answer, post } from './api.ts';

export interface TicketDraft {
  readonly answer: AnswerKind;
  readonly note: string;
  /** The arguments of a replacement, or the result of what happened; undefined for none. */
  readonly value: Json | undefined;
  readonly force: boolean;
}

export function answerTicket(id: string, { answer, note, value, force }: TicketDraft): Promise<Answer<TicketStory>> {
  return post<TicketStory>(`/v1/tickets/${encodeURIComponent(id)}/resolve`, {
    answer,
    ...(note.trim() === '' ? {} : { note: note.trim() }),
    ...(answer === 'replace' ? { args: value ?? null } : {}),
    ...(answer === 'it_happened' && value !== undefined ? { result: value } : {}),
    ...((answer === 'it_did_not' || answer === 'retry') && force ? { force } : {}),
  });
}
