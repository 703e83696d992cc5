/** Where do notices go if nobody listens, and what if a listener throws? */
import type { Notifier } from '../ports/notifier.ts';

/** A listener that throws must not harm a call. */
export function quietly(notifier: Notifier): Notifier {
  return (notice) => {
    try {
      notifier(notice);
    } catch (error) {
      process.stderr.write(`recourse: onNotice threw: ${String(error)}\n`);
    }
  };
}

export const printNotice: Notifier = ({ kind, ...rest }) => {
  process.stderr.write(`recourse: ${kind} ${JSON.stringify(rest)}\n`);
};
