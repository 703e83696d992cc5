/** One approval: what will happen, with what, on what it relies, and the decision. */
import { useState } from 'preact/hooks';
import type { ApprovalContext } from '../../../../src/core/approval/approval-context.ts';
import type { ApprovalView } from '../../../../src/core/approval/approval-view.ts';
import { Countdown } from '../../parts/countdown.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { Load } from '../../parts/load.tsx';
import { Age } from '../../parts/time.tsx';
import { get } from '../../state/api.ts';
import { readApproval } from '../../state/decide.ts';
import { loadInbox } from '../../state/inbox.ts';
import { useResource } from '../../state/resource.ts';
import { linkTo } from '../../state/route.ts';
import { ApprovalActions } from './approval-actions.tsx';
import { ArgumentTable } from './argument-table.tsx';
import { EvidenceList } from './evidence-list.tsx';
import { Standing } from './standing.tsx';

const everyMs = 3_000;

export function ApprovalDetail({ id }: { readonly id: string }) {
  const [reads, setReads] = useState(0);
  const approval = useResource((signal) => readApproval(id, signal), [id], everyMs);
  const query = reads > 0 ? '?evidence=again' : '';
  const at = `/v1/approvals/${encodeURIComponent(id)}/context${query}`;
  const context = useResource((signal) => get<ApprovalContext>(at, signal), [id, reads]);
  const decided = (now: ApprovalView) => {
    approval.put(now);
    void loadInbox();
  };
  return (
    <Load of={approval}>
      {(now) => {
        const { value: about } = context.state.value;
        const last = about?.last ?? null;
        return (
          <article class="card" aria-label="Approval">
            <header class="card-head">
              <h2 tabIndex={-1}>
                <Foreign text={now.tool} />
              </h2>
              {now.state === 'pending' ? <Countdown to={now.expires_at} over="expired" /> : <Standing approval={now} />}
            </header>
            <div class="card-body stack">
              <section aria-label="What will happen">
                <h3>What will happen</h3>
                <ul class="sentences">
                  {about?.happens.map((sentence) => (
                    <li key={sentence}>{sentence}</li>
                  ))}
                </ul>
                {now.reason !== null && (
                  <p>
                    The rule says: <Foreign text={now.reason} />
                  </p>
                )}
              </section>
              <section aria-label="Arguments">
                <h3>Arguments</h3>
                <ArgumentTable
                  label="Arguments of the call"
                  args={now.edited_args ?? now.args}
                  {...(last === null ? {} : { before: last.args })}
                />
                {now.edited_args !== undefined && <p class="quiet">An approver changed these arguments.</p>}
                {about !== null && (
                  <p class="quiet">
                    {last === null ? (
                      'This agent has not run this tool before, so there is nothing to compare with.'
                    ) : (
                      <>
                        Compared with the <a href={linkTo('calls', last.call_id)}>last one that succeeded</a>,{' '}
                        <Age at={last.at} />.
                      </>
                    )}
                  </p>
                )}
              </section>
              {about !== null && about.evidence.length > 0 && (
                <EvidenceList
                  reads={about.evidence}
                  again={() => setReads(reads + 1)}
                  loading={context.state.value.loading}
                />
              )}
              <Facts approval={now} />
              {now.state === 'pending' && <ApprovalActions approval={now} decided={decided} />}
            </div>
          </article>
        );
      }}
    </Load>
  );
}

function Facts({ approval }: { readonly approval: ApprovalView }) {
  const { agent, session, call_id: call, rule_ref: rule, opened_at: opened, needed, approved_by: votes } = approval;
  return (
    <dl class="facts">
      <div>
        <dt>Asked by</dt>
        <dd>
          <Foreign text={agent} />, <Age at={opened} />
        </dd>
      </div>
      <div>
        <dt>Rule</dt>
        <dd>
          <a href={linkTo('policy', '', { at: rule })}>
            <Foreign text={rule} code />
          </a>
        </dd>
      </div>
      <div>
        <dt>Call</dt>
        <dd>
          <a href={linkTo('calls', call)}>
            <Foreign text={call} code />
          </a>
        </dd>
      </div>
      {session !== null && (
        <div>
          <dt>Session</dt>
          <dd>
            <a href={linkTo('sessions', session)}>
              <Foreign text={session} code />
            </a>
          </dd>
        </div>
      )}
      {(needed > 1 || votes.length > 0) && (
        <div>
          <dt>Approved by</dt>
          <dd>
            {votes.length} of {needed}
            {votes.map(({ by }) => (
              <span key={by}>
                {' '}
                · <Foreign text={by} />
              </span>
            ))}
          </dd>
        </div>
      )}
      {approval.approvers !== null && (
        <div>
          <dt>Who may</dt>
          <dd>
            <Foreign text={approval.approvers.join(', ')} />
          </dd>
        </div>
      )}
    </dl>
  );
}
