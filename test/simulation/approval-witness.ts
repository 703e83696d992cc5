/**
 * Sees what happens to approvals and keeps an account of its own: who voted for which form, what was sent under it, and
 * which call waits. Believes no row: forms come from the record of the held call, rules from the policy that was in
 * force. Invariants: `waits`, `shared`, `votes`, `used`, `late`, `form`, `rules`, `covered`, `taken back`, `early`,
 * `names`, `ignored`, `told`.
 */
import { canonicalText } from '../../src/core/values/canonical.ts';
import type { Approval, ApprovalState } from '../../src/core/approval/approval.ts';
import type { Json } from '../../src/core/values/json.ts';
import type { Policy } from '../../src/core/policy/policy.ts';
import { isSuccess, type Reply } from '../../src/core/call/reply.ts';
import type { ApprovalWrite, CallChange, Transition } from '../../src/ports/store.ts';
import type { Attempt } from '../../src/ports/upstream.ts';
import { papersOf, readPolicies } from './approval-papers.ts';
import type { MemoryRecord } from './memory-journal.ts';
import { limits } from './setting.ts';

export interface ApprovalAccount {
  /** As it was written last. */
  row: Approval;
  /** Who asks for what with which arguments, where: in words, not as a hash. */
  readonly what: string;
  readonly argsText: string;
  /** The rules about the tool when it was opened. */
  readonly rules: string;
  readonly voters: Set<string>;
  editText: string | null;
  wasUsed: boolean;
  grantedAtMs: number | null;
  revokedAtMs: number | null;
}

export interface ApprovalEyes {
  readonly breaks: (invariant: string, detail: string) => void;
  readonly stateOf: (call: string) => string;
  readonly isStep: (session: string | null) => boolean;
  /** A person approved an equal call again, after the time of the approval before: its effect is one of its own. */
  readonly forgive: (tenant: string, agent: string, operation: string) => void;
  readonly policy: (hash: string) => Policy | null;
  readonly nowMs: () => number;
}

export type ApprovalWitness = ReturnType<typeof createApprovalWitness>;

type Move = Exclude<CallChange, { kind: 'mark' }>;

const waiting: ReadonlySet<ApprovalState> = new Set(['pending', 'granted']);
const live: ReadonlySet<ApprovalState> = new Set(['pending', 'granted', 'denied']);
/** From the look at the approval to the commit of the next attempt there are only reads. */
const looksAheadMs = 50;

