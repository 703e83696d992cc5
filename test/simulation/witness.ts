/**
 * Sees everything that happens in a simulated world and checks it against the twenty invariants of the protocol, step
 * by step. Believes nobody: it keeps its own account of states, sends, effects and replies.
 */
import type { Attempt } from '../../src/ports/upstream.ts';
import type { CallChange, Transition } from '../../src/ports/store.ts';
import { type CallState, callStates, legalTransitions } from '../../src/core/taxonomy.ts';
import type { Policy } from '../../src/core/policy/policy.ts';
import { createApprovalWitness } from './approval-witness.ts';
import { createRecoveryWitness, type Sender } from './recovery/recovery-witness.ts';
import type { MemoryRecord } from './memory-journal.ts';
import { classOfName } from './workflow-setting.ts';
import { createWorkflowWitness } from './workflow-witness.ts';

export interface Broken {
  /** The number in PROTOCOL section 3, or a name of our own. */
  readonly invariant: string;
  readonly detail: string;
}

export interface CallAccount {
  readonly id: string;
  readonly tool: string;
  /** Of whoever asked; a call that waited for an approval becomes the one's who asks again. */
  key: string | null;
  state: CallState | '(none)';
  readonly path: CallState[];
  readonly owners: Map<number, string>;
  readonly sent: Set<number>;
  /** Sends of which nobody has heard that they did nothing, since a person last released the call. */
  readonly unproven: Set<number>;
  effects: number;
  executions: number;
  toldNone: boolean;
}

export type Witness = ReturnType<typeof createWitness>;

/** What was refused, waits, or expired before it could be sent does not answer for its key. */
const claiming: ReadonlySet<string> = new Set(['PREPARED', 'DISPATCHED', 'SUCCEEDED']);
const noEffectStates: ReadonlySet<string> = new Set(['FAILED', 'DENIED', 'REJECTED', 'EXPIRED', 'CANCELLED']);

/** What there is beside what happens: the policies that ever were, and the time of the world. */
export interface Surroundings {
  readonly policy: (hash: string) => Policy | null;
  readonly nowMs: () => number;
}

function newAccount(id: string, tool: string, key: string | null): CallAccount {
  return {
    id,
    tool,
    key,
    state: '(none)',
    path: [],
    owners: new Map(),
    sent: new Set(),
    unproven: new Set(),
    effects: 0,
    executions: 0,
    toldNone: false,
  };
}

/** Approvals of spending belong to no call: limits/quota-witness.ts looks at them. */
const aboutCalls = (transition: Transition): Transition =>
  transition.approvals.some(({ approval }) => approval.spending !== undefined)
    ? { ...transition, approvals: transition.approvals.filter(({ approval }) => approval.spending === undefined) }
    : transition;

