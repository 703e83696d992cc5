/**
 * Lets V8 compile what serves calls after a hundred of them instead of thousands: agents call rarely, and a gateway on
 * somebody's desk would stay slow for weeks. For a process that does nothing but serve: the settings are the whole process's.
 */
import { setFlagsFromString } from 'node:v8';

/** These names belong to V8, and another version may mean something else by them: there, nothing is set. */
const measuredWith = '13.6.';

export const settings: readonly string[] = [
  '--invocation-count-for-maglev=20',
  '--invocation-count-for-turbofan=100',
  '--minimum-invocations-after-ic-update=20',
];

/** Whether it was done. */
export function compileSooner(version: string = process.versions.v8): boolean {
  if (!version.startsWith(measuredWith)) return false;
  for (const setting of settings) setFlagsFromString(setting);
  return true;
}
