/** One ticket: what happened, what it is about, what can be answered and what each answer does. */
import type { TicketStory } from '../../../../../src/core/recovery/ticket-view.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Countdown } from '../../../parts/countdown.tsx';
import { Foreign } from '../../../parts/foreign.tsx';
import { Load } from '../../../parts/load.tsx';
import { get } from '../../../state/api.ts';
import { loadInbox } from '../../../state/inbox.ts';
import { useResource } from '../../../state/resource.ts';
import { TicketAnswerForm } from './ticket-answer-form.tsx';
import { TicketCallNote } from './ticket-call-note.tsx';
import { TicketComments } from './ticket-comments.tsx';
import { TicketFacts } from './ticket-facts.tsx';

const everyMs = 5_000;

export function TicketDetail({ id }: { readonly id: string }) {
  const at = `/v1/tickets/${encodeURIComponent(id)}`;
  const ticket = useResource((signal) => get<TicketStory>(at, signal), [id], everyMs);
  const changed = (now: TicketStory) => {
    ticket.put(now);
    void loadInbox();
  };
  return (
    <Load of={ticket}>
      {(now) => (
        <article class="card" aria-label="Ticket">
          <header class="card-head">
            <h2 tabIndex={-1}>
              <Foreign text={now.tool} />
            </h2>
            {now.state === 'closed' && <Badge tone="quiet">closed: {now.answer ?? 'done'}</Badge>}
            {now.state === 'open' && now.due_at !== null && <Countdown to={now.due_at} over="overdue" />}
          </header>
          <div class="card-body stack">
            <TicketCallNote ticket={now} />
            <TicketFacts ticket={now} changed={changed} />
            {now.state === 'open' && <TicketAnswerForm ticket={now} changed={changed} />}
            <TicketComments ticket={now} changed={changed} />
          </div>
        </article>
      )}
    </Load>
  );
}
