/** A part of a page with a heading. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface CardProps {
  readonly title: string;
  /** Beside the title. */
  readonly extra?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Card({ title, extra, children }: CardProps) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{title}</h2>
        {extra}
      </div>
      <div class="card-body">{children}</div>
    </section>
  );
}
