/**
 * Accounts and buckets: taken only if it fits, given back once and charged exactly, never passed at any moment. What a
 * call holds is found by its call alone.
 */
import assert from 'node:assert/strict';

import type { ApprovalId } from '../../src/core/approval/approval.ts';
import type { Call, CallId } from '../../src/core/call/call.ts';
import type { Settlement, Store, Transition } from '../../src/ports/store.ts';
import { aCall, aTransition, commitOne, inserting, mustCommit, verdictOf } from './store-fixtures.ts';
import { type Create, withStore } from './with-store.ts';

const on = { tenant: 'acme', account: 'usd' };
const holding = (amount: number, limit: number | null = 100, call = aCall(), account = 'usd') =>
  inserting(call, ['PREPARED'], { reserve: [{ tenant: 'acme', account, amount, limit }] });
const settling = (call: CallId, spent: Settlement['spent']) => aTransition({ settle: [{ call, spent }] });
const fits = async (store: Store, amount: number, limit = 100) =>
  verdictOf(await commitOne(store, holding(amount, limit)));
const balance = async (store: Store, account = 'usd') => {
  const { held, settled } = await store.account('acme', account);
  return [settled, held];
};

const second = 1_000_000;
const bucket = { tenant: 'acme', bucket: 'b', intervalMicros: 6 * second, burst: 2, isForced: false };
const taking = (atMs: number, more: Partial<Transition['tokens'][number]> = {}) =>
  aTransition({ atMs, tokens: [{ ...bucket, ...more }] });

export function provesAccounts(create: Create): void {
  const prove = withStore(create);
  provesHolds(prove);
  provesOnce(prove);
  provesSeveral(prove);
  provesChanges(prove);
  provesBuckets(prove);
}

type Prove = ReturnType<typeof withStore>;

function provesHolds(prove: Prove): void {
  prove('under a hundred concurrent commits exactly what fits is taken', async (store) => {
    const calls = Array.from({ length: 100 }, () => aCall());
    const results = await Promise.all(calls.map((call) => commitOne(store, holding(3, 100, call))));
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
    const call = aCall();
    await mustCommit(store, holding(100, 100, call));
    assert.deepEqual(await store.holdsOf(call.id), [{ account: 'usd', amount: 100 }]);
    await mustCommit(store, settling(call.id, [{ account: 'usd', amount: 40 }]));
    assert.deepEqual(await store.holdsOf(call.id), []);
    assert.deepEqual(await balance(store), [40, 0]);
    assert.equal(await fits(store, 61), 'reserve');
    assert.equal(await fits(store, 60), 'committed');
  });

  prove('a charge beyond what was held counts in full', async (store) => {
    const call = aCall();
    await mustCommit(store, holding(10, 100, call));
    await mustCommit(store, settling(call.id, [{ account: 'usd', amount: 95 }]));
    assert.equal(await fits(store, 6), 'reserve');
    assert.equal(await fits(store, 5), 'committed');
  });
}

function provesOnce(prove: Prove): void {
  prove('what a call holds is given back once, however often it is settled', async (store) => {
    const [one, other] = [aCall(), aCall()];
    await mustCommit(store, holding(30, 100, one));
    await mustCommit(store, holding(30, 100, other));
    await mustCommit(store, settling(one.id, 'nothing'));
    await mustCommit(store, settling(one.id, 'nothing'));
    await mustCommit(store, settling(one.id, 'held'));
    assert.deepEqual(await balance(store), [0, 30]);
    await mustCommit(store, settling(other.id, 'held'));
    assert.deepEqual(await balance(store), [30, 0]);
  });

  prove(
    'a transition that settles a call twice gives back once, and nothing that another call takes',
    async (store) => {
      const [one, other] = [aCall(), aCall()];
      await mustCommit(store, holding(30, 100, one));
      const twice = [
        { call: one.id, spent: 'held' },
        { call: one.id, spent: 'held' },
      ] as const;
      await mustCommit(store, { ...holding(20, 100, other), settle: twice });
      assert.deepEqual(await balance(store), [30, 20]);
      assert.deepEqual(await store.holdsOf(other.id), [{ account: 'usd', amount: 20 }]);
    },
  );

  prove('what a call reserves of one account in parts is one amount', async (store) => {
    const call = aCall();
    const part = { ...on, amount: 10, limit: 100 };
    await mustCommit(store, inserting(call, ['PREPARED'], { reserve: [part, part] }));
    assert.deepEqual(await store.holdsOf(call.id), [{ account: 'usd', amount: 20 }]);
    await mustCommit(store, settling(call.id, [{ account: 'usd', amount: 5 }]));
    assert.deepEqual(await balance(store), [5, 0]);
  });

  prove('what is held and given back by one transition leaves nothing', async (store) => {
    const call = aCall();
    const held = holding(10, 100, call);
    await mustCommit(store, { ...held, settle: [{ call: call.id, spent: 'held' }] });
    assert.deepEqual(await balance(store), [10, 0]);
    assert.deepEqual(await store.holdsOf(call.id), []);
  });
}

