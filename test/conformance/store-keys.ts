/** Keys: unique by tenant, agent and key; they expire; a denied call never answers for one. */
import assert from 'node:assert/strict';

import type { Call } from '../../src/core/call/call.ts';
import type { KeyClaim } from '../../src/ports/store.ts';
import { aCall, commitOne, inserting, mustCommit, startMs, updating, verdictOf } from './store-fixtures.ts';
import { type Create, withStore } from './with-store.ts';

const keepMs = 1_000;

const claimFor = (call: Call, over: Partial<KeyClaim> = {}): KeyClaim => ({
  tenant: call.tenant,
  agent: call.agent,
  key: 'k',
  fingerprint: call.fingerprint,
  callId: call.id,
  keepMs,
  ...over,
});

const claiming = (call: Call, over: Partial<KeyClaim> = {}, atMs = startMs) =>
  inserting(call, [call.state as 'PREPARED'], { key: claimFor(call, over), atMs });

export function provesKeys(create: Create): void {
  const prove = withStore(create);

  prove('a key belongs to the first call that claims it', async (store) => {
    const [first, second] = [aCall(), aCall({ fingerprint: 'f2' })];
    await mustCommit(store, claiming(first));
    const result = await commitOne(store, claiming(second));
    assert.deepEqual(result, { kind: 'conflict', on: 'key', callId: first.id, fingerprint: 'f1' });
    assert.equal(await store.call(second.id), null);
    assert.deepEqual(await store.key('acme', 'clerk', 'k'), { callId: first.id, fingerprint: 'f1' });
  });

  prove('tenants and agents do not share keys', async (store) => {
    for (const who of [{}, { agent: 'other' }, { tenant: 'other' }]) await mustCommit(store, claiming(aCall(who)));
  });

  prove('a key is kept by the age of the store; then it is not found, and is replaced', async (store, { passes }) => {
    const [first, second] = [aCall(), aCall()];
    await mustCommit(store, claiming(first));
    passes(keepMs - 1);
    assert.equal((await store.key('acme', 'clerk', 'k'))?.callId, first.id);
    assert.equal(verdictOf(await commitOne(store, claiming(second))), 'key');
    passes(1);
    assert.equal(await store.key('acme', 'clerk', 'k'), null);
    await mustCommit(store, claiming(second));
    assert.deepEqual(await store.key('acme', 'clerk', 'k'), { callId: second.id, fingerprint: 'f1' });
  });

  prove(
    'no key is forgotten for the times that transitions tell, nor by opening the store again',
    async (store, home) => {
      const [first, second] = [aCall(), aCall()];
      await mustCommit(store, claiming(first));
      const farMs = startMs + 1_000 * 86_400_000;
      for (let batch = 0; batch < 3; batch++) await mustCommit(store, inserting(aCall(), undefined, { atMs: farMs }));
      assert.equal(verdictOf(await commitOne(store, claiming(second, {}, farMs))), 'key');
      await home.crash();
      const again = await home.open();
      assert.equal((await again.key('acme', 'clerk', 'k'))?.callId, first.id);
      assert.equal(verdictOf(await commitOne(again, claiming(second, {}, farMs))), 'key');
    },
  );

  prove('the age of a store goes on where its last owner left it', async (store, home) => {
    await mustCommit(store, claiming(aCall(), { keepMs: 9_000 }));
    home.passes(8_000);
    await store.close();
    const again = await home.open();
    assert.notEqual(await again.key('acme', 'clerk', 'k'), null);
    home.passes(1_000);
    assert.equal(await again.key('acme', 'clerk', 'k'), null);
  });

  prove('expired keys go away without hurting living ones', async (store, { passes }) => {
    const calls = Array.from({ length: 300 }, () => aCall());
    await store.commit(calls.map((call, index) => claiming(call, { key: `old-${index}` })));
    const living = aCall();
    await mustCommit(store, claiming(living, { keepMs: 9_000 }));
    passes(2_000);
    for (let batch = 0; batch < 10; batch++) await mustCommit(store, inserting(aCall()));
    assert.equal(await store.key('acme', 'clerk', 'old-7'), null);
    assert.deepEqual((await store.key('acme', 'clerk', 'k'))?.callId, living.id);
  });

  prove('a denied call claims no key and is not stopped by one', async (store) => {
    const denied = aCall({ state: 'DENIED', dueAtMs: null });
    await mustCommit(store, claiming(denied));
    assert.equal(await store.key('acme', 'clerk', 'k'), null);
    const running = aCall();
    await mustCommit(store, claiming(running));
    await mustCommit(store, claiming(aCall({ state: 'DENIED', dueAtMs: null })));
    assert.equal((await store.key('acme', 'clerk', 'k'))?.callId, running.id);
  });

  prove('a call may claim a key when it moves, and claim its own again', async (store) => {
    const call = aCall({ state: 'AWAITING_APPROVAL' });
    await mustCommit(store, inserting(call));
    const prepared = { ...call, state: 'PREPARED' as const };
    await mustCommit(store, updating(call, { state: 'PREPARED' }, { key: claimFor(call) }));
    await mustCommit(store, updating(prepared, { state: 'DISPATCHED' }, { key: claimFor(call, { keepMs: 5_000 }) }));
    assert.equal((await store.key('acme', 'clerk', 'k'))?.callId, call.id);
  });

  prove('a claim goes with its call: who loses the call does not keep the key', async (store) => {
    const call = aCall();
    await mustCommit(store, inserting(call));
    assert.equal(verdictOf(await commitOne(store, claiming(call))), 'call');
    assert.equal(await store.key('acme', 'clerk', 'k'), null);
    const stale = updating({ ...call, attempt: 9 }, { state: 'DISPATCHED' }, { key: claimFor(call) });
    assert.equal(verdictOf(await commitOne(store, stale)), 'call');
    assert.equal(await store.key('acme', 'clerk', 'k'), null);
  });

  prove('of many equal claims at once exactly one wins, and the others hear its call', async (store) => {
    const calls = Array.from({ length: 50 }, () => aCall());
    const results = await Promise.all(calls.map((call) => commitOne(store, claiming(call))));
    const winner = calls[results.findIndex(({ kind }) => kind === 'committed')] as Call;
    const losers = results.filter((result) => result.kind === 'conflict' && result.on === 'key');
    assert.equal(losers.length, 49);
    for (const loser of losers) assert.equal('callId' in loser && loser.callId, winner.id);
  });
}
