/** Times as they are shown, in the zone that was chosen, and a clock that ticks once a second. */
import { signal } from '@preact/signals';
import { zone } from './preferences.ts';

/** Only pages that show an age or a countdown read it. */
export const nowMs = signal(Date.now());
setInterval(() => {
  nowMs.value = Date.now();
}, 1_000);

const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'local time';

export const zoneName = (): string => (zone.value === 'utc' ? 'UTC' : localZone);

const two = (value: number): string => (value < 10 ? `0${value}` : String(value));
const msOf = (at: string | number): number => (typeof at === 'number' ? at : Date.parse(at));

/** 14:03:09. Put together by hand: a list of thousands of times must not wait for formats. */
export function clockTime(at: string | number): string {
  const date = new Date(msOf(at));
  if (Number.isNaN(date.getTime())) return String(at);
  return zone.value === 'utc'
    ? `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`
    : `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** 2026-05-18 14:03:09 */
export function fullTime(at: string | number): string {
  const date = new Date(msOf(at));
  if (Number.isNaN(date.getTime())) return String(at);
  const day =
    zone.value === 'utc'
      ? [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()]
      : [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return `${day.map(two).join('-')} ${clockTime(at)}`;
}

/** "3 min ago", "in 12 s". */
export function relative(at: string | number, now: number): string {
  const ms = msOf(at) - now;
  if (Math.abs(ms) < 1_000) return 'just now';
  return ms > 0 ? `in ${lengthOf(ms)}` : `${lengthOf(-ms)} ago`;
}

/** As a person reads it: 12 ms, 7.5 s, 3 min, 5 h, 2 d. */
export function lengthOf(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${Number((ms / 1_000).toFixed(1))} s`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  if (ms < 7_200_000) return `${Math.floor(ms / 60_000)} min`;
  return ms < 172_800_000 ? `${Math.floor(ms / 3_600_000)} h` : `${Math.floor(ms / 86_400_000)} d`;
}
