/** What people wrote about a ticket, and a field to write more. */
import { useState } from 'preact/hooks';
import type { TicketStory } from '../../../../../src/core/recovery/ticket-view.ts';
import { Act } from '../../../parts/act.tsx';
import { Foreign } from '../../../parts/foreign.tsx';
import { Age } from '../../../parts/time.tsx';
import { post } from '../../../state/api.ts';
import { mayDo } from '../../../state/session.ts';

interface TicketCommentsProps {
  readonly ticket: TicketStory;
  readonly changed: (now: TicketStory) => void;
}

export function TicketComments({ ticket, changed }: TicketCommentsProps) {
  const [text, setText] = useState('');
  const { ticket_id: id, comments, state } = ticket;
  const send = () => post<TicketStory>(`/v1/tickets/${encodeURIComponent(id)}/comments`, { text: text.trim() });
  return (
    <section aria-label="Comments">
      {comments.length > 0 && <h3>Comments</h3>}
      <ul class="comments">
        {comments.map(({ by, at, text: said }, index) => (
          <li key={index}>
            <b>
              <Foreign text={by} />
            </b>{' '}
            <Age at={at} />
            {said === null ? <p class="quiet">erased</p> : <Foreign text={said} block />}
          </li>
        ))}
      </ul>
      {state === 'open' && mayDo('approve') && (
        <div class="field">
          <label for="ticket-comment">Comment, for the other people</label>
          <textarea
            id="ticket-comment"
            rows={2}
            maxLength={1_000}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <Act
            needs="approve"
            disabled={text.trim() === ''}
            run={send}
            done={(now) => {
              setText('');
              changed(now);
            }}
          >
            Comment
          </Act>
        </div>
      )}
    </section>
  );
}
