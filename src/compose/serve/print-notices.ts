/** Prints operator notices on standard error, and guards against listeners that throw. */
import type { Notifier, OperatorNotice } from '../../ports/notifier.ts';

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

export const printNotice: Notifier = (notice) => void process.stderr.write(writeNotice(notice));

/** With the field names of the wire. */
export function writeNotice({ kind, ...rest }: OperatorNotice): string {
  const told = Object.entries(rest).map(([name, value]) => [
    name.replace(/[A-Z]/g, (at) => `_${at.toLowerCase()}`),
    value,
  ]);
  return `recourse: ${kind} ${JSON.stringify(Object.fromEntries(told))}\n`;
}