export function createApprovalWitness({ breaks, stateOf, isStep, forgive, policy, nowMs }: ApprovalEyes) {
  const accounts = new Map<string, ApprovalAccount>();
  const ofCall = new Map<string, ApprovalAccount>();
  const said = new Set<string>();
  const submitted = new Map<string, { readonly atMs: number; readonly pausedUntilMs: number }>();
  const totals = { opened: 0, granted: 0, edited: 0, used: 0, denied: 0, revoked: 0, expired: 0, void: 0 };

  const { judged, rulesOf } = readPolicies(policy);
  const whatOf = ({ tenant, agent, tool, session }: Move['call'], argsText: string) =>
    canonicalText({ tenant, agent, tool, argsText, place: isStep(session) ? session : null });

  const opens = ({ approval }: ApprovalWrite, call: CallChange | null, records: readonly MemoryRecord[]) => {
    const { id } = approval;
    const held = papersOf(records, 'held');
    if (
      call?.kind !== 'insert' ||
      call.call.id !== approval.callId ||
      call.call.state !== 'AWAITING_APPROVAL' ||
      held === null
    )
      return breaks('waits', `${id} is opened without a call that waits for it`);
    const what = whatOf(call.call, held.args);
    const equal = [...accounts.values()].find((other) => other.what === what && live.has(other.row.state));
    if (equal !== undefined)
      breaks('shared', `${id} is opened while ${equal.row.id}, ${equal.row.state}, is about the same`);
    const judgement = judged(held.policy, approval.agent, approval.tool, JSON.parse(held.args) as Json);
    if (judgement?.effect !== 'defer')
      breaks('covered', `${id} is opened for a call that policy answers with ${judgement?.effect}`);
    if (
      judgement?.terms?.needed !== approval.terms.needed ||
      judgement.terms.expiresMs !== approval.expiresAtMs - approval.openedAtMs
    )
      breaks('rules', `${id} is opened under other terms than its rule has`);
    const account: ApprovalAccount = {
      row: approval,
      what,
      argsText: held.args,
      rules: rulesOf(held.policy, approval.agent, approval.tool),
      voters: new Set(),
      editText: null,
      wasUsed: false,
      grantedAtMs: null,
      revokedAtMs: null,
    };
    accounts.set(id, account);
    ofCall.set(approval.callId, account);
    totals.opened += 1;
  };

  const votes = (account: ApprovalAccount, next: Approval, records: readonly MemoryRecord[]) => {
    const [vote, ...more] = records.filter(({ kind }) => kind === 'approval_approved');
    const { by, edited } = JSON.parse(vote?.body ?? '{}') as { by?: string; edited?: true };
    if (by === undefined || more.length > 0)
      return breaks('votes', `${next.id} is approved without the record of one vote`);
    const editText = next.edit?.argsText ?? null;
    if (editText !== account.editText || edited !== undefined) {
      // Whoever voted before has voted for another form, or for the same one under another's name.
      account.voters.clear();
      account.editText = editText;
      totals.edited += 1;
    }
    const client = `the user of ${next.agent}`;
    if (by === next.agent || (by === client && !next.terms.clientMayApprove))
      breaks('votes', `${by} decides ${next.id}, which ${next.agent} asked for`);
    if (!said.has(wordOf(by, 'approve', next.id)))
      breaks('votes', `${by} is on record for ${next.id}, and never said so`);
    if (account.voters.has(by)) breaks('votes', `${by} is counted twice for ${next.id}`);
    account.voters.add(by);
    const enough = account.voters.size >= account.row.terms.needed;
    if (enough !== (next.state === 'granted'))
      breaks('votes', `${next.id} is ${next.state} with ${account.voters.size} of ${account.row.terms.needed} votes`);
    if (next.state !== 'granted') return;
    account.grantedAtMs = nowMs();
    totals.granted += 1;
  };

  const uses = (
    account: ApprovalAccount,
    next: Approval,
    { call, atMs }: Transition,
    records: readonly MemoryRecord[],
  ) => {
    const { row } = account;
    totals.used += 1;
    account.wasUsed = true;
    if (row.state !== 'granted') breaks('used', `${row.id} is used, and was ${row.state}`);
    if (atMs >= row.expiresAtMs) breaks('late', `${row.id} is used ${atMs - row.expiresAtMs} ms after its time`);
    if (account.voters.size < row.terms.needed) breaks('votes', `${row.id} is used with ${account.voters.size} votes`);
    const intent = papersOf(records, 'prepared');
    if (
      call?.kind !== 'update' ||
      call.call.id !== row.callId ||
      call.expect.state !== 'AWAITING_APPROVAL' ||
      intent === null
    )
      return breaks('used', `${row.id} is used, but not by the call that waited for it`);
    const form = account.editText ?? account.argsText;
    if (intent.args !== form || whatOf(call.call, account.argsText) !== account.what)
      breaks('form', `${row.id} was given for ${form}, and is used for ${intent.args}`);
    const changed = rulesOf(intent.policy, row.agent, row.tool) !== account.rules;
    // What policy permits by itself needs no approval, whatever the rules were.
    if (changed && judged(intent.policy, row.agent, row.tool, JSON.parse(intent.args) as Json)?.effect !== 'permit')
      breaks('rules', `${row.id} is used under other rules than it was given for`);
    const { operation } = JSON.parse(account.argsText) as { operation?: string };
    const earlier = [...accounts.values()].some(
      (other) =>
        other !== account &&
        other.what === account.what &&
        other.wasUsed &&
        other.row.terms.onApprove === 'run' &&
        other.row.expiresAtMs <= next.openedAtMs,
    );
    if (earlier && operation !== undefined) forgive(row.tenant, row.agent, operation);
  };

  const changes = (write: ApprovalWrite, transition: Transition, records: readonly MemoryRecord[]) => {
    const next = write.approval;
    const account = accounts.get(next.id);
    if (account === undefined) return breaks('waits', `${next.id} is changed, and was never opened`);
    const { row } = account;
    for (const field of ['callId', 'agent', 'tool', 'subject', 'rules', 'openedAtMs', 'expiresAtMs'] as const)
      if (row[field] !== next[field])
        breaks('form', `the ${field} of ${next.id} changes from ${row[field]} to ${next[field]}`);
    if (next.version !== row.version + 1)
      breaks('used', `${next.id} goes from version ${row.version} to ${next.version}`);
    switch (next.state) {
      case 'pending':
      case 'granted':
        votes(account, next, records);
        break;
      case 'used':
        uses(account, next, transition, records);
        break;
      case 'denied':
      case 'revoked':
        if (!said.has(wordOf(next.decided?.by ?? '', next.state === 'denied' ? 'deny' : 'revoke', next.id)))
          breaks('votes', `${next.decided?.by} is on record as having ${next.state} ${next.id}, and never said so`);
        if (next.state === 'revoked') account.revokedAtMs = nowMs();
        break;
      case 'expired':
        if (transition.atMs < row.expiresAtMs) breaks('early', `${next.id} expires before its time`);
        break;
      case 'void':
        break;
      default:
        return next.state satisfies never;
    }
    if (next.state !== 'pending' && next.state !== 'granted' && next.state !== 'used') totals[next.state] += 1;
    account.row = next;
  };

  /** The right to send: what policy defers takes its approval along, and what was taken back is not sent again. */
  const dispatches = (change: Move, { approvals, token }: Transition, records: readonly MemoryRecord[]) => {
    const { id, tool, agent } = change.call;
    const intent = papersOf(records, 'prepared');
    const account = ofCall.get(id);
    if (intent !== null) {
      const judgement = judged(intent.policy, agent, tool, JSON.parse(intent.args) as Json);
      const taken = approvals.filter(({ approval }) => approval.callId === id && approval.state === 'used').length;
      if (judgement?.effect === 'deny') breaks('covered', `${id} is sent, and policy denies it`);
      if (judgement?.effect === 'defer' && taken !== 1)
        breaks('covered', `${id} is deferred, and is sent with ${taken} approvals`);
      return;
    }
    if (account === undefined) return;
    const asked = submitted.get(token);
    const { revokedAtMs } = account;
    if (
      revokedAtMs !== null &&
      asked !== undefined &&
      asked.atMs > revokedAtMs + looksAheadMs &&
      asked.pausedUntilMs <= revokedAtMs
    )
      breaks('taken back', `${id} is sent again ${asked.atMs - revokedAtMs} ms after its approval was revoked`);
  };

  return {
    accounts,
    totals,
    stateOfCall: (call: string): ApprovalState | null => ofCall.get(call)?.row.state ?? null,
    liveStates: (): readonly ApprovalState[] =>
      [...accounts.values()].map(({ row }) => row.state).filter((state) => waiting.has(state)),
    /** A person, or the user of an agent's client, is about to say this. */
    says: (by: string, word: 'approve' | 'deny' | 'revoke', id: string) => void said.add(wordOf(by, word, id)),
    submits: (token: string, pausedUntilMs: number) => {
      if (!submitted.has(token)) submitted.set(token, { atMs: nowMs(), pausedUntilMs });
    },

    /** After the call itself was accounted for. */
    applied(transition: Transition, records: readonly MemoryRecord[]): void {
      const { approvals, call } = transition;
      for (const write of approvals) {
        if (write.expect === null) opens(write, call, records);
        else changes(write, transition, records);
      }
      // One that adopts the result of another passes DISPATCHED too, and is never sent.
      if (call !== null && call.kind !== 'mark' && call.call.state === 'DISPATCHED')
        dispatches(call, transition, records);
      const touched = [
        ...approvals.map(({ approval }) => approval.callId),
        ...(call === null || call.kind === 'mark' ? [] : [call.call.id]),
      ];
      for (const id of touched) {
        const row = ofCall.get(id)?.row;
        const waits = stateOf(id) === 'AWAITING_APPROVAL';
        // INVARIANT: who waits has exactly one approval that is open or granted, and none of these is without who
        // waits.
        if (waits !== (row !== undefined && waiting.has(row.state)))
          breaks('waits', `${id} is ${stateOf(id)}, and its approval ${row?.id} is ${row?.state}`);
      }
    },

    sent({ callId, args }: Attempt): void {
      const account = ofCall.get(callId);
      if (account === undefined) return;
      if (!account.wasUsed) breaks('used', `${callId} is sent while its approval is ${account.row.state}`);
      const { revokedAtMs } = account;
      // What was won before may still go out inside its window.
      if (revokedAtMs !== null && nowMs() > revokedAtMs + limits.sendWindowMs + looksAheadMs)
        breaks('taken back', `${callId} is sent ${nowMs() - revokedAtMs} ms after its approval was revoked`);
      const form = account.editText ?? account.argsText;
      if (canonicalText(args) !== form)
        breaks('form', `${callId} was approved as ${form}, and is sent as ${canonicalText(args)}`);
    },

    /** `askedAtMs`: when whoever hears it had asked. `args`: what they had asked for. */
    heard(reply: Reply, askedAtMs: number, args: Json): void {
      const account = ofCall.get(reply.call_id);
      if ('error' in reply && reply.error === 'denied' && reply.code === 'POLICY_DEFER') {
        const id = reply.resolution.type === 'pending_approval' ? reply.resolution.approval_id : '';
        const named = accounts.get(id);
        if (named === undefined) return breaks('names', `a caller was told of ${id}, which nobody opened`);
        if (named !== account)
          breaks('names', `a caller was told of ${id} and of ${reply.call_id}, which do not belong together`);
        if (named.grantedAtMs !== null && named.grantedAtMs < askedAtMs)
          breaks('ignored', `a caller is told to wait for ${id}, which was granted before it asked`);
        return;
      }
      if (account === undefined || account.editText === null || !isSuccess(reply)) return;
      const told = reply.notices?.some(({ code }) => code === 'APPROVAL_EDITED') === true;
      if (!told && canonicalText(args) !== account.editText)
        breaks('told', `${reply.call_id} ran in a changed form, and its caller is not told`);
    },
  };
}

const wordOf = (by: string, word: string, id: string) => `${by} ${word} ${id}`;
