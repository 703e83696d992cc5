/**
 * The effect classes of tools, and the effects of calls. `unknown` is the only honest answer after a lost reply to a
 * write.
 */
import type { Entry } from './entry.ts';

export const effectClasses = {
  pure: {
    title: 'Reads only',
    meaning: 'The tool changes nothing, so it may be sent again at any time.',
    agent: 'Use it freely to find out how things stand.',
    operator: 'Declare it only for tools that really change nothing.',
  },
  keyed: {
    title: 'Write with a key',
    meaning: 'The upstream recognises our key and does the work once, within a known window.',
    agent: 'Nothing; the gateway sends the key.',
    operator: 'Declare the window for which the upstream remembers keys.',
  },
  probeable: {
    title: 'Write that can be asked about',
    meaning: 'A declared read tells whether the write happened.',
    agent: 'After an unknown effect, wait for the probe to settle it.',
    operator: 'Declare the read and what in its answer proves the write.',
  },
  plain: {
    title: 'Any other write',
    meaning: 'The write can neither be deduplicated nor asked about; this is the default.',
    agent: 'After an unknown effect, do not repeat it; a person settles it.',
    operator: 'See whether the upstream accepts a key or offers a read; then declare that.',
  },
} as const satisfies Record<string, Entry>;

export const effects = {
  none: {
    title: 'No effect',
    meaning: 'It is certain that the call changed nothing.',
    agent: 'You may correct the call and ask again.',
    operator: 'Nothing.',
  },
  applied: {
    title: 'Took effect',
    meaning: 'It is certain that the call did what it was asked to do.',
    agent: 'Do not send it again.',
    operator: 'Nothing, unless the reply names a repair.',
  },
  unknown: {
    title: 'Not known',
    meaning: 'The call may or may not have taken effect.',
    agent: 'Do not send it again until it is settled.',
    operator: 'Settle the call in doubt by what the upstream shows.',
  },
} as const satisfies Record<string, Entry>;

export type EffectClass = keyof typeof effectClasses;
export type Effect = keyof typeof effects;
