/** The answers that a ticket can have now, each with what it does. One is chosen, then sent; nothing goes by a key. */
import { useState } from 'preact/hooks';
import type { TicketStory } from '../../../../src/core/recovery/ticket-view.ts';
import type { AnswerKind } from '../../../../src/core/ticket/answer-kinds.ts';
import { Act } from '../../parts/act.tsx';
import { JsonField, readJson } from '../../parts/json-field.tsx';
import { post } from '../../state/api.ts';
import { mayDo } from '../../state/session.ts';

interface TicketAnswerFormProps {
  readonly ticket: TicketStory;
  readonly changed: (now: TicketStory) => void;
}

const names: Readonly<Record<AnswerKind, string>> = {
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
  const [note, setNote] = useState('');
  const [force, setForce] = useState(false);
  const [args, setArgs] = useState(() => JSON.stringify(ticket.call?.args ?? {}, null, 2));
  const [result, setResult] = useState('');
  if (!mayDo('approve')) return <p class="quiet">Your key may look, and not answer.</p>;
  const read =
    chosen === 'replace' ? readJson(args) : chosen === 'it_happened' && result.trim() !== '' ? readJson(result) : null;
  const send = () =>
    post<TicketStory>(`/v1/tickets/${encodeURIComponent(ticket.ticket_id)}/resolve`, {
      answer: chosen,
      ...(note.trim() === '' ? {} : { note: note.trim() }),
      ...(chosen === 'replace' && read?.ok === true ? { args: read.value } : {}),
      ...(chosen === 'it_happened' && read?.ok === true ? { result: read.value } : {}),
      ...((chosen === 'it_did_not' || chosen === 'retry') && force ? { force } : {}),
    });
  return (
    <section aria-label="Answer">
      <h3>Answer</h3>
      <fieldset class="answers">
        <legend class="only-heard">What is your answer?</legend>
        {ticket.answers.map(({ answer, does }) => {
          const isForbidden = settling.has(answer) && !mayDo('administer');
          return (
            <label key={answer} class="answer">
              <input
                type="radio"
                name="answer"
                value={answer}
                checked={chosen === answer}
                disabled={isForbidden}
                onChange={() => setChosen(answer)}
              />
              <span>
                <b>{names[answer]}</b>
                <span class="quiet">
                  {does}
                  {isForbidden && '; only an admin may say so'}
                </span>
              </span>
            </label>
          );
        })}
      </fieldset>
      {chosen === 'replace' && <JsonField label="Arguments" text={args} change={setArgs} read={readJson(args)} />}
      {chosen === 'it_happened' && (
        <JsonField
          label="Result, if you know it"
          text={result}
          change={setResult}
          read={read ?? { ok: true, value: null }}
          rows={3}
        />
      )}
      {ticket.call?.state === 'IN_DOUBT' && (chosen === 'it_did_not' || chosen === 'retry') && (
        <label class="check">
          <input type="checkbox" checked={force} onChange={(event) => setForce(event.currentTarget.checked)} />
          Answer now, although the call may still be carried out
        </label>
      )}
      {chosen !== null && (
        <>
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
          <Act needs="approve" kind="main" disabled={read?.ok === false} run={send} done={changed}>
            Answer: {names[chosen]}
          </Act>
        </>
      )}
    </section>
  );
}
