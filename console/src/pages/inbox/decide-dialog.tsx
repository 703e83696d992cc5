/** Asks again before a decision is sent; takes the reason, and the arguments of an edit. */
import { useState } from 'preact/hooks';
import type { ApprovalView } from '../../../../src/core/approval/approval-view.ts';
import type { Json } from '../../../../src/core/values/json.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { JsonField, readJson } from '../../parts/json-field.tsx';
import type { Problem } from '../../state/api.ts';
import { decide, type Decided, type Decision } from '../../state/decide.ts';

interface DecideDialogProps {
  readonly kind: Decision['kind'];
  readonly approval: ApprovalView;
  readonly close: () => void;
  readonly hear: (result: Decided) => void;
}

const titles = { approve: 'Approve this call?', deny: 'Deny this call?', edit: 'Edit and approve' } as const;
const verbs = { approve: 'Approve', deny: 'Deny', edit: 'Approve as edited' } as const;
const says = {
  approve: 'It may run once, with exactly the arguments that you were shown.',
  deny: 'It does not run. Equal calls are denied until this approval expires. The agent is told your reason.',
  edit: 'It may run once, with these arguments instead. The agent is told what you changed.',
} as const;

export function DecideDialog({ kind, approval, close, hear }: DecideDialogProps) {
  const [reason, setReason] = useState('');
  const [text, setText] = useState(() => JSON.stringify(approval.edited_args ?? approval.args, null, 2));
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const edited = kind === 'edit' ? readJson(text) : null;
  const send = async (event: Event) => {
    event.preventDefault();
    const decision = decisionOf(kind, reason, edited?.ok === true ? edited.value : null);
    if (busy || edited?.ok === false) return;
    setBusy(true);
    const result = await decide(approval, decision);
    setBusy(false);
    setProblem(result.kind === 'failed' ? result.problem : null);
    hear(result);
  };
  return (
    <Dialog title={titles[kind]} close={close}>
      <form class="stack" onSubmit={(event) => void send(event)}>
        <p>
          <Foreign text={approval.tool} code /> for <Foreign text={approval.agent} />. {says[kind]}
        </p>
        {edited !== null && <JsonField label="Arguments" text={text} change={setText} read={edited} />}
        <div class="field">
          <label for="decide-reason">
            {kind === 'deny' ? 'Reason, for the agent and the record' : 'Reason, if any'}
          </label>
          <textarea
            id="decide-reason"
            rows={2}
            maxLength={500}
            value={reason}
            required={kind === 'deny'}
            autofocus={kind === 'deny'}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </div>
        {problem !== null && (
          <p class="act-problem" role="alert">
            {problem.detail}
          </p>
        )}
        <div class="row">
          <button
            type="submit"
            class={`button ${kind === 'deny' ? 'button-danger' : 'button-main'}`}
            disabled={busy || edited?.ok === false}
            autofocus={kind === 'approve'}
          >
            {busy ? 'Working…' : verbs[kind]}
          </button>
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function decisionOf(kind: Decision['kind'], reason: string, args: Json): Decision {
  return kind === 'edit' ? { kind, reason, args } : { kind, reason };
}
