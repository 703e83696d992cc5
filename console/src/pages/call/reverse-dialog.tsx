/** Undoes a call: shows what would be sent for that, asks for a reason, and sends it as a call of its own. */
import { useState } from 'preact/hooks';
import type { Json } from '../../../../src/core/values/json.ts';
import { Act } from '../../parts/act.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { post } from '../../state/api.ts';

/** With what a call would be undone now. */
export interface Reversal {
  readonly call_id: string;
  readonly reverser: string;
  readonly state: string;
  readonly expires_at: string | null;
  readonly reversed_by: string | null;
  readonly args: Json;
  readonly problem: string | null;
}

const maxReasonChars = 300;

interface ReverseDialogProps {
  readonly reversal: Reversal;
  readonly close: () => void;
  readonly done: () => void;
}

export function ReverseDialog({ reversal, close, done }: ReverseDialogProps) {
  const [reason, setReason] = useState('');
  return (
    <Dialog title="Reverse this call" close={close}>
      <p>
        This calls <Foreign text={reversal.reverser} max={80} code /> with these arguments, once. It is a call of its
        own, on record with your name.
      </p>
      <JsonView value={reversal.args} />
      {reversal.problem !== null && (
        <p class="act-problem" role="alert">
          <Foreign text={reversal.problem} max={300} />
        </p>
      )}
      <div class="field reverse-reason">
        <label for="reverse-reason">Reason</label>
        <input
          id="reverse-reason"
          value={reason}
          maxLength={maxReasonChars}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </div>
      <Act
        needs="administer"
        kind="danger"
        disabled={reversal.problem !== null || reason.trim() === ''}
        run={() => post('/v1/reversals', { call: reversal.call_id, reason: reason.trim() })}
        done={() => {
          done();
          close();
        }}
      >
        Reverse
      </Act>
    </Dialog>
  );
}
