import assert from 'node:assert/strict';
import { test } from 'node:test';
import { facts } from '../../../test/support/builders.ts';
import { answerOf, aStep, inShop } from '../../../test/support/gate-facts.ts';
import type { CallId, Request } from '../call/call.ts';
import type { Facts, SessionFact } from './facts.ts';
import { session } from './session.ts';

const open = facts().session as Extract<SessionFact, { found: true }>;
const being = (change: Partial<typeof open>) => facts({ session: { ...open, ...change } });
const absent = (why: Extract<SessionFact, { found: false }>['why']) => facts({ session: { found: false, why } });
const { session: _session, ...unread } = facts();
const running = { callId: 'call_1' as CallId, action: 'pay', hasTurn: false };
const busy = aStep({ takenBy: 'call_1' as CallId });

const cases: readonly (readonly [string, Partial<Request>, Facts, string])[] = [
  ['needs the session first', {}, unread, 'need session'],
  ['passes an open session', {}, facts(), 'pass'],
  ['refuses a session that is not known', {}, absent('unknown'), 'refuse UnknownSession'],
  ['refuses a session without a workflow where one is needed', {}, absent('plain'), 'refuse UnknownSession'],
  ['refuses a session of another agent', {}, absent('foreign'), 'refuse ResumeMismatch'],
  ['refuses a session of another store', {}, absent('elsewhere'), 'refuse ResumeMismatch'],
  ['refuses a cancelled session', {}, being({ state: 'cancelled' }), 'refuse SessionCancelled'],
  ['refuses a closed session', {}, being({ state: 'closed' }), 'refuse UnknownSession'],
  [
    'refuses a session stopped for refusals',
    {},
    being({ state: 'stopped', reason: 'refusal_limit' }),
    'refuse RefusalLimit',
  ],
  [
    'refuses a session stopped for repair',
    {},
    being({ state: 'stopped', reason: 'timer_failed' }),
    'refuse SessionStopped',
  ],
  ['needs to know about the turn if there is one', { turn: 't' }, facts(), 'need turnCancelled'],
  ['passes a turn that goes on', { turn: 't' }, facts({ turnCancelled: false }), 'pass'],
  ['refuses a cancelled turn', { turn: 't' }, facts({ turnCancelled: true }), 'refuse TurnCancelled'],
  ['refuses a sequence that has passed', { expectedSeq: 3 }, being({ seq: 4 }), 'refuse StaleSequence'],
  ['refuses a workflow that has changed', {}, inShop(aStep({ drift: ['version'] })), 'refuse ManifestDrift'],
  ['refuses a step while another has the turn', {}, inShop(busy), 'refuse ActionInFlight'],
  ['refuses an action whose body still runs', {}, inShop(aStep({ running: [running] })), 'refuse ActionInFlight'],
  [
    'passes another action beside a body that still runs',
    { tool: 'look' },
    inShop(aStep({ running: [running] })),
    'pass',
  ],
  [
    'names the cancelled session before the turn',
    { turn: 't' },
    being({ state: 'cancelled' }),
    'refuse SessionCancelled',
  ],
  [
    'names the cancelled turn before the drift',
    { turn: 't' },
    inShop(aStep({ drift: [] }), { turnCancelled: true }),
    'refuse TurnCancelled',
  ],
  ['names the step under way before the sequence', { expectedSeq: 3 }, inShop(busy), 'refuse ActionInFlight'],
];

for (const [behaviour, request, given, expected] of cases)
  test(behaviour, () => assert.equal(answerOf(session, request, given), expected));
