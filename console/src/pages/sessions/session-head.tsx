/** What a session is: its status, its workflow, its agent, and whether the workflow has changed since it began. */
import type { SessionGraph } from '../../../../src/core/workflow/trace/session-graph.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { SessionStatusBadge } from './session-status.tsx';

export function SessionHead({ graph }: { readonly graph: SessionGraph }) {
  const { status, workflow, version, agent, seq, reason, drift } = graph;
  return (
    <>
      <div class="row">
        <SessionStatusBadge status={status} />
        <b>
          <Foreign text={workflow} max={80} />
        </b>
        <span class="quiet">
          version <Foreign text={version} max={40} />, agent <Foreign text={agent} max={60} />, step {seq}
        </span>
        {reason !== null && <Foreign text={reason} />}
      </div>
      {drift.length > 0 && (
        <div class="problem" role="alert">
          <div>
            <strong>The workflow has changed since this session began.</strong>
            {drift.map((each) => (
              <p key={each}>
                <Foreign text={each} />
              </p>
            ))}
          </div>
        </div>
      )}
    </>
  );
}
