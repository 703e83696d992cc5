/** How an approval that is no longer pending stands: decided by whom, when and why. */
import type { ApprovalState } from '../../../../src/core/approval/approval.ts';
import type { ApprovalView } from '../../../../src/core/approval/approval-view.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { Age } from '../../parts/time.tsx';

const tones: Readonly<Record<ApprovalState, Tone>> = {
  pending: 'held',
  granted: 'good',
  denied: 'bad',
  expired: 'quiet',
  revoked: 'bad',
  used: 'good',
  void: 'quiet',
};

export function Standing({ approval: { state, decided, approved_by: votes } }: { readonly approval: ApprovalView }) {
  const last = decided ?? votes.at(-1) ?? null;
  return (
    <span class="standing" role="status">
      <Badge tone={tones[state]}>{state}</Badge>
      {last !== null && (
        <>
          {' '}
          by <Foreign text={last.by} max={60} />, <Age at={last.at} />
        </>
      )}
      {decided !== null && decided.reason !== null && (
        <>
          : <Foreign text={decided.reason} />
        </>
      )}
    </span>
  );
}
