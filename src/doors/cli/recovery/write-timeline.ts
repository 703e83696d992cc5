/** Writes the story of a recovered call: one line for each step, with the time since the call began. */
import { durationOf, type TimelineLine } from '../../../core/recovery/timeline.ts';
import { harmless, type Paint, type Style } from '../terminal.ts';

const styles: Readonly<Record<TimelineLine['what'], Style>> = {
  attempt: 'bold',
  verdict: 'yellow',
  wait: 'dim',
  outcome: 'cyan',
  ticket: 'red',
  stage: 'green',
};

export function writeTimeline(lines: readonly TimelineLine[], paint: Paint): string {
  let before = '';
  return lines
    .map(({ after_ms: afterMs, what, says }) => {
      const time = `+${durationOf(afterMs)}`;
      const shown = time === before ? '' : time;
      before = time;
      return `  ${paint('dim', shown.padStart(9))}  ${paint(styles[what], what.padEnd(7))}  ${harmless(says)}\n`;
    })
    .join('');
}
