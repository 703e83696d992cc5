/** The page Policy: the file with what really happens at each rule, what is left of budgets, and a box to ask "what if". */
import type { BudgetView } from '../../../../src/core/budget/budget-view.ts';
import type { CoverageView } from '../../../../src/core/policy/look/coverage.ts';
import type { LimitView } from '../../../../src/core/rate/limit-view.ts';
import type { PolicyFile } from '../../../../src/core/policy/look/policy-file.ts';
import { Load } from '../../parts/load.tsx';
import { Empty } from '../../parts/notice.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { get } from '../../state/api.ts';
import { useResource } from '../../state/resource.ts';
import { BudgetGauges } from './budget-gauges.tsx';
import { LimitGauges } from './limit-gauges.tsx';
import { CoverageSummary } from './coverage-summary.tsx';
import { FileView } from './file-view.tsx';
import { PolicyProblems } from './policy-problems.tsx';
import { WhatIf } from './what-if.tsx';
import './policy.css';

const everyMs = 5_000;

export function PolicyPage() {
  const file = useResource((signal) => get<PolicyFile>('/v1/policy/file', signal), [], everyMs);
  const coverage = useResource((signal) => get<CoverageView>('/v1/policy/coverage', signal), [], everyMs);
  const budgets = useResource(
    (signal) => get<{ readonly budgets: readonly BudgetView[] }>('/v1/budgets', signal),
    [],
    everyMs,
  );
  const limits = useResource(
    (signal) => get<{ readonly limits: readonly LimitView[] }>('/v1/limits', signal),
    [],
    everyMs,
  );
  const counted = coverage.state.value.value;
  return (
    <>
      <PageHead title="Policy" says="What agents may do, and what the rules really decide." />
      <div class="policy-columns">
        <div class="stack">
          <Load of={file}>
            {(now) =>
              now.files.length === 0 ? (
                <Empty icon="policy" title="No policy yet">
                  <p>
                    Without rules every tool may be called. Write <code>agents</code> in recourse.yaml and apply it: the
                    file is here then, with how often each rule decided.
                  </p>
                </Empty>
              ) : (
                <>
                  <PolicyProblems file={now} />
                  {now.files.map((each) => (
                    <FileView key={each.file} file={each} problems={now.problems} coverage={counted} />
                  ))}
                </>
              )
            }
          </Load>
        </div>
        <div class="stack">
          <WhatIf />
          <Load of={coverage}>{(now) => <CoverageSummary coverage={now} />}</Load>
          <Load of={budgets}>{(now) => <BudgetGauges budgets={now.budgets} />}</Load>
          <Load of={limits}>{(now) => <LimitGauges limits={now.limits} />}</Load>
        </div>
      </div>
    </>
  );
}
