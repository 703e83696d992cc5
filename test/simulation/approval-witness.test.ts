/** Each check of approvals is seen to fail once: what is forged here must be noticed, under its own name. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { type Approval, type ApprovalId, defaultTerms } from '../../src/core/approval/approval.ts';
import type { Call, CallId, IncarnationId } from '../../src/core/call/call.ts';
import type { Reply } from '../../src/core/call/reply.ts';
import type { ApprovalWrite, Transition } from '../../src/ports/store.ts';
import type { Attempt } from '../../src/ports/upstream.ts';
import { aCall } from '../support/builders.ts';
import { policyOf, type Stance } from './approval-setting.ts';
import { hashing, type MemoryRecord } from './memory-journal.ts';
import { createWitness } from './witness.ts';

const policy = policyOf({
  stances: { read: 'permit', charge: 'permit', refund: 'permit', mail: 'two wait' },
  layout: 0,
});
const changed = (stance: Stance) =>
  policyOf({ stances: { read: 'permit', charge: 'permit', refund: 'permit', mail: stance }, layout: 0 });
const hashOf = ({ canonical }: typeof policy) => createHash('sha256').update(canonical).digest('hex');
const all = [policy, changed('one waits'), changed('permit'), changed('deny')];
const policies = new Map(all.map((one) => [hashOf(one), one]));

const me = 'inc_me' as IncarnationId;
const argsText = '{"amount":9,"operation":"o"}';
const editText = '{"amount":2,"operation":"o"}';
const callOf = (change: Partial<Call> = {}): Call =>
  aCall({ tool: 'mail', agent: 'ann', session: null, state: 'AWAITING_APPROVAL', attempt: 0, owner: null, ...change });
const first: Approval = {
  id: 'apr_1' as ApprovalId,
  version: 1,
  tenant: callOf().tenant,
  agent: 'ann',
  session: null,
  tool: 'mail',
  subject: 's',
  rules: 'r',
  evidence: null,
  callId: callOf().id,
  state: 'pending',
  refs: [],
  reason: null,
  terms: { ...defaultTerms, needed: 2, expiresMs: 50_000 },
  shown: '',
  model: null,
  votes: [],
  edit: null,
  decided: null,
  openedAtMs: 1_000,
  expiresAtMs: 51_000,
};
const blank = {
  token: 't',
  atMs: 2_000,
  nobodyLeftWithinMs: null,
  key: null,
  session: null,
  reserve: [],
  settle: [],
  tokens: [],
  accounts: [],
  task: null,
  tickets: [],
  reversals: [],
  rollbacks: [],
  blobs: [],
  records: [],
};
const record = (kind: string, body: object, args?: string) =>
  ({
    kind,
    call: callOf().id,
    session: null,
    body: JSON.stringify(body),
    parts: args === undefined ? [] : ['args'],
    payloads: args === undefined ? [] : [{ bytes: hashing.utf8(args) }],
  }) as unknown as MemoryRecord;

type Seen = ReturnType<typeof createWitness>;

function opened(by = policy, approval = first, call = callOf()): Seen {
  const witness = createWitness({ policy: (hash) => policies.get(hash) ?? null, nowMs: () => 5_000 });
  open(witness, approval, call, by);
  return witness;
}

function open(witness: Seen, approval: Approval, call: Call, by = policy): void {
  const held = record('held', { state: 'AWAITING_APPROVAL', policy: hashOf(by) }, argsText);
  const write: ApprovalWrite = { approval, expect: null, maxPending: 9 };
  witness.applied(
    { ...blank, approvals: [write], call: { kind: 'insert', call, path: ['AWAITING_APPROVAL'] } },
    [{ ...held, call: call.id } as MemoryRecord],
    me,
  );
}

const become = (approval: Approval): ApprovalWrite => ({ approval, expect: approval.version - 1, maxPending: null });

/** One person's yes; `edit` is what they changed it to. */
function vote(
  witness: Seen,
  by: string,
  version: number,
  state: Approval['state'],
  edit: string | null = null,
): Approval {
  const changedTo = edit === null ? null : { by, argsText: edit, subject: 'e' };
  const next: Approval = { ...first, version, state, edit: changedTo };
  const body = { by, ...(edit === null ? {} : { edited: true }) };
  witness.applied({ ...blank, call: null, approvals: [become(next)] }, [record('approval_approved', body)], me);
  return next;
}

function granted(edit: string | null = null): Seen {
  const witness = opened();
  for (const name of ['ana', 'ben']) witness.approvals.says(name, 'approve', 'apr_1');
  vote(witness, 'ana', 2, 'pending', edit);
  // The second one leaves the change as it is.
  const next: Approval = {
    ...first,
    version: 3,
    state: 'granted',
    edit: edit === null ? null : { by: 'ana', argsText: edit, subject: 'e' },
  };
  witness.applied(
    { ...blank, call: null, approvals: [become(next)] },
    [record('approval_approved', { by: 'ben' })],
    me,
  );
  return witness;
}

/** The call goes out under its approval; or under none, or with other arguments, or by other rules. */
function use(witness: Seen, { args = argsText, by = policy, atMs = 2_000, takes = true } = {}): void {
  const edit = witness.approvals.accounts.get('apr_1')?.row.edit ?? null;
  const used: Transition = {
    ...blank,
    atMs,
    approvals: takes ? [become({ ...first, edit, version: 4, state: 'used' })] : [],
    call: {
      kind: 'update',
      call: callOf({ state: 'DISPATCHED', attempt: 1, owner: me }),
      path: ['PREPARED', 'DISPATCHED'],
      expect: { state: 'AWAITING_APPROVAL', attempt: 0, owner: null, dueAtMs: null },
    },
  };
  const prepared = record('prepared', { state: 'PREPARED', policy: hashOf(by) }, args);
  witness.applied(used, [prepared, record('dispatched', { state: 'DISPATCHED' })], me);
}

