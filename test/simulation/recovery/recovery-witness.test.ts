/** Each check of retries and doubts is seen to fail once: what is forged here must be noticed, under its own name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallId } from '../../../src/core/call/call.ts';
import { type Ticket, ticketIdOf } from '../../../src/core/recovery/ticket.ts';
import type { Attempt } from '../../../src/ports/upstream.ts';
import { aCall } from '../../support/builders.ts';
import { aTicket } from '../../conformance/recovery/ticket-fixtures.ts';
import type { MemoryRecord } from '../memory-journal.ts';
import type { MemoryState } from '../memory-state.ts';
import type { Witness } from '../witness.ts';
import { checkDoubts } from './check-doubts.ts';
import { createRecoveryWitness } from './recovery-witness.ts';

const id = 'call_1' as CallId;
const attempt = { callId: id, attempt: 1, tool: 'charge', deadlineAtMs: 1_000 } as Attempt;
const record = (kind: string, body: object) =>
  ({ kind, call: id, body: JSON.stringify(body) }) as unknown as MemoryRecord;
const sender = { owner: 'inc_me', wallMs: 0 };

function watch(tool = 'charge') {
  const found: string[] = [];
  const witness = createRecoveryWitness(
    (invariant) => found.push(invariant),
    () => 0,
  );
  const apply = (...records: MemoryRecord[]) => witness.applied(records, () => tool, 'inc_me');
  return { witness, apply, found };
}

const scheduled = record('attempt_scheduled', { attempt: 2, at_ms: 500, pause_ms: 500 });
const retried = [record('failure_classified', { attempt: 9, verdict: 'transient_timeout' }), scheduled];

type Watched = ReturnType<typeof watch>;
const forgeries: readonly (readonly [string, string, (watched: Watched) => void])[] = [
  ['deadline', 'a send past the deadline', ({ witness }) => witness.sent(attempt, { ...sender, wallMs: 1_000 })],
  ['early', 'a send before its time', ({ witness, apply }) => (apply(scheduled), witness.sent(attempt, sender))],
  [
    'breaker',
    'a send while the breaker is open',
    ({ witness }) => {
      for (const number of [1, 2]) witness.ended({ ...attempt, attempt: number }, 'inc_me', '5xx');
      witness.sent(attempt, sender);
    },
  ],
  ['budget', 'a sixth retry without a success', ({ apply }) => [1, 2, 3, 4, 5, 6].forEach(() => apply(...retried))],
  [
    'classify',
    'a verdict of another attempt',
    ({ witness, apply }) => {
      witness.ended(attempt, 'inc_me', '429');
      apply(record('failure_classified', { attempt: 1, verdict: 'transient_timeout' }));
    },
  ],
  [
    'classify',
    'an end that nobody saw',
    ({ apply }) => apply(record('attempt_finished', { attempt: 1, kind: 'timeout', subject: null })),
  ],
];

for (const [invariant, what, forge] of forgeries)
  test(`the witness notices ${what}, as ${invariant}`, () => {
    const watched = watch();
    forge(watched);
    assert.deepEqual(watched.found, [invariant]);
  });

test('retries within the rules are not noticed', () => {
  const { witness, apply, found } = watch();
  witness.sent(attempt, sender);
  witness.ended(attempt, 'inc_me', '429');
  const limited = [record('failure_classified', { attempt: 1, verdict: 'rate_limited' }), scheduled];
  for (let count = 0; count < 20; count++) apply(...limited);
  for (let count = 0; count < 5; count++) apply(...retried);
  witness.sent({ ...attempt, attempt: 2 }, { ...sender, wallMs: 500 });
  assert.deepEqual(found, []);
});

const doubts: readonly (readonly [string, Parameters<typeof aCall>[0], Ticket['state'] | null, boolean])[] = [
  ['a doubt that nobody looks at', { state: 'IN_DOUBT', dueAtMs: null }, null, true],
  ['a doubt whose ticket was closed', { state: 'IN_DOUBT', dueAtMs: null }, 'closed', true],
  ['a doubt whose read is due for ever', { state: 'IN_DOUBT', dueAtMs: 1 }, null, true],
  ['a ticket of a doubt that was settled', { state: 'FAILED', dueAtMs: null }, 'open', true],
  ['a doubt that waits for a person', { state: 'IN_DOUBT', dueAtMs: null }, 'open', false],
  ['a settled doubt whose ticket is closed', { state: 'SUCCEEDED', dueAtMs: null }, 'closed', false],
];

for (const [what, change, ticket, isWrong] of doubts)
  test(`at rest the rig ${isWrong ? 'notices' : 'accepts'} ${what}`, () => {
    const call = aCall({ ...change, id });
    const tickets = new Map(ticket === null ? [] : [[ticketIdOf(id, 'in_doubt'), made(ticket)]]);
    const found: string[] = [];
    const witness = {
      breaks: (invariant: string) => found.push(invariant),
      calls: new Map([[id, { path: ['IN_DOUBT'] }]]),
    };
    checkDoubts(
      { calls: new Map([[id, { call }]]), tickets } as never as MemoryState,
      true,
      witness as never as Witness,
    );
    assert.deepEqual(found, isWrong ? ['19'] : []);
  });

const made = (state: Ticket['state']): Ticket => aTicket({ call: id, reason: 'in_doubt', state });
