/** A moment, in the zone that was chosen; the full time with its zone is in its title. */
import { clockTime, fullTime, nowMs, relative, zoneName } from '../state/time.ts';

export function Time({ at, full = false }: { readonly at: string | number; readonly full?: boolean }) {
  const title = `${fullTime(at)} ${zoneName()}`;
  return (
    <time class="number" dateTime={typeof at === 'string' ? at : new Date(at).toISOString()} title={title}>
      {full ? fullTime(at) : clockTime(at)}
    </time>
  );
}

/** "3 min ago"; it goes on by itself. */
export function Age({ at }: { readonly at: string | number }) {
  return (
    <time class="number" title={`${fullTime(at)} ${zoneName()}`}>
      {relative(at, nowMs.value)}
    </time>
  );
}
