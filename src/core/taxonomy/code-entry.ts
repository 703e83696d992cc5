/**
 * The fields of a code's entry beside its texts. The entries are in the four codes-of-*.ts files, by the moment when a
 * code occurs.
 */
import type { ErrorClass } from './classes.ts';
import type { Entry } from './entry.ts';
import type { ResolutionType } from './resolutions.ts';

export interface CodeEntry extends Entry {
  readonly class: ErrorClass;
  /** The usual status of a reply with this code; null for a notice, which has no reply of its own. */
  readonly http: number | null;
  /** The advice a caller may expect with this code, the usual one first. */
  readonly resolutions: readonly ResolutionType[];
}