const sent = (args: string) =>
  ({ callId: callOf().id, attempt: 1, tool: 'mail', args: JSON.parse(args), session: null }) as unknown as Attempt;
const deferral = (id: string) =>
  ({
    error: 'denied',
    code: 'POLICY_DEFER',
    call_id: callOf().id,
    resolution: { type: 'pending_approval', approval_id: id },
  }) as unknown as Reply;
const success = { action: 'mail', result: {}, call_id: callOf().id } as unknown as Reply;

const forgeries: readonly (readonly [string, string, () => Seen])[] = [
  [
    'waits',
    'an approval without a call that waits',
    () => opened(policy, first, callOf({ id: 'call_other' as CallId })),
  ],
  ['covered', 'an approval that no rule asks for', () => opened(changed('permit'))],
  ['rules', 'terms that its rule does not have', () => opened(changed('one waits'))],
  [
    'shared',
    'a second approval of the same call',
    () => {
      const witness = opened();
      const call = callOf({ id: 'call_2' as CallId });
      open(witness, { ...first, id: 'apr_2' as ApprovalId, callId: call.id }, call);
      return witness;
    },
  ],
  ['votes', 'a vote that nobody gave', () => voting((witness) => vote(witness, 'ana', 2, 'pending'))],
  ['votes', 'a vote of who asked', () => voting((witness) => vote(witness, 'ann', 2, 'pending'), 'ann')],
  [
    'votes',
    'a vote that is counted twice',
    () =>
      voting(
        (witness) => [2, 3].forEach((version) => vote(witness, 'ana', version, version === 2 ? 'pending' : 'granted')),
        'ana',
      ),
  ],
  ['votes', 'a grant without enough votes', () => voting((witness) => vote(witness, 'ana', 2, 'granted'), 'ana')],
  [
    'votes',
    'votes for another form that still count',
    () =>
      voting(
        (witness) => (vote(witness, 'ana', 2, 'pending'), vote(witness, 'ben', 3, 'granted', editText)),
        'ana',
        'ben',
      ),
  ],
  ['early', 'an end before its time', () => voting((witness) => end(witness, 'expired'))],
  ['votes', 'a denial that nobody said', () => voting((witness) => end(witness, 'denied'))],
  ['waits', 'a call that goes on waiting for what is over', () => voting((witness) => end(witness, 'void'))],
  ['used', 'a use before it was granted', () => voting((witness) => use(witness))],
  ['late', 'a use after its time', () => using({ atMs: 51_000 })],
  ['form', 'a use for other arguments', () => using({ args: editText })],
  ['form', 'a change that is ignored', () => using({}, editText)],
  ['rules', 'a use under other rules', () => using({ by: changed('one waits') })],
  ['covered', 'a use where policy denies by now', () => using({ by: changed('deny'), takes: false })],
  ['covered', 'a call that goes out without its approval', () => using({ takes: false })],
  ['form', 'arguments that nobody approved', () => sending(editText)],
  ['used', 'an approval that is used twice', () => again((witness) => use(witness))],
  [
    'names',
    'an approval that nobody opened',
    () => voting((witness) => witness.approvals.heard(deferral('apr_9'), 0, null)),
  ],
  ['ignored', 'a caller who waits for what was granted', () => hearing(deferral('apr_1'), 9_000)],
  ['told', 'a change that its caller does not hear of', () => hearing(success, 0, editText)],
];

function voting(act: (witness: Seen) => unknown, ...people: readonly string[]): Seen {
  const witness = opened();
  for (const name of people) witness.approvals.says(name, 'approve', 'apr_1');
  act(witness);
  return witness;
}

function end(witness: Seen, state: 'expired' | 'denied' | 'void'): void {
  const decided = { by: 'ana', atMs: 0, reason: null };
  witness.applied({ ...blank, call: null, approvals: [become({ ...first, version: 2, state, decided })] }, [], me);
}

function using(how: Parameters<typeof use>[1], edit: string | null = null): Seen {
  const witness = granted(edit);
  assert.equal(witness.broken(), null, witness.broken()?.detail);
  use(witness, how);
  return witness;
}

const again = (act: (witness: Seen) => void): Seen => {
  const witness = using({});
  assert.equal(witness.broken(), null, witness.broken()?.detail);
  const account = witness.account(callOf().id);
  account.state = 'AWAITING_APPROVAL';
  account.owners.clear();
  act(witness);
  return witness;
};

function sending(args: string): Seen {
  const witness = using({});
  assert.equal(witness.broken(), null, witness.broken()?.detail);
  witness.approvals.sent(sent(args));
  return witness;
}

function hearing(reply: Reply, askedAtMs: number, edit: string | null = null): Seen {
  const witness = granted(edit);
  witness.approvals.heard(reply, askedAtMs, JSON.parse(argsText));
  return witness;
}

for (const [invariant, what, forge] of forgeries)
  test(`the witness of approvals notices ${what}, as '${invariant}'`, () => {
    const broken = forge().broken();
    assert.equal(broken?.invariant, invariant, broken?.detail ?? 'it noticed nothing');
  });

test('the witness of approvals has nothing against what is right', () => {
  const witness = using({ args: editText }, editText);
  witness.approvals.sent(sent(editText));
  assert.equal(witness.broken(), null, witness.broken()?.detail);
});
