import assert from 'node:assert/strict';
import { test } from 'node:test';
import { facts } from '../../../test/support/builders.ts';
import { answerOf } from '../../../test/support/gate-facts.ts';
import type { Facts } from './facts.ts';
import { ready } from './ready.ts';

const starting = { ready: false, doing: 'starting', retryAfterSeconds: 2 } as const;
const closing = { ready: false, doing: 'closing', retryAfterSeconds: 2 } as const;
const full = { now: 10, max: 10 };

const cases: readonly (readonly [string, Partial<Facts>, string])[] = [
  ['passes while there is room for another call', { inFlight: { now: 9, max: 10 } }, 'pass'],
  ['refuses while the gateway starts', { readiness: starting }, 'refuse DAEMON_NOT_READY'],
  ['refuses while the gateway closes', { readiness: closing }, 'refuse DAEMON_NOT_READY'],
  ['refuses at the limit of calls under way', { inFlight: full }, 'refuse Busy'],
  [
    'says that it starts before it says that it is busy',
    { readiness: starting, inFlight: full },
    'refuse DAEMON_NOT_READY',
  ],
];

for (const [behaviour, change, expected] of cases)
  test(behaviour, () => assert.equal(answerOf(ready, {}, facts(change)), expected));
