/** Checks the shape of requests that come from a forwarder. What they ask for is checked like everyone's. */
import { approvalStates } from '../../../core/approval/approval.ts';
import { recordKinds } from '../../../core/journal/record.ts';
import { ticketReasons, ticketWork } from '../../../core/recovery/ticket.ts';
import { callStates, effectClasses } from '../../../core/taxonomy.ts';
import type { WriteRequest } from '../write/batch.ts';
import { reversalWrite, rollbackWrite } from './reversal-shape.ts';
import { anyOf, flag, list, literal, object, oneOf, optional, orNull, text, whole } from './shape-checks.ts';

export { object, text, whole } from './shape-checks.ts';

const state = oneOf(callStates);

const call = object({
  id: text,
  tenant: text,
  agent: text,
  session: orNull(text),
  turn: orNull(text),
  tool: text,
  key: orNull(text),
  fingerprint: text,
  effectClass: oneOf(effectClasses),
  state,
  attempt: whole,
  owner: orNull(text),
  tainted: flag,
  kept: optional(flag),
  createdAtMs: whole,
  deadlineAtMs: whole,
  dueAtMs: orNull(whole),
});

const expect = object({ state, attempt: whole, owner: orNull(text), dueAtMs: orNull(whole) });

const callChange = anyOf(
  object({ kind: literal('insert'), call, path: list(state) }),
  object({ kind: literal('update'), call, path: list(state), expect }),
  object({
    kind: literal('mark'),
    id: text,
    requester: orNull(anyOf(literal('left'), literal('returned'))),
    repeats: whole,
    due: optional(object({ expectAtMs: orNull(whole), atMs: orNull(whole) })),
    stop: optional(flag),
  }),
);

const session = object({
  id: text,
  tenant: text,
  agent: text,
  standing: flag,
  state: oneOf({ open: 0, cancelled: 0, stopped: 0, closed: 0 }),
  seq: whole,
  entries: whole,
  openedAtMs: whole,
  usedAtMs: whole,
  workflow: orNull(
    object({
      name: text,
      manifest: text,
      pinnedAtSeq: whole,
      turn: orNull(object({ call: text, operation: text })),
      timerAtMs: orNull(whole),
      reason: orNull(text),
    }),
  ),
});

const snapshot = orNull(object({ text, dueAtMs: orNull(whole) }));

const workflowChange = object({
  turn: orNull(oneOf({ take: 0, release: 0, free: 0 })),
  call: orNull(text),
  operation: orNull(text),
  snapshot,
  fence: orNull(oneOf({ raised: 0, lifted: 0 })),
  becomes: orNull(object({ state: oneOf({ open: 0, stopped: 0, closed: 0 }), reason: orNull(text) })),
  manifest: orNull(text),
});

const fenceWrite = anyOf(
  object({ kind: literal('raised'), call: text, operation: text }),
  object({ kind: literal('lifted'), call: text }),
  object({ kind: literal('adopted'), call: text }),
);

const sessionChange = anyOf(
  object({
    kind: literal('step'),
    id: text,
    advance: flag,
    expectSeq: orNull(whole),
    expectOpen: flag,
    workflow: orNull(workflowChange),
    fence: optional(fenceWrite),
  }),
  object({ kind: literal('open'), session, snapshot, fences: list(object({ call: text, operation: text })) }),
  object({ kind: literal('cancel'), id: text }),
  object({ kind: literal('complete'), id: text, expectEntries: whole }),
  object({ kind: literal('cancel_turn'), id: text, turn: text }),
);

