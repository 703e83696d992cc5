/** What belongs to the chosen answer of a ticket, and the button that sends it. */
import { useState } from 'preact/hooks';
import type { TicketStory } from '../../../../../src/core/recovery/ticket-view.ts';
import type { AnswerKind } from '../../../../../src/core/ticket/answer-kinds.ts';
import { Act } from '../../../parts/act.tsx';
import { JsonField, optionalJson, readJson } from '../../../parts/json-field.tsx';
import { answerTicket } from '../../../state/answer-ticket.ts';

interface TicketAnswerFieldsProps {
  readonly ticket: TicketStory;
  readonly answer: AnswerKind;
  readonly changed: (now: TicketStory) => void;
}

export function TicketAnswerFields({ ticket, answer, changed }: TicketAnswerFieldsProps) {
  const [note, setNote] = useState('');
  const [force, setForce] = useState(false);
  const [text, setText] = useState(() =>
    answer === 'replace' ? JSON.stringify(ticket.call?.args ?? {}, null, 2) : '',
  );
  const read = answer === 'replace' ? readJson(text) : optionalJson(text);
  const asksForce = ticket.call?.state === 'IN_DOUBT' && (answer === 'it_did_not' || answer === 'retry');
  const send = () => answerTicket(ticket.ticket_id, { answer, note, value: read.ok ? read.value : undefined, force });
  return (
    <>
      {(answer === 'replace' || answer === 'it_happened') && (
        <JsonField
          label={answer === 'replace' ? 'Arguments' : 'Result, if you know it'}
          text={text}
          change={setText}
          read={read}
          rows={answer === 'replace' ? 8 : 3}
        />
      )}
      {asksForce && (
        <label class="check">
          <input type="checkbox" checked={force} onChange={(event) => setForce(event.currentTarget.checked)} />
          Answer now, although the call may still be carried out
        </label>
      )}
      <div class="field">
        <label for="ticket-note">Note, for the record</label>
        <textarea
          id="ticket-note"
          rows={2}
          maxLength={500}
          value={note}
          onInput={(event) => setNote(event.currentTarget.value)}
        />
      </div>
      <Act needs="approve" kind="main" disabled={!read.ok} run={send} done={changed}>
        Send this answer
      </Act>
    </>
  );
}
