/** Which answers are possible, by reason and by how the call stands: never one that could do again what was done. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { CallId } from '../call/call.ts';
import { opened, type Ticket, type TicketReason, ticketIdOf } from '../recovery/ticket.ts';
import type { CallState } from '../taxonomy.ts';
import { possibleAnswers, type TicketStanding } from './answers.ts';

const call = 'call_1' as CallId;
const about = (reason: TicketReason, state: Ticket['state'] = 'open'): Ticket => ({
  ...opened,
  id: ticketIdOf(call, reason),
  tenant: 'acme',
  agent: 'ann',
  session: null,
  call,
  tool: 'pay',
  queue: 'q',
  reason,
  openedAtMs: 0,
  dueAtMs: null,
  expiresAtMs: null,
  fence: null,
  state,
});
const standing = (state: CallState | null, more: Partial<TicketStanding> = {}): TicketStanding => ({
  call: state,
  isStep: false,
  isReadable: true,
  canSignIn: false,
  ...more,
});

const rows: readonly (readonly [string, Ticket, TicketStanding, string])[] = [
  ['a forbidden call', about('policy_denied'), standing('FAILED'), 'approve retry replace give_up'],
  ['a failure that nobody knows', about('unrecognised_failure'), standing('FAILED'), 'retry replace give_up'],
  [
    'arguments that are masked or gone',
    about('policy_denied'),
    standing('FAILED', { isReadable: false }),
    'replace give_up',
  ],
  ['a doubt', about('in_doubt'), standing('IN_DOUBT'), 'it_happened it_did_not never_known retry give_up'],
  [
    'a step in doubt',
    about('in_doubt'),
    standing('IN_DOUBT', { isStep: true }),
    'it_happened it_did_not never_known give_up',
  ],
  ['a call that was done', about('schema_mismatch'), standing('SUCCEEDED'), 'give_up'],
  ['a call that nobody will ever know', about('schema_mismatch'), standing('CLOSED_UNKNOWN'), 'give_up'],
  ['a call under way', about('playbook'), standing('DISPATCHED'), 'give_up'],
  ['a call that is gone', about('playbook'), standing(null), 'give_up'],
  [
    'a call that waits for a sign-in',
    about('auth_expired'),
    standing('DENIED', { canSignIn: true }),
    'authenticate retry replace give_up',
  ],
  ['a call that was denied', about('auth_expired'), standing('DENIED'), 'give_up'],
  ['a ticket that is closed', about('policy_denied', 'closed'), standing('FAILED'), ''],
];

for (const [what, ticket, now, expected] of rows)
  test(`[C5-answer-1] ${what} has the answers: ${expected || 'none'}`, () =>
    assert.equal(
      possibleAnswers(ticket, now)
        .map(({ answer }) => answer)
        .join(' '),
      expected,
    ));
