/** What a page says where it has nothing to show: why, and what to do; or what went wrong, and what to do. */
import type { ComponentChildren } from 'preact';
import type { Problem } from '../state/api.ts';
import { Icon, type IconName } from './icon.tsx';

interface EmptyProps {
  readonly icon?: IconName;
  readonly title: string;
  /** What would be here, and how it comes to be. */
  readonly children?: ComponentChildren;
}

export function Empty({ icon = 'call', title, children }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children !== undefined && <div class="empty-text">{children}</div>}
    </div>
  );
}

export function ProblemNote({ problem, again }: { readonly problem: Problem; readonly again?: () => void }) {
  return (
    <div class="problem" role="alert">
      <Icon name="warning" />
      <div>
        <strong>{problem.code}</strong>
        <p>{problem.detail}</p>
        {again !== undefined && (
          <button type="button" class="button" onClick={again}>
            Try again
          </button>
        )}
      </div>
    </div>
  );
}

export function Loading({ what = 'Loading' }: { readonly what?: string }) {
  return (
    <p class="loading" role="status">
      {what}…
    </p>
  );
}
