/** One ticket: what happened, what it is about, what can be answered and what each answer does. */
import type { TicketStory } from '../../../../src/core/recovery/ticket-view.ts';
import { Act } from '../../parts/act.tsx';
import { Badge } from '../../parts/badge.tsx';
import { CallStateBadge } from '../../parts/call-state.tsx';
import { Countdown } from '../../parts/countdown.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { Load } from '../../parts/load.tsx';
import { Age } from '../../parts/time.tsx';
import { get, post } from '../../state/api.ts';
import { loadInbox } from '../../state/inbox.ts';
import { useResource } from '../../state/resource.ts';
import { linkTo } from '../../state/route.ts';
import { ArgumentTable } from './argument-table.tsx';
import { TicketAnswerForm } from './ticket-answer-form.tsx';
import { TicketComments } from './ticket-comments.tsx';

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
            {now.state === 'closed' ? (
              <Badge tone="quiet">closed: {now.answer ?? 'done'}</Badge>
            ) : (
              now.due_at !== null && <Countdown to={now.due_at} over="overdue" />
            )}
          </header>
          <div class="card-body stack">
            <section aria-label="What happened">
              <h3>What happened</h3>
              <p>{now.says}</p>
              {now.call !== null && (
                <p class="row">
                  <CallStateBadge state={now.call.state} /> effect {now.call.effect}, sent {now.call.attempts} times
                  {now.call.verdict !== null && `, verdict ${now.call.verdict}`}
                </p>
              )}
            </section>
            {now.call !== null && (
              <section aria-label="Arguments">
                <h3>Arguments</h3>
                <ArgumentTable label="Arguments of the call" args={now.call.args} />
              </section>
            )}
            {now.call !== null && now.call.reply !== null && (
              <details>
                <summary>What the agent was told</summary>
                <Foreign text={JSON.stringify(now.call.reply, null, 2)} block code />
              </details>
            )}
            <dl class="facts">
              <div>
                <dt>Asked by</dt>
                <dd>
                  <Foreign text={now.agent} />, <Age at={now.opened_at} />
                </dd>
              </div>
              <div>
                <dt>Queue</dt>
                <dd>
                  <Foreign text={now.queue} />
                </dd>
              </div>
              <div>
                <dt>Call</dt>
                <dd>
                  <a href={linkTo('calls', now.call_id)}>
                    <Foreign text={now.call_id} code />
                  </a>
                </dd>
              </div>
              <div>
                <dt>Taken by</dt>
                <dd class="row">
                  {now.assignee === null ? <span class="quiet">nobody</span> : <Foreign text={now.assignee} />}
                  {now.state === 'open' && (
                    <Act
                      needs="approve"
                      run={() => post<TicketStory>(`${at}/take`, { give_back: now.assignee !== null })}
                      done={changed}
                    >
                      {now.assignee === null ? 'Take it' : 'Give it back'}
                    </Act>
                  )}
                </dd>
              </div>
              {now.closed_by !== null && now.closed_at !== null && (
                <div>
                  <dt>Closed by</dt>
                  <dd>
                    <Foreign text={now.closed_by} />, <Age at={now.closed_at} />
                    {now.note !== null && (
                      <>
                        : <Foreign text={now.note} />
                      </>
                    )}
                  </dd>
                </div>
              )}
            </dl>
            {now.state === 'open' && <TicketAnswerForm ticket={now} changed={changed} />}
            <TicketComments ticket={now} changed={changed} />
          </div>
        </article>
      )}
    </Load>
  );
}
