/** How fast decisions come, and how long calls take, over the last seconds. */
import { Sparkline } from '../../parts/sparkline.tsx';
import type { Second } from '../../state/live.ts';
import { lengthOf } from '../../state/time.ts';

const lately = 10;

export function Pace({ pace }: { readonly pace: readonly Second[] }) {
  const last = pace.slice(-lately);
  const decided = sum(last.map((second) => second.decided));
  const ended = sum(last.map((second) => second.ended));
  const took = sum(last.map(({ tookMs }) => tookMs));
  return (
    <div class="pace">
      <Sparkline
        name="decisions a second"
        values={pace.map((second) => second.decided)}
        now={(decided / lately).toFixed(decided / lately < 10 ? 1 : 0)}
      />
      <Sparkline
        name="time of a success"
        values={pace.map(({ ended: count, tookMs }) => (count === 0 ? 0 : tookMs / count))}
        now={ended === 0 ? '–' : lengthOf(took / ended)}
      />
    </div>
  );
}

const sum = (values: readonly number[]): number => values.reduce((all, each) => all + each, 0);
