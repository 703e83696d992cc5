/** The decision about an approval: three buttons, each with a dialog that asks again. Not there for a viewer. */
import { useState } from 'preact/hooks';
import type { ApprovalView } from '../../../../src/core/approval/approval-view.ts';
import type { Decided, Decision } from '../../state/decide.ts';
import { mayDo } from '../../state/session.ts';
import { DecideDialog } from './decide-dialog.tsx';
import { ProblemNote } from '../../parts/notice.tsx';
import { Standing } from './standing.tsx';

interface ApprovalActionsProps {
  readonly approval: ApprovalView;
  readonly decided: (now: ApprovalView) => void;
}

export function ApprovalActions({ approval, decided }: ApprovalActionsProps) {
  const [asks, setAsks] = useState<Decision['kind'] | null>(null);
  const [moved, setMoved] = useState<Extract<Decided, { kind: 'moved' }> | null>(null);
  const isPending = approval.state === 'pending';
  if (!mayDo('approve')) return isPending ? <p class="quiet">Your key may look, and not decide.</p> : null;
  if (!isPending && moved === null) return null;
  const hear = (result: Decided) => {
    if (result.kind === 'failed') return;
    setAsks(null);
    setMoved(result.kind === 'moved' ? result : null);
    decided(result.approval);
  };
  return (
    <div class="decision">
      {moved !== null && (
        <>
          <ProblemNote problem={moved.problem} />
          <p>
            This is how it stands: <Standing approval={moved.approval} />
          </p>
        </>
      )}
      {isPending && (
        <div class="row">
          <button type="button" class="button button-main" data-key="a" onClick={() => setAsks('approve')}>
            Approve <kbd aria-hidden="true">a</kbd>
          </button>
          <button type="button" class="button button-danger" data-key="d" onClick={() => setAsks('deny')}>
            Deny <kbd aria-hidden="true">d</kbd>
          </button>
          <button type="button" class="button" data-key="e" onClick={() => setAsks('edit')}>
            Edit and approve <kbd aria-hidden="true">e</kbd>
          </button>
        </div>
      )}
      {asks !== null && <DecideDialog kind={asks} approval={approval} close={() => setAsks(null)} hear={hear} />}
    </div>
  );
}
