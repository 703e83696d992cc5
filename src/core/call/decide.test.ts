import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCatalogue, aRequest, aTool, facts } from '../../../test/support/builders.ts';
import type { SessionId } from './call.ts';
import { baseLadder, decide, describeLadder } from './decide.ts';
import type { Facts } from '../gates/facts.ts';
import { gateNames } from '../gates/gate.ts';

const strict = aTool({ input: { kind: 'schema', check: () => [{ path: '/amount', expected: 'number', got: 'x' }] } });
const checked = aTool({ input: { kind: 'validator' } });
const standing = { found: true, id: 'ses_1' as SessionId, state: 'open', seq: 4, reason: null, step: null } as const;

const cases: readonly (readonly [string, object, Partial<Facts>, object])[] = [
  ['runs a declared tool with fitting arguments', {}, {}, { kind: 'run' }],
  [
    'is not ready while it starts',
    {},
    { readiness: { ready: false, doing: 'starting', retryAfterSeconds: 2 } },
    { gate: 'ready', code: 'DAEMON_NOT_READY' },
  ],
  ['is busy at the limit of calls under way', {}, { inFlight: { now: 10, max: 10 } }, { gate: 'ready', code: 'Busy' }],
  [
    'refuses an unknown session',
    { session: 'ses_x' },
    { session: { found: false, why: 'unknown' } },
    { gate: 'session', code: 'UnknownSession' },
  ],
  [
    'refuses a cancelled session',
    {},
    { session: { ...standing, state: 'cancelled' } },
    { gate: 'session', code: 'SessionCancelled' },
  ],
  ['refuses a cancelled turn', { turn: 't' }, { turnCancelled: true }, { gate: 'session', code: 'TurnCancelled' }],
  ['refuses a stale sequence', { expectedSeq: 3 }, { session: standing }, { gate: 'session', code: 'StaleSequence' }],
  ['accepts the current sequence', { expectedSeq: 4 }, { session: standing }, { kind: 'run' }],
  ['refuses a tool nobody declared', { tool: 'payy' }, {}, { gate: 'known', code: 'UnknownAction' }],
  ['refuses arguments that do not fit', {}, { catalogue: aCatalogue(strict) }, { gate: 'input', code: 'InputInvalid' }],
  [
    'asks for what the validator says',
    {},
    { catalogue: aCatalogue(checked) },
    { kind: 'need', gate: 'input', fact: 'arguments' },
  ],
  [
    'refuses what the validator refuses',
    {},
    { catalogue: aCatalogue(checked), arguments: { ok: false, errors: [{ path: '/a', expected: 'b', got: null }] } },
    { gate: 'input', code: 'InputInvalid' },
  ],
];

for (const [behaviour, request, change, expected] of cases) {
  test(behaviour, () => {
    const decision = decide(aRequest(request), facts(change));
    const shown = {
      kind: decision.kind,
      ...('gate' in decision ? { gate: decision.gate } : {}),
      ...('refusal' in decision ? { code: decision.refusal.code } : {}),
      ...('fact' in decision ? { fact: decision.fact } : {}),
    };
    assert.deepEqual({ ...shown, ...expected }, shown);
  });
}

test('[C1-decide-1] asks for the session first, and for the turn only if there is one', () => {
  const { session: _session, ...bare } = facts();
  assert.deepEqual(decide(aRequest(), bare), { kind: 'need', gate: 'session', fact: 'session' });
  assert.deepEqual(decide(aRequest({ turn: 't' }), facts()), { kind: 'need', gate: 'session', fact: 'turnCancelled' });
});

test('[C1-gates-3] the first gate that does not pass speaks: an unknown tool in an unknown session is an unknown session', () => {
  const decision = decide(aRequest({ tool: 'nope' }), facts({ session: { found: false, why: 'unknown' } }));
  assert.ok('gate' in decision && decision.gate === 'session');
});

test('what the validator made of the arguments is what runs', () => {
  const decision = decide(
    aRequest(),
    facts({ catalogue: aCatalogue(checked), arguments: { ok: true, args: { a: 1 } } }),
  );
  assert.ok(decision.kind === 'run');
  assert.deepEqual(decision.args, { a: 1 });
});

test('an unknown action names the near one', () => {
  const decision = decide(
    aRequest({ tool: 'tako_order' }),
    facts({ catalogue: aCatalogue(aTool({ name: 'take_order' })) }),
  );
  assert.ok(decision.kind === 'refuse' && decision.refusal.error === 'unknown_action');
  assert.equal(decision.refusal.did_you_mean, 'take_order');
  assert.deepEqual(decision.refusal.known_actions, ['take_order']);
});

test('the name that a tool has over MCP names that tool, however near another is', () => {
  const decision = decide(
    aRequest({ tool: 'a_b__c' }),
    facts({ catalogue: aCatalogue(aTool({ name: 'a_b/_c' }), aTool({ name: 'a_b/c' })) }),
  );
  assert.ok(decision.kind === 'refuse' && decision.refusal.error === 'unknown_action');
  assert.equal(decision.refusal.did_you_mean, 'a_b/c');
  assert.match(decision.refusal.message, /Did you mean 'a_b\/c'\?$/);
});

test('every gate of the contract is listed in order, and those that are absent are said to be', () => {
  const rungs = describeLadder(baseLadder, false);
  assert.deepEqual(
    rungs.map((rung) => rung.gate),
    gateNames,
  );
  assert.deepEqual(
    rungs.filter((rung) => rung.configured).map((rung) => rung.gate),
    ['ready', 'session', 'known', 'input', 'fence', 'evidence'],
  );
});

test('what a validator says reaches the agent without its secrets, and bounded', () => {
  const errors = [{ path: `/${'x'.repeat(5_000)}`, expected: 'no: password=hunter2', got: null, said: true }] as const;
  const decision = decide(aRequest(), facts({ catalogue: aCatalogue(checked), arguments: { ok: false, errors } }));
  const text = JSON.stringify(decision);
  assert.ok(!text.includes('hunter2'), text.slice(0, 300));
  assert.ok(text.length < 4_000, String(text.length));
});
