/** Approvals as they are looked up and listed, what erasing takes from them, and what a crash leaves. */
import assert from 'node:assert/strict';

import { type Approval, defaultTerms } from '../../src/core/approval/approval.ts';
import type { CallId, SessionId } from '../../src/core/call/call.ts';
import type { ApprovalFilter, Store } from '../../src/ports/store.ts';
import { anApproval, approving, becoming, mustOpenApproval, openingOf } from './approval-fixtures.ts';
import {
  aCall,
  aSession,
  commitOne,
  inserting,
  mustCommit,
  nextId,
  opening,
  startMs,
  verdictOf,
} from './store-fixtures.ts';
import { type Create, withStore } from './with-store.ts';

const edited = (argsText: string, subject: string) => ({ by: 'ada', argsText, subject });

async function granted(store: Store, over: Partial<Approval>, change: Partial<Approval> = {}): Promise<Approval> {
  const write = becoming(await mustOpenApproval(store, over), { state: 'granted', ...change });
  await mustCommit(store, approving([write]));
  return write.approval;
}

export function provesApprovalReads(create: Create): void {
  const prove = withStore(create);

  prove(
    'one with a subject is found, before and after an edit: a no first, then a yes, then what waits',
    async (store) => {
      const of = (subject: string) => store.approvalOf('acme', 'clerk', subject);
      const asked = await mustOpenApproval(store, { subject: 'asked' });
      assert.deepEqual(await of('asked'), asked);
      assert.equal(await of('changed'), null);
      const change = becoming(asked, { state: 'granted', edit: edited('{"amount":5}', 'changed') });
      await mustCommit(store, approving([change]));
      assert.deepEqual(await of('asked'), change.approval);
      assert.deepEqual(await of('changed'), change.approval);
      const newer = await mustOpenApproval(store, { subject: 'changed' });
      assert.deepEqual(await of('changed'), change.approval, 'a yes goes before what waits');
      const newest = await granted(store, { subject: 'third' }, { edit: edited('{}', 'changed') });
      assert.deepEqual(await of('changed'), newest, 'another was changed into it since');
      const over = becoming(newest, { state: 'void' });
      await mustCommit(store, approving([over, becoming(change.approval, { state: 'used' })]));
      assert.deepEqual(await of('changed'), newer, 'what is over does not hide what waits');
      const no = becoming(newer, { state: 'denied' });
      await mustCommit(store, approving([no]));
      await granted(store, { subject: 'fourth' }, { edit: edited('{}', 'changed') });
      assert.deepEqual(await of('changed'), no.approval, 'a no goes before a newer yes');
      await mustCommit(store, approving([becoming(no.approval, { state: 'revoked' })]));
      assert.deepEqual((await of('changed'))?.subject, 'fourth');
      assert.deepEqual((await of('third'))?.state, 'void', 'also one that covers nothing any more');
      assert.equal(await store.approvalOf('other', 'clerk', 'asked'), null);
      assert.equal(await store.approvalOf('acme', 'robot', 'asked'), null);
    },
  );

  prove('the newest of a call is found', async (store) => {
    const callId = nextId('call') as CallId;
    assert.equal(await store.approvalOfCall(callId), null);
    await mustOpenApproval(store, { callId });
    const second = await mustOpenApproval(store, { callId, tenant: 'other' });
    await mustOpenApproval(store);
    assert.deepEqual(await store.approvalOfCall(callId), second);
  });

  prove('they are listed page by page, the newest first, each tenant its own', async (store) => {
    const mine: Approval[] = [];
    for (let n = 0; n < 7; n++) {
      mine.unshift(await mustOpenApproval(store));
      await mustOpenApproval(store, { tenant: 'other' });
    }
    const list = (over: Partial<ApprovalFilter> = {}) => store.listApprovals({ tenant: 'acme', limit: 3, ...over });
    const pages: Approval[] = [];
    for (let page = await list(); page.length > 0; page = await list({ before: pages.at(-1)?.id as string }))
      pages.push(...page);
    assert.deepEqual(pages, mine);
    assert.equal((await list({ tenant: 'other', limit: 99 })).length, 7);
    assert.deepEqual(await list({ tenant: 'nobody' }), []);
  });

  prove('they are listed by agent, session and state', async (store) => {
    const session = nextId('ses') as SessionId;
    const plain = await mustOpenApproval(store);
    const robots = await mustOpenApproval(store, { agent: 'robot', session });
    const open = await granted(store, { session });
    const ids = async (over: Partial<ApprovalFilter>) =>
      (await store.listApprovals({ tenant: 'acme', limit: 9, ...over })).map(({ id }) => id);
    assert.deepEqual(await ids({ agent: 'clerk' }), [open.id, plain.id]);
    assert.deepEqual(await ids({ session }), [open.id, robots.id]);
    assert.deepEqual(await ids({ state: 'pending' }), [robots.id, plain.id]);
    assert.deepEqual(await ids({ state: 'pending', agent: 'robot', session }), [robots.id]);
    assert.deepEqual(await ids({ state: 'pending', before: robots.id }), [plain.id]);
    assert.deepEqual(await ids({ state: 'granted' }), [open.id]);
    assert.deepEqual(await ids({ state: 'denied' }), []);
  });

  prove('a listing finds the one among many that fits, however far back it is', async (store) => {
    const rare = await mustOpenApproval(store, { agent: 'robot' });
    await store.commit(Array.from({ length: 1_200 }, () => openingOf(anApproval(), 5_000)));
    const found = async (over: Partial<ApprovalFilter>) =>
      (await store.listApprovals({ tenant: 'acme', limit: 5, ...over })).map(({ agent }) => agent);
    assert.deepEqual(await found({ agent: 'robot' }), ['robot']);
    assert.deepEqual(await found({ agent: 'robot', state: 'pending' }), ['robot']);
    assert.deepEqual(await found({ agent: 'robot', before: rare.id }), []);
    assert.equal((await found({ limit: 1_001 })).length, 1_001);
    assert.equal(await store.pendingApprovals('acme', 'clerk'), 1_200);
  });

  prove('those that the gateway shall run are granted and say so, the oldest first', async (store) => {
    const terms = { ...defaultTerms, onApprove: 'run' } as const;
    await granted(store, {});
    await mustOpenApproval(store, { terms });
    const first = await granted(store, { terms });
    const second = await granted(store, { terms, tenant: 'other' });
    const used = await granted(store, { terms });
    await mustCommit(store, approving([becoming(used, { state: 'used' })]));
    assert.deepEqual(await store.approvalsToRun('', 9), [first, second]);
    assert.deepEqual(await store.approvalsToRun('', 1), [first]);
    assert.deepEqual(await store.approvalsToRun(first.id, 9), [second]);
  });

  prove('erasing a call erases what an approver wanted to send instead, and says so once', async (store) => {
    const session = aSession();
    await mustCommit(store, opening(session));
    const call = aCall({ session: session.id, state: 'AWAITING_APPROVAL' });
    await mustCommit(store, inserting(call, undefined, { payloads: [{ part: 'args', text: '{"amount":9}' }] }));
    const about = { callId: call.id, session: session.id };
    const kept = await granted(store, {}, { edit: edited('{"amount":1}', 'kept') });
    const one = await granted(store, about, { edit: edited('{"amount":5}', 'less') });
    const unedited = await granted(store, about);
    assert.equal((await store.erase(call.id, 'asked', startMs + 1)).kind, 'committed');
    const after = await store.approval(one.id);
    assert.deepEqual(after, { ...one, version: 3, edit: { by: 'ada', argsText: null, subject: 'less' } });
    assert.deepEqual(await store.approval(kept.id), kept);
    assert.deepEqual(await store.approval(unedited.id), unedited);
    assert.deepEqual(await store.approvalOf('acme', 'clerk', 'less'), after);
    const records = async () => (await store.recordsOf(call.id)).filter(({ kind }) => kind === 'erased');
    assert.deepEqual((JSON.parse((await records())[0]?.body ?? '') as { approvals: unknown }).approvals, [one.id]);
    await store.erase(call.id, 'again', startMs + 2);
    assert.equal((await records()).length, 1);
    assert.equal((await store.session(session.id))?.entries, 3);
  });

  prove('whoever still has the arguments cannot write them back after they were erased', async (store) => {
    const call = aCall({ state: 'AWAITING_APPROVAL' });
    await mustCommit(store, inserting(call));
    const before = await granted(store, { callId: call.id }, { edit: edited('{"amount":5}', 'less') });
    assert.equal((await store.erase(call.id, 'asked', startMs + 1)).kind, 'committed');
    const erased = (await store.recordsOf(call.id)).at(-1);
    assert.equal(erased?.kind, 'erased', 'although no payload was there');
    const late = await commitOne(store, approving([becoming(before, { state: 'used' })]));
    assert.equal(verdictOf(late), 'approval');
    assert.equal((await store.approval(before.id))?.edit?.argsText, null);
  });

  prove('everything about them survives a crash', async (store, home) => {
    const terms = { ...defaultTerms, onApprove: 'run', roles: [], needed: 2 } as const;
    const one = await granted(store, { terms, model: 'm', evidence: 'e' }, { edit: edited('{"ü":"☃"}', 'changed') });
    const two = await mustOpenApproval(store);
    await home.crash();
    const again = await home.open();
    assert.deepEqual(await again.listApprovals({ tenant: 'acme', limit: 9 }), [two, one]);
    assert.deepEqual(await again.approvalOf('acme', 'clerk', 'changed'), one);
    assert.deepEqual(await again.approvalsToRun('', 9), [one]);
    assert.equal(await again.pendingApprovals('acme', 'clerk'), 1);
    assert.equal(verdictOf(await commitOne(again, openingOf(anApproval({ subject: two.subject })))), 'approval');
    await mustCommit(again, approving([becoming(one, { state: 'used' })]));
  });
}
