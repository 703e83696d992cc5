/** How many calls each rate limit lets through now, and when it is full again. */
import type { LimitView } from '../../../../src/core/rate/limit-view.ts';
import { Countdown } from '../../parts/countdown.tsx';
import { Foreign } from '../../parts/foreign.tsx';

export function LimitGauges({ limits }: { readonly limits: readonly LimitView[] }) {
  return (
    <section class="card" aria-label="Rate limits">
      <header class="card-head">
        <h2>Rate limits</h2>
      </header>
      <div class="card-body stack">
        {limits.length === 0 && (
          <p class="quiet">
            None. A rate limit says how often tools may be called: <code>limits</code> in recourse.yaml.
          </p>
        )}
        {limits.map(({ agent, match, rate, burst, left, full_at: full, ref }) => (
          <div key={`${agent} ${ref}`} class="gauge">
            <div class="row spread">
              <Foreign text={match} code max={60} />
              <span class="quiet">
                {rate}, {agent === null ? 'all agents together' : <Foreign text={agent} max={40} />}
              </span>
            </div>
            <meter
              min={0}
              max={burst}
              value={burst - left}
              aria-label={`Rate limit ${rate}: ${left} of ${burst} calls left`}
            />
            <div class="row spread quiet">
              <span class="number">
                {left} of {burst} calls left
              </span>
              {full !== null && (
                <span>
                  full again: <Countdown to={full} over="now" />
                </span>
              )}
            </div>
          </div>
        ))}
      </div>
    </section>
  );
}
