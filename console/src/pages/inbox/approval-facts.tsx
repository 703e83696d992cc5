/** Who asks for an approval, by which rule, in which call and session, and who has approved it already. */
import type { ApprovalView } from '../../../../src/core/approval/approval-view.ts';
import { Fact } from '../../parts/fact.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { ForeignLink } from '../../parts/foreign-link.tsx';
import { Age } from '../../parts/time.tsx';
import { linkTo } from '../../state/route.ts';

export function ApprovalFacts({ approval }: { readonly approval: ApprovalView }) {
  const { agent, session, call_id: call, rule_ref: rule, opened_at: opened, needed, approved_by: votes } = approval;
  return (
    <dl class="inbox-facts">
      <Fact name="Asked by">
        <Foreign text={agent} />, <Age at={opened} />
      </Fact>
      <Fact name="Rule">
        <ForeignLink href={linkTo('policy', '', { at: rule })} text={rule} />
      </Fact>
      <Fact name="Call">
        <ForeignLink href={linkTo('calls', call)} text={call} />
      </Fact>
      {session !== null && (
        <Fact name="Session">
          <ForeignLink href={linkTo('sessions', session)} text={session} />
        </Fact>
      )}
      {(needed > 1 || votes.length > 0) && (
        <Fact name="Approved by">
          {votes.length} of {needed}
          {votes.map(({ by }) => (
            <span key={by}>
              {' '}
              · <Foreign text={by} />
            </span>
          ))}
        </Fact>
      )}
      {approval.approvers !== null && (
        <Fact name="Who may">
          <Foreign text={approval.approvers.join(', ')} />
        </Fact>
      )}
    </dl>
  );
}
