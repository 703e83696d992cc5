/** A word in a colour. The word says it all: the colour only helps. */
import type { ComponentChildren } from 'preact';

export type Tone = 'good' | 'bad' | 'held' | 'doubt' | 'busy' | 'quiet';

export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return (
    <span class={`badge tone-${tone}`}>
      <span class="dot" aria-hidden="true" />
      {children}
    </span>
  );
}
