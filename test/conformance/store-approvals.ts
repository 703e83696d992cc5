/** Approvals: opened once for equal calls, moved along legal states by whoever saw the last version, and used once. */
import assert from 'node:assert/strict';

import {
  type Approval,
  approvalStates,
  type ApprovalState,
  legalApprovalMoves,
} from '../../src/core/approval/approval.ts';
import type { CallState } from '../../src/core/taxonomy.ts';
import type { ApprovalWrite, Store, Transition } from '../../src/ports/store.ts';
import { anApproval, approving, becoming, mustOpenApproval, openingOf, states } from './approval-fixtures.ts';
import {
  aCall,
  aRecord,
  aSession,
  commitOne,
  inserting,
  mustCommit,
  nextId,
  opening,
  owner,
  startMs,
  stepping,
  updating,
  verdictOf,
} from './store-fixtures.ts';
import { type Create, withStore } from './with-store.ts';

/** Brings one from pending to a state, each step by itself. */
async function brought(store: Store, state: ApprovalState): Promise<Approval> {
  const opened = await mustOpenApproval(store);
  if (state === 'pending') return opened;
  const between = state === 'used' ? await moved(store, opened, 'granted') : opened;
  return moved(store, between, state);
}

async function moved(store: Store, approval: Approval, state: ApprovalState): Promise<Approval> {
  const write = becoming(approval, { state });
  await mustCommit(store, approving([write]));
  return write.approval;
}

