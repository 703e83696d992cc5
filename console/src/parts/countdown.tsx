/** How long something still lasts; it counts by itself, and the last minutes stand out. */
import { fullTime, lengthOf, nowMs, zoneName } from '../state/time.ts';

const soonMs = 300_000;

export function Countdown({ to, over = 'over' }: { readonly to: string; readonly over?: string }) {
  const left = Date.parse(to) - nowMs.value;
  const name = left <= 0 ? 'countdown over' : left < soonMs ? 'countdown soon' : 'countdown';
  return (
    <time class={name} dateTime={to} title={`${fullTime(to)} ${zoneName()}`}>
      {left <= 0 ? over : `${lengthOf(left)} left`}
    </time>
  );
}
