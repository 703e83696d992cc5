import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCatalogue, aRequest, aTool, facts } from '../../../test/support/builders.ts';
import { answerOf, aPolicyFact, inShop } from '../../../test/support/gate-facts.ts';
import type { Facts } from './facts.ts';
import { known } from './known.ts';

const unlisted = [{ name: 'mail', retryAfterSeconds: 3 }];
const shielded = aPolicyFact([['permit', 'pay']]);

const cases: readonly (readonly [string, string, Facts, string])[] = [
  ['passes a tool that is declared', 'pay', facts(), 'pass'],
  ['passes a tool that policy denies: that is for policy to say', 'pay', facts({ policy: aPolicyFact([]) }), 'pass'],
  ['refuses a tool that nobody declared', 'fly', facts(), 'refuse UnknownAction'],
  ['refuses an action that the workflow does not have', 'fly', inShop(), 'refuse UnknownAction'],
  ['asks to wait for a server that was never reached', 'mail/send', facts({ unlisted }), 'refuse ResourceBusy'],
  [
    'tells nothing of such a server to an agent that may call nothing of it',
    'mail/send',
    facts({ unlisted, policy: shielded }),
    'refuse UnknownAction',
  ],
  [
    'does not wait for a server inside a workflow',
    'mail/send',
    inShop(undefined, { unlisted }),
    'refuse UnknownAction',
  ],
];

for (const [behaviour, tool, given, expected] of cases)
  test(behaviour, () => assert.equal(answerOf(known, { tool }, given), expected));

test('the next move is the near name, in a workflow only if it is legal now', () => {
  const movesFor = (tool: string, given: Facts) => {
    const answer = known.check(aRequest({ tool }), given, []);
    assert.ok(answer.kind === 'refuse');
    return answer.refusal.resolution;
  };
  const tools = aCatalogue(aTool(), aTool({ name: 'look' }));
  assert.deepEqual(movesFor('payy', facts({ catalogue: tools })), { type: 'choose_action', actions: ['pay'] });
  assert.deepEqual(movesFor('lookk', inShop()), { type: 'choose_action', actions: ['look'] });
  assert.deepEqual(movesFor('shipp', inShop()), { type: 'choose_action', actions: ['pay', 'look'] });
});
