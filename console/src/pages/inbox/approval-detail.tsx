/** One approval: what will happen, with what, on what it relies, and the decision. */
import { useState } from 'preact/hooks';
import type { ApprovalContext } from '../../../../src/core/approval/approval-context.ts';
import type { ApprovalView } from '../../../../src/core/approval/approval-view.ts';
import { Countdown } from '../../parts/countdown.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { Load } from '../../parts/load.tsx';
import { get } from '../../state/api.ts';
import { readApproval } from '../../state/decide.ts';
import { loadInbox } from '../../state/inbox.ts';
import { useResource } from '../../state/resource.ts';
import { ApprovalActions } from './approval-actions.tsx';
import { ApprovalArguments } from './approval-arguments.tsx';
import { ApprovalFacts } from './approval-facts.tsx';
import { EvidenceList } from './evidence-list.tsx';
import { Standing } from './standing.tsx';
import { WhatHappens } from './what-happens.tsx';

const everyMs = 3_000;

export function ApprovalDetail({ id }: { readonly id: string }) {
  const [reads, setReads] = useState(0);
  const approval = useResource((signal) => readApproval(id, signal), [id], everyMs);
  const at = `/v1/approvals/${encodeURIComponent(id)}/context${reads > 0 ? '?evidence=again' : ''}`;
  const context = useResource((signal) => get<ApprovalContext>(at, signal), [id, reads]);
  const { value: about, loading } = context.state.value;
  const decided = (now: ApprovalView) => {
    approval.put(now);
    void loadInbox();
  };
  return (
    <Load of={approval}>
      {(now) => (
        <article class="card" aria-label="Approval">
          <header class="card-head">
            <h2 tabIndex={-1}>
              <Foreign text={now.tool} />
            </h2>
            {now.state === 'pending' ? <Countdown to={now.expires_at} over="expired" /> : <Standing approval={now} />}
          </header>
          <div class="card-body stack">
            <WhatHappens approval={now} sentences={about?.happens ?? []} />
            <ApprovalArguments approval={now} about={about} />
            {about !== null && about.evidence.length > 0 && (
              <EvidenceList reads={about.evidence} again={() => setReads(reads + 1)} loading={loading} />
            )}
            <ApprovalFacts approval={now} />
            <ApprovalActions approval={now} decided={decided} />
          </div>
        </article>
      )}
    </Load>
  );
}