function provesSeveral(prove: Prove): void {
  prove('several reservations are all taken or none, and settled each on its own', async (store) => {
    const call = aCall();
    const day = { tenant: 'acme', account: 'day', amount: 11 };
    const two = (limit: number) =>
      inserting(call, ['PREPARED'], {
        reserve: [
          { ...on, amount: 60, limit: 100 },
          { ...day, limit },
        ],
      });
    assert.deepEqual(await commitOne(store, two(10)), { kind: 'conflict', on: 'reserve', account: 'day' });
    assert.deepEqual(await balance(store), [0, 0]);
    await mustCommit(store, two(11));
    await mustCommit(store, settling(call.id, [{ account: 'day', amount: 1 }]));
    assert.deepEqual(await balance(store), [60, 0]);
    assert.deepEqual(await balance(store, 'day'), [1, 0]);
    const week = { tenant: 'acme', account: 'week', amount: 6, limit: 10 };
    assert.equal(
      verdictOf(await commitOne(store, inserting(aCall(), ['PREPARED'], { reserve: [week, week] }))),
      'reserve',
    );
  });

  prove('accounts are separate by tenant and by name', async (store) => {
    await mustCommit(store, holding(100));
    await mustCommit(store, holding(100, 100, aCall(), 'eur'));
    const elsewhere = { tenant: 'other', account: 'usd', amount: 100, limit: 100 };
    await mustCommit(store, inserting(aCall({ tenant: 'other' }), ['PREPARED'], { reserve: [elsewhere] }));
  });
}

function provesChanges(prove: Prove): void {
  prove('what is allowed beyond the limit counts at the moment of the commit, and no longer', async (store) => {
    await mustCommit(store, holding(100));
    const allow = (amount: number) => aTransition({ accounts: [{ kind: 'allow', ...on, amount }] });
    await mustCommit(store, allow(20));
    assert.equal(await fits(store, 15), 'committed');
    await mustCommit(store, allow(0));
    assert.equal(await fits(store, 1), 'reserve');
    assert.equal(await fits(store, 0), 'reserve');
  });

  prove('what is taken whatever is left passes the limit', async (store) => {
    await mustCommit(store, holding(100));
    await mustCommit(store, holding(50, null));
    assert.deepEqual(await balance(store), [0, 150]);
  });

  prove('an account is asked for more once at a time', async (store) => {
    const ask = (approval: string, expect: string | null) =>
      aTransition({
        accounts: [{ kind: 'ask', ...on, approval: approval as ApprovalId, expect: expect as ApprovalId | null }],
      });
    await mustCommit(store, ask('apr_1', null));
    assert.deepEqual(await commitOne(store, ask('apr_2', null)), { kind: 'conflict', on: 'account', account: 'usd' });
    assert.equal((await store.account('acme', 'usd')).approval, 'apr_1');
    await mustCommit(store, ask('apr_2', 'apr_1'));
    assert.equal((await store.account('acme', 'usd')).approval, 'apr_2');
  });

  prove('what was spent is corrected only by who has seen it', async (store) => {
    const call = aCall();
    await mustCommit(store, holding(70, 100, call));
    await mustCommit(store, settling(call.id, 'held'));
    const correct = (settled: number, expect: number) =>
      aTransition({ accounts: [{ kind: 'correct', ...on, settled, expect }] });
    assert.equal(verdictOf(await commitOne(store, correct(0, 60))), 'account');
    await mustCommit(store, correct(5, 70));
    assert.deepEqual(await balance(store), [5, 0]);
  });

  prove('amounts that are no whole numbers, or that no call holds, are refused', async (store) => {
    for (const amount of [-1, 0.5]) assert.equal(await fits(store, amount), 'illegal');
    assert.equal(
      verdictOf(await commitOne(store, aTransition({ reserve: [{ ...on, amount: 1, limit: 9 }] }))),
      'illegal',
    );
    const spent = [{ account: 'usd', amount: -1 }];
    assert.equal(verdictOf(await commitOne(store, settling(aCall().id, spent))), 'illegal');
    assert.equal(verdictOf(await commitOne(store, taking(0, { burst: 0 }))), 'illegal');
    assert.equal(await fits(store, 100), 'committed');
  });

  prove('the same token reserves once', async (store) => {
    const take = holding(60);
    await mustCommit(store, take);
    await mustCommit(store, take);
    assert.equal(await fits(store, 40), 'committed');
  });
}

function provesBuckets(prove: Prove): void {
  prove('a bucket gives its tokens, then one at a time as they come back', async (store) => {
    const at = 1_700_000_000_000;
    await mustCommit(store, taking(at));
    await mustCommit(store, taking(at));
    assert.deepEqual(await commitOne(store, taking(at + 5_999)), { kind: 'conflict', on: 'rate', bucket: 'b' });
    await mustCommit(store, taking(at + 6_000));
    assert.equal(verdictOf(await commitOne(store, taking(at + 6_000))), 'rate');
    assert.equal(await store.bucket('acme', 'b'), (at + 18_000) * 1_000);
    assert.equal(await store.bucket('other', 'b'), null);
  });

  prove('what is forced takes no token that is not there', async (store) => {
    const at = 1_700_000_000_000;
    for (let taken = 0; taken < 5; taken++) await mustCommit(store, taking(at, { isForced: true }));
    assert.equal(verdictOf(await commitOne(store, taking(at + 5_999))), 'rate');
    await mustCommit(store, taking(at + 6_000));
  });
}