export function createWitness({ policy, nowMs }: Surroundings = { policy: () => null, nowMs: () => 0 }) {
  const calls = new Map<string, CallAccount>();
  const callOfKey = new Map<string, string>();
  const effectsOf = new Map<string, number>();
  const entries = new Map<string, number>();
  const successes = new Map<string, number>();
  const cancelledSessions = new Set<string>();
  let broken: Broken | null = null;

  const breaks = (invariant: string, detail: string) => {
    broken ??= { invariant, detail };
  };

  const account = (id: string, tool = '', key: string | null = null): CallAccount => {
    const known = calls.get(id);
    if (known !== undefined) return known;
    const made = newAccount(id, tool, key);
    calls.set(id, made);
    return made;
  };

  const stateOf = (id: string) => calls.get(id)?.state ?? '(none)';
  const workflows = createWorkflowWitness(breaks, stateOf);
  const allow = (name: string, effects: number) => effectsOf.set(name, (effectsOf.get(name) ?? 0) - effects);
  const approvals = createApprovalWitness({
    breaks,
    stateOf,
    isStep: workflows.isStep,
    forgive: (tenant, agent, operation) => allow(`operation ${tenant}/${agent}/${operation}`, 1),
    policy,
    nowMs,
  });
  const recovery = createRecoveryWitness(breaks, nowMs);
  const apart = new Set<string>();
  const isPure = (tool: string) => classOfName(tool) === 'pure';

  /** A step that adopted a result has the effect of the one it adopted. */
  const tookEffect = ({ id, tool, effects, executions }: CallAccount): boolean => {
    const from = calls.get(workflows.adoptedFrom(id) ?? '');
    return (isPure(tool) ? executions : effects) > 0 || (from !== undefined && from.effects > 0);
  };

  const judgeState = (seen: CallAccount) => {
    const { id, tool, state, effects } = seen;
    if (noEffectStates.has(state) && effects > 0 && !isPure(tool)) breaks('2', `${id} is ${state}, but it took effect`);
    if (state === 'SUCCEEDED' && !tookEffect(seen)) breaks('2', `${id} SUCCEEDED without effect`);
  };

  const moved = (
    change: Exclude<CallChange, { kind: 'mark' }>,
    records: readonly MemoryRecord[],
    committer: string,
  ) => {
    const { call } = change;
    const seen = account(call.id, call.tool, call.key);
    if (change.kind === 'insert' && seen.state !== '(none)') breaks('4', `${call.id} was inserted twice`);
    // Whoever adopts for a key answers for it only once; the key stays with the call that did the work.
    const claims = call.key !== null && workflows.adoptedFrom(call.id) === null;
    const taken =
      change.kind === 'update' && change.expect.state === 'AWAITING_APPROVAL' && call.state === 'DISPATCHED';
    if (taken) seen.key = call.key;
    if (claims && (taken || (change.kind === 'insert' && claiming.has(call.state)))) {
      const name = JSON.stringify([call.tenant, call.agent, call.key]);
      if (callOfKey.has(name)) breaks('7', `key ${name} has two calls: ${callOfKey.get(name)} and ${call.id}`);
      callOfKey.set(name, call.id);
    }
    let attempt = change.kind === 'insert' ? 0 : change.expect.attempt;
    const about = records[0]?.kind === 'session_resumed' ? records.slice(1) : records;
    for (const [index, hop] of change.path.entries()) {
      const legal: readonly string[] = legalTransitions[seen.state];
      if (!legal.includes(hop)) breaks('4', `${call.id}: ${seen.state} → ${hop}`);
      if (seen.state !== '(none)' && callStates[seen.state].terminal) breaks('4', `${call.id} left ${seen.state}`);
      const record = about[index];
      const said = record === undefined ? null : (JSON.parse(record.body) as { state?: string }).state;
      if (record?.call !== call.id || said !== hop)
        breaks('16', `${call.id} → ${hop} is recorded as ${said ?? 'nothing'}`);
      if (hop === 'DISPATCHED') {
        attempt += 1;
        if (seen.owners.has(attempt)) breaks('5', `attempt ${attempt} of ${call.id} was won twice`);
        if (call.owner !== committer) breaks('5', `${committer} made ${call.owner} the owner of ${call.id}`);
        if (call.session !== null && cancelledSessions.has(call.session))
          breaks('20', `${call.id} is sent in a cancelled session`);
        seen.owners.set(attempt, String(call.owner));
      }
      seen.state = hop;
      seen.path.push(hop);
    }
    if (seen.state === 'DISPATCHED' && call.attempt !== attempt)
      breaks('5', `${call.id} skips to attempt ${call.attempt}`);
    judgeState(seen);
  };

  return {
    calls,
    workflows,
    approvals,
    recovery,
    breaks,
    broken: () => broken,
    account,

    applied(transition: Transition, records: readonly MemoryRecord[], committer: string): void {
      const { call, session } = transition;
      workflows.foresee(records);
      if (call !== null && call.kind !== 'mark') moved(call, records, committer);
      workflows.applied(transition, records);
      approvals.applied(aboutCalls(transition), records);
      recovery.applied(records, (id) => calls.get(id)?.tool ?? '', committer);
      for (const { session: id, sessionSeq, kind } of records) {
        if (id === null) continue;
        const before = entries.get(id) ?? 0;
        if (sessionSeq !== before + 1) breaks('15', `record ${kind} of ${id} is number ${sessionSeq} after ${before}`);
        entries.set(id, sessionSeq);
      }
      const succeeded = call !== null && call.kind !== 'mark' && call.path.includes('SUCCEEDED');
      const advances = session?.kind === 'step' && session.advance;
      const isStep = session?.kind === 'step' && workflows.isStep(session.id);
      if (succeeded !== advances && !isStep)
        breaks('15', `a step of ${session?.kind ?? 'no session'} advances ${advances}, success ${succeeded}`);
      if (session?.kind === 'step' && advances) successes.set(session.id, (successes.get(session.id) ?? 0) + 1);
      if (session?.kind === 'cancel') cancelledSessions.add(session.id);
    },

    /** An attempt leaves a gateway: at this moment its right to be sent must be on record. */
    sent(sending: Attempt, sender: Sender): void {
      const { owner } = sender;
      const { callId, attempt, tool, session } = sending;
      const seen = account(callId, tool);
      const winner = seen.owners.get(attempt);
      if (winner === undefined) breaks('3', `attempt ${attempt} of ${callId} is sent before it is on record`);
      else if (winner !== owner) breaks('5', `${owner} sends attempt ${attempt} of ${callId}, which ${winner} won`);
      if (seen.sent.has(attempt)) breaks('5', `attempt ${attempt} of ${callId} is sent twice`);
      seen.sent.add(attempt);
      workflows.sent(session, callId);
      approvals.sent(sending);
      recovery.sent(sending, sender);
      const effectClass = classOfName(tool);
      const guarded = effectClass === 'plain' || effectClass === 'probeable';
      if (guarded && seen.unproven.size > 0)
        breaks('6', `${callId}, a ${effectClass} call, is sent again without proof that nothing happened`);
      seen.unproven.add(attempt);
    },

    /** The process heard that this attempt did nothing, and never will. */
    refused(id: string, attempt: number): void {
      account(id).unproven.delete(attempt);
    },

    /** A person or a probe decided that the call may be sent again. */
    released(id: string): void {
      account(id).unproven.clear();
    },

    /** The tool ran. `counts` is false when the upstream recognised its own earlier work. */
    executed({ callId, tool, tenant, agent, args }: Attempt, counts: boolean): void {
      const seen = account(callId, tool);
      seen.executions += 1;
      if (!counts || isPure(tool)) return;
      seen.effects += 1;
      const operation = (args as { operation?: string }).operation ?? callId;
      const names = [callId, ...(apart.has(callId) ? [] : [`operation ${tenant}/${agent}/${operation}`])];
      if (seen.key !== null) names.push(`key ${tenant}/${agent}/${seen.key}`);
      for (const name of names) {
        effectsOf.set(name, (effectsOf.get(name) ?? 0) + 1);
        if ((effectsOf.get(name) ?? 0) > 1) breaks('1', `${name} took effect twice, the second time as ${callId}`);
      }
      if (seen.toldNone) breaks('effect', `${callId} took effect after its caller was told that it had none`);
      judgeState(seen);
    },

    /** Equal calls that are deliberately separate count for themselves. */
    forgive(tenant: string, agent: string, operation: string, effects: number): void {
      allow(`operation ${tenant}/${agent}/${operation}`, effects);
    },

    /** The same for a call that is another one by the rules, although it looks the same. */
    forgiveCall(id: string): void {
      apart.add(id);
    },

    /** Someone was told of this effect. */
    told(callId: string, effect: 'none' | 'applied' | 'unknown'): void {
      const seen = calls.get(callId);
      if (seen === undefined) {
        // Nothing is on record of it, and nothing ever may be that takes effect.
        if (effect === 'none') account(callId).toldNone = true;
        return;
      }
      if (effect === 'applied' && !tookEffect(seen))
        breaks('effect', `${callId} was reported as applied, but never took effect`);
      if (effect !== 'none' || isPure(seen.tool)) return;
      if (seen.effects > 0) breaks('effect', `${callId} was reported as without effect, but took effect`);
      seen.toldNone = true;
    },

    entriesOf: (session: string) => entries.get(session) ?? 0,
    successesOf: (session: string) => successes.get(session) ?? 0,
  };
}
