/** The head of a page: its title, a sentence, and what can be done with the whole page. The tab tells what waits. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { waiting } from '../state/waiting.ts';

interface PageHeadProps {
  readonly title: string;
  readonly says?: ComponentChildren;
  readonly children?: ComponentChildren;
}

export function PageHead({ title, says, children }: PageHeadProps) {
  const count = waiting.value['inbox'] ?? 0;
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ''}${title} · Recourse`;
  }, [title, count]);
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
