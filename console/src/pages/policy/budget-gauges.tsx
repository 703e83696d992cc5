/** What is left of each budget in its present window, and when it begins anew. */
import type { BudgetView } from '../../../../src/core/budget/budget-view.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Countdown } from '../../parts/countdown.tsx';
import { Foreign } from '../../parts/foreign.tsx';

const tones: Readonly<Record<BudgetView['state'], readonly [Tone, string]>> = {
  open: ['good', 'open'],
  warned: ['held', 'warned'],
  used_up: ['bad', 'used up'],
};

export function BudgetGauges({ budgets }: { readonly budgets: readonly BudgetView[] }) {
  return (
    <section class="card" aria-label="Budgets">
      <header class="card-head">
        <h2>Budgets</h2>
      </header>
      <div class="card-body stack">
        {budgets.length === 0 && (
          <p class="quiet">
            None. A budget limits what calls may cost together in a day, a session or at all: <code>budgets</code> in
            recourse.yaml.
          </p>
        )}
        {budgets.map((budget) => {
          const { unit, max, allowed, spent, held, left, state, resets_at: resets, window } = budget;
          const [tone, word] = tones[state];
          const amount = (value: number) => `${value.toLocaleString('en', { maximumFractionDigits: 2 })} ${unit}`;
          return (
            <div key={budget.budget} class="gauge">
              <div class="row spread">
                <b>
                  <Foreign text={budget.budget} max={60} />
                </b>
                <Badge tone={tone}>{word}</Badge>
              </div>
              <meter
                min={0}
                max={max + allowed}
                value={spent + held}
                aria-label={`Budget ${budget.name}: ${amount(spent + held)} of ${amount(max + allowed)}`}
              />
              <div class="row spread quiet">
                <span class="number">
                  {amount(spent)} spent{held > 0 && `, ${amount(held)} held`}, {amount(left)} left of{' '}
                  {amount(max + allowed)}
                </span>
                <span>{resets === null ? `by ${window}` : <Countdown to={resets} over="begins anew" />}</span>
              </div>
            </div>
          );
        })}
      </div>
    </section>
  );
}
