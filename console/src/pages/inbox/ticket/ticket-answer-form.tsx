/** The answers that a ticket can have now, each with what it does. One is chosen, then sent; nothing goes by a key. */
import { useState } from 'preact/hooks';
import type { TicketStory } from '../../../../../src/core/recovery/ticket-view.ts';
import type { AnswerKind } from '../../../../../src/core/ticket/answer-kinds.ts';
import { Choice } from '../../../parts/choice.tsx';
import { mayDo } from '../../../state/session.ts';
import { TicketAnswerFields } from './ticket-answer-fields.tsx';

interface TicketAnswerFormProps {
  readonly ticket: TicketStory;
  readonly changed: (now: TicketStory) => void;
}

export const answerNames: Readonly<Record<AnswerKind, string>> = {
  retry: 'Run it again',
  replace: 'Run it with other arguments',
  approve: 'Approve it and run it again',
  authenticate: 'Sign in, then run it again',
  it_happened: 'It happened',
  it_did_not: 'It did not happen',
  never_known: 'Nobody will ever know',
  give_up: 'Give up',
};

/** What became of a call in doubt is said by an admin. */
const settling: ReadonlySet<AnswerKind> = new Set(['it_happened', 'it_did_not', 'never_known']);

export function TicketAnswerForm({ ticket, changed }: TicketAnswerFormProps) {
  const [chosen, setChosen] = useState<AnswerKind | null>(null);
  if (!mayDo('approve')) return <p class="quiet">Your key may look, and not answer.</p>;
  return (
    <section aria-label="Answer">
      <h3>Answer</h3>
      <fieldset class="answers">
        <legend class="only-heard">What is your answer?</legend>
        {ticket.answers.map(({ answer, does }) => {
          const isForbidden = settling.has(answer) && !mayDo('administer');
          return (
            <Choice
              key={answer}
              name="answer"
              title={answerNames[answer]}
              says={isForbidden ? `${does}; only an admin may say so` : does}
              isChosen={chosen === answer}
              choose={() => setChosen(answer)}
              disabled={isForbidden}
            />
          );
        })}
      </fieldset>
      {chosen !== null && <TicketAnswerFields key={chosen} ticket={ticket} answer={chosen} changed={changed} />}
    </section>
  );
}