const approval = object({
  id: text,
  version: whole,
  tenant: text,
  agent: text,
  session: orNull(text),
  tool: text,
  subject: text,
  rules: text,
  evidence: orNull(text),
  callId: text,
  state: oneOf(approvalStates),
  refs: list(text),
  reason: orNull(text),
  terms: object({
    roles: orNull(list(text)),
    needed: whole,
    expiresMs: whole,
    onApprove: oneOf({ wait: 0, run: 0 }),
    clientMayApprove: flag,
  }),
  shown: text,
  model: orNull(text),
  votes: list(object({ by: text, atMs: whole, saw: text })),
  edit: orNull(object({ by: text, argsText: orNull(text), subject: text })),
  decided: orNull(object({ by: text, atMs: whole, reason: orNull(text) })),
  openedAtMs: whole,
  expiresAtMs: whole,
  spending: optional(
    object({
      budget: text,
      account: text,
      unit: text,
      maxMicros: whole,
      raiseMicros: whole,
      endsAtMs: orNull(whole),
    }),
  ),
});

const ticket = object({
  id: text,
  tenant: text,
  agent: text,
  session: orNull(text),
  call: text,
  tool: text,
  queue: text,
  reason: oneOf(ticketReasons),
  state: oneOf({ open: 0, closed: 0 }),
  openedAtMs: whole,
  closedAtMs: orNull(whole),
  closedBy: orNull(text),
  version: whole,
  dueAtMs: orNull(whole),
  expiresAtMs: orNull(whole),
  overdueAtMs: orNull(whole),
  assignee: orNull(text),
  fence: orNull(object({ session: text, operation: text })),
  end: orNull(text),
  work: oneOf(ticketWork),
  continuation: orNull(text),
  answerText: orNull(text),
  credential: orNull(text),
});

const ticketWrite = anyOf(
  object({ kind: literal('open'), ticket }),
  object({
    kind: literal('change'),
    ticket,
    expect: whole,
    unlessEqual: optional(object({ session: text, fingerprint: text, after: text, from: text })),
  }),
  object({
    kind: literal('work'),
    id: text,
    from: oneOf(ticketWork),
    to: oneOf(ticketWork),
    continuation: orNull(text),
  }),
  object({ kind: literal('moot'), call: text, reason: oneOf(ticketReasons), by: text, atMs: whole }),
);

const taskChange = anyOf(
  object({ kind: literal('open'), call: text, dueAtMs: whole }),
  object({ kind: literal('close'), call: text, as: oneOf({ reported: 0, overdue: 0 }) }),
);

const record = object({
  kind: oneOf(recordKinds),
  call: orNull(text),
  session: orNull(text),
  body: text,
  payloads: list(object({ part: text, text })),
});

const charge = object({ account: text, amount: whole });

const accountWrite = anyOf(
  object({ kind: literal('ask'), tenant: text, account: text, approval: text, expect: orNull(text) }),
  object({ kind: literal('allow'), tenant: text, account: text, amount: whole }),
  object({ kind: literal('correct'), tenant: text, account: text, settled: whole, expect: whole }),
);

const transition = object({
  token: text,
  atMs: whole,
  call: orNull(callChange),
  nobodyLeftWithinMs: orNull(whole),
  key: orNull(object({ tenant: text, agent: text, key: text, fingerprint: text, callId: text, keepMs: whole })),
  session: orNull(sessionChange),
  reserve: list(object({ tenant: text, account: text, amount: whole, limit: orNull(whole) })),
  settle: list(object({ call: text, spent: anyOf(literal('held'), literal('nothing'), list(charge)) })),
  tokens: list(object({ tenant: text, bucket: text, intervalMicros: whole, burst: whole, isForced: flag })),
  accounts: list(accountWrite),
  approvals: list(object({ approval, expect: orNull(whole), maxPending: orNull(whole) })),
  tickets: list(ticketWrite),
  reversals: list(reversalWrite),
  rollbacks: list(rollbackWrite),
  task: orNull(taskChange),
  blobs: list(object({ hash: text, text })),
  records: list(record),
});

const requests = list(anyOf(transition, object({ erase: text, reason: text, atMs: whole })));

export function areRequests(value: unknown): value is readonly WriteRequest[] {
  return requests(value);
}
