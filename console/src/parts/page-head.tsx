/** The head of a page: its title, a sentence, and what can be done with the whole page. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

interface PageHeadProps {
  readonly title: string;
  readonly says?: ComponentChildren;
  readonly children?: ComponentChildren;
}

export function PageHead({ title, says, children }: PageHeadProps) {
  useEffect(() => {
    document.title = `${title} · Recourse`;
  }, [title]);
  return (
    <header class="page-head">
      <div>
        <h1>{title}</h1>
        {says !== undefined && <p class="quiet">{says}</p>}
      </div>
      {children !== undefined && <div class="page-actions">{children}</div>}
    </header>
  );
}
