/** What happened to the call of a ticket: its state, its arguments, and what its agent was told. */
import type { TicketStory } from '../../../../../src/core/recovery/ticket-view.ts';
import { CallStateBadge } from '../../../parts/call-state.tsx';
import { Foreign } from '../../../parts/foreign.tsx';
import { ArgumentTable } from '../argument-table.tsx';

export function TicketCallNote({ ticket: { says, call } }: { readonly ticket: TicketStory }) {
  return (
    <>
      <section aria-label="What happened">
        <h3>What happened</h3>
        <p>{says}</p>
        {call !== null && (
          <p class="row">
            <CallStateBadge state={call.state} /> effect {call.effect}, sent{' '}
            {call.attempts === 1 ? 'once' : `${call.attempts} times`}
            {call.verdict !== null && `, verdict ${call.verdict}`}
          </p>
        )}
      </section>
      {call !== null && (
        <section aria-label="Arguments">
          <h3>Arguments</h3>
          <ArgumentTable label="Arguments of the call" args={call.args} />
        </section>
      )}
      {call !== null && call.reply !== null && (
        <details>
          <summary>What the agent was told</summary>
          <Foreign text={JSON.stringify(call.reply, null, 2)} block code />
        </details>
      )}
    </>
  );
}
