/** Times as they are shown, in the zone that was chosen, and a clock that ticks once a second. */
import { signal } from '@preact/signals';
import { zone } from './preferences.ts';

/** Only pages that show an age or a countdown read it. */
export const nowMs = signal(Date.now());
setInterval(() => {
  nowMs.value = Date.now();
}, 1_000);

export const zoneName = (): string =>
  zone.value === 'utc' ? 'UTC' : (Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'local time');

const options = { hour12: false, hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
const formats = {
  local: { time: format(options), full: format({ ...options, ...dayOptions() }) },
  utc: {
    time: format({ ...options, timeZone: 'UTC' }),
    full: format({ ...options, ...dayOptions(), timeZone: 'UTC' }),
  },
};

function dayOptions() {
  return { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
}

function format(given: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-CA', given);
}

const msOf = (at: string | number): number => (typeof at === 'number' ? at : Date.parse(at));

/** 14:03:09 */
export const clockTime = (at: string | number): string => shown(formats[zone.value].time, at);
/** 2026-05-18 14:03:09 */
export const fullTime = (at: string | number): string => shown(formats[zone.value].full, at).replace(',', '');

function shown(how: Intl.DateTimeFormat, at: string | number): string {
  const ms = msOf(at);
  return Number.isFinite(ms) ? how.format(ms) : String(at);
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
