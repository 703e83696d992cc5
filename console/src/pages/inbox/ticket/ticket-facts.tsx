/** Who asked for the call of a ticket, in which queue it is, who works on it, and who closed it. */
import type { TicketStory } from '../../../../../src/core/recovery/ticket-view.ts';
import { Act } from '../../../parts/act.tsx';
import { Fact } from '../../../parts/fact.tsx';
import { Foreign } from '../../../parts/foreign.tsx';
import { ForeignLink } from '../../../parts/foreign-link.tsx';
import { Age } from '../../../parts/time.tsx';
import { post } from '../../../state/api.ts';
import { linkTo } from '../../../state/route.ts';

interface TicketFactsProps {
  readonly ticket: TicketStory;
  readonly changed: (now: TicketStory) => void;
}

export function TicketFacts({ ticket, changed }: TicketFactsProps) {
  const { agent, opened_at: opened, queue, call_id: call, assignee, closed_by: by, closed_at: at, note } = ticket;
  const take = () =>
    post<TicketStory>(`/v1/tickets/${encodeURIComponent(ticket.ticket_id)}/take`, { give_back: assignee !== null });
  return (
    <dl class="inbox-facts">
      <Fact name="Asked by">
        <Foreign text={agent} />, <Age at={opened} />
      </Fact>
      <Fact name="Queue">
        <Foreign text={queue} />
      </Fact>
      <Fact name="Call">
        <ForeignLink href={linkTo('calls', call)} text={call} />
      </Fact>
      <Fact name="Taken by">
        <span class="row">
          {assignee === null ? <span class="quiet">nobody</span> : <Foreign text={assignee} />}
          {ticket.state === 'open' && (
            <Act needs="approve" run={take} done={changed}>
              {assignee === null ? 'Take it' : 'Give it back'}
            </Act>
          )}
        </span>
      </Fact>
      {by !== null && at !== null && (
        <Fact name="Closed by">
          <Foreign text={by} />, <Age at={at} /> {note !== null && <Foreign text={note} />}
        </Fact>
      )}
    </dl>
  );
}
