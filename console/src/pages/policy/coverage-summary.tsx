/** What the traffic says about the rules: those that never match, and those that deny most. */
import type { CoverageView } from '../../../../src/core/policy/look/coverage.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { Age } from '../../parts/time.tsx';
import { linkTo } from '../../state/route.ts';

type Counted = CoverageView['rules'][number];

const maxListed = 5;

export function CoverageSummary({ coverage }: { readonly coverage: CoverageView }) {
  const { rules, since, decisions, complete, elsewhere } = coverage;
  const total = ({ ran, denied, deferred, softened }: Counted) => ran + denied + deferred + softened;
  const never = rules.filter((rule) => rule.part === 'rule' && total(rule) === 0);
  const denying = rules
    .filter(({ denied, softened }) => denied + softened > 0)
    .toSorted((a, b) => b.denied + b.softened - a.denied - a.softened);
  return (
    <section class="card" aria-label="Coverage">
      <header class="card-head">
        <h2>What the rules decided</h2>
      </header>
      <div class="card-body stack">
        <p class="quiet">
          {since === null ? (
            'Nothing was decided yet. Call a tool, or wait for an agent: each decision is counted at its rule.'
          ) : (
            <>
              {decisions.toLocaleString('en')} decisions since <Age at={since} />
              {!complete && '; older ones were not read'}
              {elsewhere > 0 && `; ${elsewhere.toLocaleString('en')} of them under an earlier policy`}.
            </>
          )}
        </p>
        {denying.length > 0 && (
          <div>
            <h3>Deny most</h3>
            <RuleList
              rules={denying.slice(0, maxListed)}
              says={({ denied, softened }) => `${denied + softened} denied`}
            />
          </div>
        )}
        {never.length > 0 && since !== null && (
          <div>
            <h3>Never matched ({never.length})</h3>
            <RuleList rules={never.slice(0, maxListed)} says={({ effect }) => effect} />
          </div>
        )}
      </div>
    </section>
  );
}

function RuleList({ rules, says }: { readonly rules: readonly Counted[]; readonly says: (rule: Counted) => string }) {
  return (
    <ul class="rule-list">
      {rules.map((rule) => (
        <li key={`${rule.agent} ${rule.ref} ${rule.part}`}>
          <span>
            <Foreign text={rule.part === 'default' ? 'the default' : rule.match} code max={60} /> of{' '}
            <Foreign text={rule.agent} max={40} />{' '}
            <a href={linkTo('policy', '', { at: rule.ref })}>
              <Foreign text={rule.ref} code max={60} />
            </a>
          </span>
          <span class="number">{says(rule)}</span>
        </li>
      ))}
    </ul>
  );
}
