/** Prints operator notices on standard error, and guards against listeners that throw. */
import type { SuppressedNotice } from '../../core/values/suppressed.ts';
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

export interface RecordingNotifier {
  readonly notify: Notifier;
  /** Until this is called, what was suppressed is only told. */
  recordWith(record: (notice: SuppressedNotice) => void): void;
}

/** Tells every notice, and hands suppressed errors to the journal too. */
export function recordingNotifier(notifier: Notifier): RecordingNotifier {
  const tell = quietly(notifier);
  let record: (notice: SuppressedNotice) => void = () => undefined;
  return {
    notify(notice) {
      tell(notice);
      if (notice.kind === 'suppressed') record(notice);
    },
    recordWith: (given) => void (record = given),
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
