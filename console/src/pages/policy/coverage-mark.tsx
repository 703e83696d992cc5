/** How often a rule decided, in the gutter of its line. */
import type { CoverageView } from '../../../../src/core/policy/look/coverage.ts';

type Counted = CoverageView['rules'][number];

export function CoverageMark({ rules }: { readonly rules: readonly Counted[] }) {
  const sum = (of: (rule: Counted) => number) => rules.reduce((all, rule) => all + of(rule), 0);
  const [ran, denied, deferred, softened] = [
    sum((rule) => rule.ran),
    sum((rule) => rule.denied),
    sum((rule) => rule.deferred),
    sum((rule) => rule.softened),
  ];
  const parts = [
    [ran, 'ran', 'mark-ran'],
    [deferred, 'deferred', 'mark-deferred'],
    [denied, 'denied', 'mark-denied'],
    [softened, 'would be denied', 'mark-denied'],
  ] as const;
  const shown = parts.filter(([count]) => count > 0);
  if (shown.length === 0 && rules.every(({ part }) => part === 'default')) return null;
  if (shown.length === 0)
    return (
      <span class="mark mark-never" title="this rule has never decided">
        never
      </span>
    );
  return (
    <>
      {shown.map(([count, word, name]) => (
        <span key={word} class={`mark ${name}`} title={`${count} times ${word}`}>
          {count.toLocaleString('en')} {word}
        </span>
      ))}
    </>
  );
}
