/** The arguments of a call that waits, beside those of the last such call. */
import type { ApprovalContext } from '../../../../src/core/approval/approval-context.ts';
import type { ApprovalView } from '../../../../src/core/approval/approval-view.ts';
import { Age } from '../../parts/time.tsx';
import { linkTo } from '../../state/route.ts';
import { ArgumentTable } from './argument-table.tsx';

interface ApprovalArgumentsProps {
  readonly approval: ApprovalView;
  /** Null until it is loaded. */
  readonly about: ApprovalContext | null;
}

export function ApprovalArguments({ approval, about }: ApprovalArgumentsProps) {
  const last = about?.last ?? null;
  return (
    <section aria-label="Arguments">
      <h3>Arguments</h3>
      <ArgumentTable
        label="Arguments of the call"
        args={approval.edited_args ?? approval.args}
        {...(last === null ? {} : { before: last.args })}
      />
      {approval.edited_args !== undefined && <p class="quiet">An approver changed these arguments.</p>}
      {about !== null && last === null && (
        <p class="quiet">This agent has not run this tool before, so there is nothing to compare with.</p>
      )}
      {last !== null && (
        <p class="quiet">
          Compared with the <a href={linkTo('calls', last.call_id)}>last one that succeeded</a>, <Age at={last.at} />.
        </p>
      )}
    </section>
  );
}