export function provesApprovals(create: Create): void {
  const prove = withStore(create);

  prove('one that was opened is found whole, and each change makes the next version', async (store) => {
    const opened = await mustOpenApproval(store, { terms: { ...anApproval().terms, roles: ['finance', 'legal'] } });
    assert.deepEqual(await store.approval(opened.id), opened);
    const votes = [{ by: 'ada', atMs: startMs + 5, saw: 'shown' }];
    const decided = { by: 'ada', atMs: startMs + 5, reason: 'it is "fine" – ✓' };
    const edit = { by: 'ada', argsText: '{"amount":5}', subject: 'edited' };
    const granted = becoming(opened, { state: 'granted', votes, decided, edit, expiresAtMs: opened.expiresAtMs + 1 });
    await mustCommit(store, approving([granted]));
    assert.deepEqual(await store.approval(opened.id), granted.approval);
    assert.equal(granted.approval.version, 2);
    assert.equal(await store.approval('apr_none' as Approval['id']), null);
  });

  for (const state of states.filter((name) => approvalStates[name].isLive))
    prove(`an equal call shares the one that is ${state}`, async (store) => {
      const live = await brought(store, state);
      const again = anApproval({ subject: live.subject });
      assert.deepEqual(await commitOne(store, openingOf(again)), { kind: 'conflict', on: 'approval', found: live });
      assert.equal(await store.approval(again.id), null);
      for (const other of [{ agent: 'robot' }, { tenant: 'other' }, { subject: nextId('subject') }])
        await mustCommit(store, openingOf(anApproval({ subject: live.subject, ...other })));
    });

  for (const state of states.filter((name) => !approvalStates[name].isLive))
    prove(`one that is ${state} does not stand in the way of another`, async (store) => {
      const over = await brought(store, state);
      await mustOpenApproval(store, { subject: over.subject });
    });

  prove('an id is opened once', async (store) => {
    const over = await brought(store, 'void');
    const again = anApproval({ id: over.id });
    assert.deepEqual(await commitOne(store, openingOf(again)), { kind: 'conflict', on: 'approval', found: over });
  });

  prove('exactly the legal moves are made, from every state to every other', async (store) => {
    for (const from of states)
      for (const to of states) {
        const approval = await brought(store, from);
        const result = await commitOne(store, approving([becoming(approval, { state: to })]));
        const legal = legalApprovalMoves[from].includes(to);
        assert.equal(verdictOf(result), legal ? 'committed' : 'illegal', `${from} → ${to}`);
        assert.equal((await store.approval(approval.id))?.state, legal ? to : from);
      }
  });

  prove('what contradicts itself is illegal, and changes nothing', async (store) => {
    const pending = await mustOpenApproval(store);
    const next = becoming(pending, { state: 'granted' });
    const fresh = anApproval();
    const first: ApprovalWrite = { approval: fresh, expect: null, maxPending: 9 };
    const wrong: readonly (readonly [string, ApprovalWrite])[] = [
      ['a version that does not move', { ...next, approval: { ...next.approval, version: 1 } }],
      ['a version that jumps', { ...next, approval: { ...next.approval, version: 3 } }],
      ['a limit with a change', { ...next, maxPending: 9 }],
      ['another tenant', { ...next, approval: { ...next.approval, tenant: 'other' } }],
      ['another agent', { ...next, approval: { ...next.approval, agent: 'robot' } }],
      ['another subject', { ...next, approval: { ...next.approval, subject: 'other' } }],
      ['another time of opening', { ...next, approval: { ...next.approval, openedAtMs: 0 } }],
      ['half a millisecond', { ...next, approval: { ...next.approval, expiresAtMs: 0.5 } }],
      ['an opening as the second version', { ...first, approval: { ...fresh, version: 2 } }],
      ['an opening that is granted', { ...first, approval: { ...fresh, state: 'granted' } }],
      ['an opening without a limit', { ...first, maxPending: null }],
      ['an opening below no limit', { ...first, maxPending: -1 }],
    ];
    for (const [what, write] of wrong)
      assert.equal(verdictOf(await commitOne(store, approving([write]))), 'illegal', what);
    const many = Array.from({ length: 17 }, () => ({ ...first, approval: anApproval() }));
    assert.equal(verdictOf(await commitOne(store, approving(many))), 'illegal', 'too many at once');
    assert.deepEqual(await store.listApprovals({ tenant: 'acme', limit: 99 }), [pending]);
  });

  prove('whoever saw an older version is told of the last one, and whoever saw none of nothing', async (store) => {
    const opened = await mustOpenApproval(store);
    const voted = await moved(store, opened, 'pending');
    const late = await commitOne(store, approving([becoming(opened, { state: 'denied' })]));
    assert.deepEqual(late, { kind: 'conflict', on: 'approval', found: voted });
    const none = await commitOne(store, approving([becoming(anApproval(), { state: 'denied' })]));
    assert.deepEqual(none, { kind: 'conflict', on: 'approval', found: null });
  });

  prove('an agent has so many pending and no more; what was decided makes room', async (store) => {
    const first = await mustOpenApproval(store, {}, 2);
    await mustOpenApproval(store, {}, 2);
    const third = openingOf(anApproval(), 2);
    assert.deepEqual(await commitOne(store, third), { kind: 'conflict', on: 'approval', found: null });
    assert.equal(await store.pendingApprovals('acme', 'clerk'), 2);
    await mustOpenApproval(store, { agent: 'robot' }, 2);
    await mustOpenApproval(store, { tenant: 'other' }, 2);
    await moved(store, first, 'granted');
    assert.equal(await store.pendingApprovals('acme', 'clerk'), 1);
    await mustCommit(store, third);
    assert.equal(verdictOf(await commitOne(store, openingOf(anApproval({ agent: 'nobody' }), 0))), 'approval');
  });

  prove('of a hundred who open at once in many batches no more than the limit get in', async (store) => {
    const all = Array.from({ length: 100 }, () => commitOne(store, openingOf(anApproval(), 7)));
    const verdicts = (await Promise.all(all)).map(verdictOf);
    assert.equal(verdicts.filter((verdict) => verdict === 'committed').length, 7);
    assert.equal(await store.pendingApprovals('acme', 'clerk'), 7);
  });

  prove('one transition voids the old one and opens the new one for the same call', async (store) => {
    const old = await mustOpenApproval(store, {}, 1);
    const fresh = anApproval({ subject: old.subject });
    const open: ApprovalWrite = { approval: fresh, expect: null, maxPending: 1 };
    const close = becoming(old, { state: 'void' });
    assert.equal(verdictOf(await commitOne(store, approving([open, close]))), 'approval', 'they apply in order');
    await mustCommit(store, approving([close, open]));
    assert.deepEqual(await store.approvalOf('acme', 'clerk', old.subject), fresh);
    assert.equal((await store.approval(old.id))?.state, 'void');
    assert.equal(await store.pendingApprovals('acme', 'clerk'), 1);
  });

  prove('several of one transition are examined as if those before were written', async (store) => {
    const subject = nextId('subject');
    const two = [anApproval({ subject }), anApproval({ subject })] as const;
    const open = (approval: Approval, maxPending = 9): ApprovalWrite => ({ approval, expect: null, maxPending });
    const twice = await commitOne(store, approving([open(two[0]), open(two[1])]));
    assert.deepEqual(twice, { kind: 'conflict', on: 'approval', found: two[0] });
    const full = await commitOne(store, approving([open(anApproval(), 1), open(anApproval(), 1)]));
    assert.deepEqual(full, { kind: 'conflict', on: 'approval', found: null });
    assert.equal(await store.pendingApprovals('acme', 'clerk'), 0, 'all or none');
    const granted = becoming(two[0], { state: 'granted' });
    const used = becoming(granted.approval, { state: 'used' });
    await mustCommit(store, approving([open(two[0]), granted, used, open(two[1], 1)]));
    assert.deepEqual(await store.approval(two[0].id), used.approval);
    assert.deepEqual(await store.approval(two[1].id), two[1]);
    const leap = await commitOne(store, approving([becoming(two[1], { state: 'granted' }), becoming(two[1], {})]));
    assert.equal(verdictOf(leap), 'approval', 'the second has not seen the first');
    assert.deepEqual(await store.approval(two[1].id), two[1]);
  });

  prove('a later transition of the batch that is refused takes nothing of the earlier ones back', async (store) => {
    const [one, two] = [anApproval(), anApproval()];
    const grant = approving([becoming(one, { state: 'granted' })]);
    const deny = approving([becoming(one, { state: 'denied' })]);
    const results = await store.commit([openingOf(one), openingOf(two), grant, deny, openingOf(one)]);
    assert.deepEqual(results.map(verdictOf), ['committed', 'committed', 'committed', 'approval', 'approval']);
    assert.equal((await store.approval(one.id))?.state, 'granted');
    assert.deepEqual(await store.approval(two.id), two);
  });

  prove('the same token again is the same act, also without a call', async (store) => {
    const approval = anApproval();
    const open = openingOf(approval);
    const first = await mustCommit(store, open);
    assert.deepEqual(await mustCommit(store, open), first);
    const vote = approving([becoming(approval, { state: 'pending' })]);
    const results = await store.commit([vote, vote, vote]);
    assert.deepEqual(results.map(verdictOf), ['committed', 'committed', 'committed']);
    assert.equal((await store.approval(approval.id))?.version, 2);
  });

  prove('what else the transition carries is refused with it, and the call speaks first', async (store) => {
    const session = aSession();
    await mustCommit(store, opening(session));
    const approval = await mustOpenApproval(store);
    const stale = [{ ...becoming(approval, { state: 'denied' }), approval: { ...approval, version: 8 }, expect: 7 }];
    const call = aCall({ session: session.id, key: 'k1' });
    const key = {
      tenant: 'acme',
      agent: 'clerk',
      key: 'k1',
      fingerprint: 'f1',
      callId: call.id,
      keepMs: 1_000,
    };
    const reserve = [{ tenant: 'acme', account: 'money', amount: 5, limit: 5 }];
    const extra = { approvals: stale, key, reserve, session: stepping(session.id, { advance: true }) };
    const blobs = [{ hash: 'h', text: 't' }];
    assert.equal(verdictOf(await commitOne(store, inserting(call, undefined, { ...extra, blobs }))), 'approval');
    assert.equal(await store.call(call.id), null);
    assert.equal(await store.key('acme', 'clerk', 'k1'), null);
    assert.equal(await store.blob('h'), null);
    assert.equal((await store.session(session.id))?.seq, 0);
    const over: Partial<Transition> = {
      ...extra,
      reserve: [{ tenant: 'acme', account: 'money', amount: 6, limit: 5 }],
    };
    assert.equal(verdictOf(await commitOne(store, inserting(call, undefined, over))), 'reserve');
    const shut = { ...extra, session: stepping(session.id, { expectSeq: 3 }) };
    assert.equal(verdictOf(await commitOne(store, inserting(call, undefined, shut))), 'session');
    await mustCommit(store, inserting(call, undefined, { reserve }));
    assert.equal(verdictOf(await commitOne(store, inserting(call, undefined, extra))), 'call');
  });

  prove('a thousand who use it at once are one effect', async (store) => {
    const granted = await moved(store, await mustOpenApproval(store), 'granted');
    const uses = Array.from({ length: 1_000 }, () => {
      const call = aCall({ state: 'DISPATCHED', attempt: 1, owner });
      const path: CallState[] = ['PREPARED', 'DISPATCHED'];
      const approvals = [becoming({ ...granted, callId: call.id }, { state: 'used' })];
      const used = aRecord({ kind: 'approval_used', call: call.id });
      const { records } = inserting(call, path);
      return { call, transition: inserting(call, path, { approvals, records: [...records, used] }) };
    });
    const results = await Promise.all(uses.map(({ transition }) => commitOne(store, transition)));
    const won = uses.filter((_, index) => results[index]?.kind === 'committed');
    assert.equal(won.length, 1);
    assert.equal((await store.approval(granted.id))?.callId, won[0]?.call.id);
    assert.equal((await store.listCalls({ limit: 2_000 })).length, 1);
  });

  prove('the call that waited and its approval move together, or neither does', async (store) => {
    const call = aCall({ state: 'AWAITING_APPROVAL' });
    const approval = anApproval({ callId: call.id });
    const open: ApprovalWrite = { approval, expect: null, maxPending: 9 };
    await mustCommit(store, inserting(call, undefined, { approvals: [open] }));
    const granted = await moved(store, approval, 'granted');
    const use = updating(call, { state: 'PREPARED' }, { approvals: [becoming(granted, { state: 'used' })] });
    const revoke = approving([becoming(granted, { state: 'revoked' })]);
    const [first, second, again] = await store.commit([use, revoke, use]);
    assert.deepEqual(
      [first, second, again].map((result) => result && verdictOf(result)),
      ['committed', 'approval', 'committed'],
    );
    assert.equal((await store.approval(approval.id))?.state, 'used');
    assert.equal((await store.call(call.id))?.state, 'PREPARED');
  });
}
