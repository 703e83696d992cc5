/** Accounts: taken only if it fits, given back and charged exactly, never passed at any moment. */
import assert from 'node:assert/strict';

import type { Call } from '../../src/core/call/call.ts';
import type { Store } from '../../src/ports/store.ts';
import { aCall, aTransition, commitOne, inserting, mustCommit, verdictOf } from './store-fixtures.ts';
import { type Create, withStore } from './with-store.ts';

const on = { tenant: 'acme', account: 'usd' };
const taking = (amount: number, limit = 100) => aTransition({ reserve: [{ ...on, amount, limit }] });
const settling = (release: number, charge: number) => aTransition({ settle: [{ ...on, release, charge }] });
/** How much is left of a limit, found by asking: the port shows no balances. */
const fits = async (store: Store, amount: number, limit = 100) =>
  verdictOf(await commitOne(store, taking(amount, limit)));

export function provesAccounts(create: Create): void {
  const prove = withStore(create);

  prove('under a hundred concurrent commits exactly what fits is taken', async (store) => {
    const calls = Array.from({ length: 100 }, () => aCall());
    const results = await Promise.all(
      calls.map((call) =>
        commitOne(store, inserting(call, ['PREPARED'], { reserve: [{ ...on, amount: 3, limit: 100 }] })),
      ),
    );
    assert.equal(results.filter(({ kind }) => kind === 'committed').length, 33);
    for (const [index, result] of results.entries()) {
      if (result.kind === 'committed') continue;
      assert.deepEqual(result, { kind: 'conflict', on: 'reserve', account: 'usd' });
      // A refusal takes nothing: no call, no record.
      assert.equal(await store.call((calls[index] as Call).id), null);
    }
    assert.equal(await fits(store, 2), 'reserve');
    assert.equal(await fits(store, 1), 'committed');
  });

  prove('what was held is given back and what was spent stays charged', async (store) => {
    await mustCommit(store, taking(100));
    await mustCommit(store, settling(100, 40));
    assert.equal(await fits(store, 61), 'reserve');
    assert.equal(await fits(store, 60), 'committed');
    await mustCommit(store, settling(60, 0));
    assert.equal(await fits(store, 60), 'committed');
  });

  prove('a charge beyond what was held counts in full', async (store) => {
    await mustCommit(store, taking(10));
    await mustCommit(store, settling(10, 95));
    assert.equal(await fits(store, 6), 'reserve');
    assert.equal(await fits(store, 5), 'committed');
  });

  prove('several reservations are all taken or none', async (store) => {
    const two = aTransition({
      reserve: [
        { ...on, amount: 60, limit: 100 },
        { ...on, account: 'day', amount: 11, limit: 10 },
      ],
    });
    assert.deepEqual(await commitOne(store, two), { kind: 'conflict', on: 'reserve', account: 'day' });
    assert.equal(await fits(store, 100), 'committed');
    const twice = aTransition({
      reserve: [
        { ...on, account: 'week', amount: 6, limit: 10 },
        { ...on, account: 'week', amount: 6, limit: 10 },
      ],
    });
    assert.equal(verdictOf(await commitOne(store, twice)), 'reserve');
  });

  prove('accounts are separate by tenant and by name', async (store) => {
    await mustCommit(store, taking(100));
    await mustCommit(store, aTransition({ reserve: [{ tenant: 'other', account: 'usd', amount: 100, limit: 100 }] }));
    await mustCommit(store, aTransition({ reserve: [{ tenant: 'acme', account: 'eur', amount: 100, limit: 100 }] }));
  });

  prove('amounts that are no whole numbers, or more than is held, are refused', async (store) => {
    for (const amount of [-1, 0.5]) assert.equal(await fits(store, amount), 'illegal');
    assert.equal(verdictOf(await commitOne(store, settling(1, 0))), 'illegal');
    assert.equal(await fits(store, 100), 'committed');
  });

  prove('the same token reserves once', async (store) => {
    const take = taking(60);
    await mustCommit(store, take);
    await mustCommit(store, take);
    assert.equal(await fits(store, 40), 'committed');
  });
}
