/**
 * What does the entry of a code say beside its texts?
 * Must not list codes; the four codes-of-*.ts files do, by the moment at which a code is met.
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
