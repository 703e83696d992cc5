/** What a decision does: the gateway's own sentences, and the words of the rule beside them. */
import type { ApprovalView } from '../../../../src/core/approval/approval-view.ts';
import { Foreign } from '../../parts/foreign.tsx';

interface WhatHappensProps {
  readonly approval: ApprovalView;
  readonly sentences: readonly string[];
}

export function WhatHappens({ approval: { reason }, sentences }: WhatHappensProps) {
  return (
    <section aria-label="What will happen">
      <h3>What will happen</h3>
      <ul class="sentences">
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      {reason !== null && (
        <p>
          The rule says: <Foreign text={reason} />
        </p>
      )}
    </section>
  );
}
