/** What became of a call in doubt: one of three things, chosen and then sent. */
import { useState } from 'preact/hooks';
import { Act } from '../../parts/act.tsx';
import { Choice } from '../../parts/choice.tsx';
import { JsonField, optionalJson } from '../../parts/json-field.tsx';
import { post } from '../../state/api.ts';

type Happened = 'yes' | 'no' | 'unknown';

const says: Readonly<Record<Happened, readonly [string, string]>> = {
  yes: ['It happened', 'The call is settled as done; its agent gets the result, if you give one.'],
  no: ['It did not happen', 'The call is settled as not done; its agent may ask again.'],
  unknown: ['Nobody will ever know', 'The call is closed; its budget stays charged.'],
};

export function SettleForm({ id, done }: { readonly id: string; readonly done: () => void }) {
  const [chosen, setChosen] = useState<Happened | null>(null);
  const [result, setResult] = useState('');
  const [force, setForce] = useState(false);
  const read = optionalJson(chosen === 'yes' ? result : '');
  const send = () =>
    post(`/v1/calls/${encodeURIComponent(id)}/settle`, {
      happened: chosen,
      ...(read.ok && read.value !== undefined ? { result: read.value } : {}),
      ...(force ? { force } : {}),
    });
  return (
    <>
      <fieldset class="answers">
        <legend>What became of it?</legend>
        {(Object.keys(says) as Happened[]).map((each) => (
          <Choice
            key={each}
            name="happened"
            title={says[each][0]}
            says={says[each][1]}
            isChosen={chosen === each}
            choose={() => setChosen(each)}
          />
        ))}
      </fieldset>
      {chosen === 'yes' && (
        <JsonField label="Result, if you know it" text={result} change={setResult} read={read} rows={3} />
      )}
      {chosen === 'no' && (
        <label class="check">
          <input type="checkbox" checked={force} onChange={(event) => setForce(event.currentTarget.checked)} />
          Settle it now, although it may still be carried out. While it is in quarantine, a no is not taken without
          this.
        </label>
      )}
      {chosen !== null && (
        <Act needs="administer" kind="main" disabled={!read.ok} run={send} done={done}>
          Settle: {says[chosen][0]}
        </Act>
      )}
    </>
  );
}
