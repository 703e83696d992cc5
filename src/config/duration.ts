/** Durations such as `250ms`, `10s`, `5m`, `2h` and `1d`. */
export { durationForms, durationMs, durationPattern } from '../core/values/duration.ts';
