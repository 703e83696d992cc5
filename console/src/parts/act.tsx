/**
 * A button that asks the gateway for something. It is not there for somebody who may not; while it is under way it
 * cannot be pressed again, and what went wrong stands beside it.
 */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Permission } from '../../../src/core/call/identity.ts';
import type { Answer, Problem } from '../state/api.ts';
import { mayDo } from '../state/session.ts';

interface ActProps<Value> {
  readonly needs: Permission;
  readonly run: () => Promise<Answer<Value>>;
  readonly done: (value: Value) => void;
  readonly kind?: 'main' | 'danger' | 'plain';
  readonly disabled?: boolean;
  readonly title?: string;
  readonly children: ComponentChildren;
}

export function Act<Value>({ needs, run, done, kind = 'plain', disabled = false, title, children }: ActProps<Value>) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  if (!mayDo(needs)) return null;
  const press = async () => {
    setBusy(true);
    setProblem(null);
    const answer = await run();
    setBusy(false);
    if (answer.ok) done(answer.value);
    else setProblem(answer.problem);
  };
  return (
    <span class="act">
      <button
        type="button"
        class={`button button-${kind}`}
        disabled={busy || disabled}
        title={title}
        onClick={() => void press()}
      >
        {busy ? 'Working…' : children}
      </button>
      {problem !== null && (
        <span class="act-problem" role="alert">
          {problem.detail}
        </span>
      )}
    </span>
  );
}
