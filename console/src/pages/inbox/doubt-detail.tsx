/** A call of which nobody knows whether it happened, and the three things that a person can say about it. */
import { useState } from 'preact/hooks';
import { Act } from '../../parts/act.tsx';
import { CallStateBadge } from '../../parts/call-state.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { JsonField, readJson } from '../../parts/json-field.tsx';
import { Empty } from '../../parts/notice.tsx';
import { Age } from '../../parts/time.tsx';
import { post } from '../../state/api.ts';
import { inbox, loadInbox } from '../../state/inbox.ts';
import { linkTo } from '../../state/route.ts';
import { mayDo } from '../../state/session.ts';

type Happened = 'yes' | 'no' | 'unknown';

const says: Readonly<Record<Happened, readonly [string, string]>> = {
  yes: ['It happened', 'The call is settled as done; its agent gets the result, if you give one.'],
  no: ['It did not happen', 'The call is settled as not done; its agent may ask again.'],
  unknown: ['Nobody will ever know', 'The call is closed; its budget stays charged.'],
};

export function DoubtDetail({ id }: { readonly id: string }) {
  const [chosen, setChosen] = useState<Happened | null>(null);
  const [result, setResult] = useState('');
  const [force, setForce] = useState(false);
  const [settled, setSettled] = useState(false);
  const found = inbox.value.items?.find((item) => item.id === id);
  if (found?.kind !== 'doubt')
    return (
      <Empty title={settled ? 'It is settled' : 'This call is not in doubt any more'}>
        <a href={linkTo('calls', id)}>Read what became of it</a>
      </Empty>
    );
  const { call } = found;
  const read = chosen === 'yes' && result.trim() !== '' ? readJson(result) : null;
  const send = () =>
    post(`/v1/calls/${encodeURIComponent(id)}/settle`, {
      happened: chosen,
      ...(read?.ok === true ? { result: read.value } : {}),
      ...(force ? { force } : {}),
    });
  const done = () => {
    setSettled(true);
    void loadInbox();
  };
  return (
    <article class="card" aria-label="Call in doubt">
      <header class="card-head">
        <h2 tabIndex={-1}>
          <Foreign text={call.tool} />
        </h2>
        <CallStateBadge state={call.state} />
      </header>
      <div class="card-body stack">
        <p>
          The call was sent, and no answer says whether it took effect. It is not sent again. Look at the other side,
          then say what you found. <a href={linkTo('calls', id)}>Open the call</a>
        </p>
        <p class="quiet">
          Asked by <Foreign text={call.agent} />, in doubt since <Age at={call.updated_at} />, sent {call.attempts}{' '}
          times.
        </p>
        {!mayDo('administer') && <p class="quiet">Only an admin may say what became of it.</p>}
        {mayDo('administer') && (
          <fieldset class="answers">
            <legend>What became of it?</legend>
            {(Object.keys(says) as Happened[]).map((happened) => (
              <label key={happened} class="answer">
                <input
                  type="radio"
                  name="happened"
                  checked={chosen === happened}
                  onChange={() => setChosen(happened)}
                />
                <span>
                  <b>{says[happened][0]}</b>
                  <span class="quiet">{says[happened][1]}</span>
                </span>
              </label>
            ))}
          </fieldset>
        )}
        {chosen === 'yes' && (
          <JsonField
            label="Result, if you know it"
            text={result}
            change={setResult}
            read={read ?? { ok: true, value: null }}
            rows={3}
          />
        )}
        {chosen === 'no' && (
          <label class="check">
            <input type="checkbox" checked={force} onChange={(event) => setForce(event.currentTarget.checked)} />
            Settle it now, although it may still be carried out (while it is in quarantine a no is not taken without
            this)
          </label>
        )}
        {chosen !== null && (
          <Act needs="administer" kind="main" disabled={read?.ok === false} run={send} done={done}>
            Settle: {says[chosen][0]}
          </Act>
        )}
      </div>
    </article>
  );
}
