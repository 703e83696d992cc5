/** The agents come back after the crash and ask again until they have an outcome; people decide what is still open. */
import assert from 'node:assert/strict';
import { isPending, isRefusal, isSuccess } from '../../src/index.ts';
import type { StoreReader } from '../../src/ports/store.ts';
import { effectsOf, handedOver } from './approval-check.ts';
import type { ApprovalGateway } from './approval-gateway.ts';
import type { ApprovalRequest, Heard, MadeDecision } from './approval-round.ts';
import { askedAmount, editedAmount, isWrite, ledgerLines } from './approval-world.ts';

export type Finish = 'succeeded' | 'in doubt' | 'denied' | 'handed over';

/** More than the ways a case can go on: a denial that expires, a vote of two, an approval that ran out. */
const maxAsks = 12;

interface Place {
  readonly gateway: ApprovalGateway;
  readonly reader: StoreReader;
  readonly ledger: string;
  readonly heard: Heard;
}

/**
 * The cases that had no success yet, or have a key to ask with; in a crowd without keys everybody has an effect of
 * their own.
 */
export function openCases({ asked }: Heard): readonly ApprovalRequest[] {
  const cases = new Map<string, { request: ApprovalRequest; isOpen: boolean }>();
  for (const { request, alone, reply } of asked.values()) {
    const { mark } = request.args;
    const isOver = reply !== null && isSuccess(reply) && request.key === undefined;
    const isOpen = (alone || request.key !== undefined) && !isOver && cases.get(mark)?.isOpen !== false;
    cases.set(mark, { request, isOpen });
  }
  return [...cases.values()].filter(({ isOpen }) => isOpen).map(({ request }) => request);
}

export async function finishCase(request: ApprovalRequest, place: Place): Promise<Finish> {
  const { gateway, reader, ledger, heard } = place;
  const { mark } = request.args;
  const [before] = effectsOf(mark, ledgerLines(ledger));
  const own = decisionsOf(mark, heard);
  for (let asks = 0; asks < maxAsks; asks++) {
    const reply = await gateway.gateway.handle({ ...request, wait_seconds: 30 });
    const what = `'${mark}' ${before === undefined ? 'had no effect' : `ran as ${before}`}: ${JSON.stringify(reply)}`;
    assert.ok(!isPending(reply), what);
    if (isSuccess(reply)) {
      checkSuccess(reply, what);
      if (before !== undefined) assert.deepEqual([reply.replayed, reply.call_id], [true, before], what);
      if (isWrite(request.tool)) assert.deepEqual([...effectsOf(mark, ledgerLines(ledger))], [reply.call_id], what);
      return 'succeeded';
    }
    assert.ok(isRefusal(reply), what);
    // In doubt, and its requester gone: an equal call without a key is fenced by it.
    if (reply.error === 'fenced' && 'blocking_call_id' in reply) {
      assert.equal((await reader.call(reply.blocking_call_id as never))?.state, 'IN_DOUBT', what);
      if (before !== undefined) assert.equal(reply.blocking_call_id, before, what);
      return 'in doubt';
    }
    if (reply.effect === 'unknown') {
      assert.ok((await reader.call(reply.call_id as never))?.state === 'IN_DOUBT', what);
      if (before !== undefined) assert.equal(reply.call_id, before, what);
      return 'in doubt';
    }
    if (reply.error === 'denied' && reply.code === 'POLICY_DENY') {
      assert.ok(before === undefined && own.some(({ verb }) => verb === 'deny'), what);
      return 'denied';
    }
    // Taken back before it was sent again: it ended without effect, and its key says so for good.
    if (reply.error === 'action_error' && reply.error_type === 'PolicyDenied' && request.key !== undefined) {
      assert.ok(before === undefined && own.some(({ verb }) => verb === 'revoke'), what);
      return 'denied';
    }
    if (reply.error !== 'denied' || reply.resolution.type !== 'pending_approval') continue;
    // The reply had been given, and only its way out of the process was cut: who asks now asks for another call.
    if (before !== undefined) {
      assert.ok(await handedOver(before, reader), what);
      return 'handed over';
    }
    // A denial that somebody was told of is not asked about again.
    const denied = own.find(({ verb, state }) => verb === 'deny' && state === 'denied');
    const takenBack = own.some(({ approval, verb }) => verb === 'revoke' && approval === denied?.approval);
    if (denied !== undefined && !takenBack && request.tool !== 'post_fleeting')
      assert.notEqual(own.at(-1)?.approval, denied.approval, what);
    for (const name of ['ana', 'ben']) await approveAs(name, reply.resolution.approval_id, place);
  }
  return assert.fail(`'${mark}' has no outcome after ${maxAsks} asks`);
}

function checkSuccess(
  reply: { readonly result: unknown; readonly notices?: readonly { readonly code: string }[] },
  what: string,
): void {
  const { amount } = reply.result as { amount: number };
  assert.ok([askedAmount, editedAmount].includes(amount), what);
  const isTold = reply.notices?.some(({ code }) => code === 'APPROVAL_EDITED') === true;
  assert.equal(isTold, amount === editedAmount, what);
}

const decisionsOf = (mark: string, { asked, decisions }: Heard): readonly MadeDecision[] => {
  const ids = new Set<string>();
  for (const { request, reply } of asked.values())
    if (
      request.args.mark === mark &&
      reply !== null &&
      isRefusal(reply) &&
      reply.resolution.type === 'pending_approval'
    )
      ids.add(reply.resolution.approval_id);
  return [...decisions.values()].filter(({ approval }) => ids.has(approval));
};

let spoken = 0;

/** Said as a person of the round says it, so that it is checked like theirs. */
async function approveAs(name: string, approval: string, { gateway, heard }: Place): Promise<void> {
  const decision: MadeDecision = { approval, verb: 'approve', by: name, state: null };
  heard.decisions.set(`after/${spoken++}`, decision);
  const decided = await gateway.approvals.approve(approval, { kind: 'person', tenant: 'default', name }, {});
  decision.state = decided.ok ? decided.approval.state : 'refused';
}

/**
 * What nobody will come back for: denied if it is pending, revoked if it is granted, so that nothing is left waiting.
 */
export async function clearTable({ approvals }: ApprovalGateway, heard: Heard): Promise<void> {
  for (const [state, verb] of [
    ['pending', 'deny'],
    ['granted', 'revoke'],
  ] as const)
    for (const { approval_id: approval } of await approvals.list(
      { tenant: 'default', agent: null },
      { state, limit: 10_000 },
    )) {
      const decision: MadeDecision = { approval, verb, by: 'eve', state: null };
      heard.decisions.set(`after/${spoken++}`, decision);
      const decided = await approvals[verb](approval, { kind: 'person', tenant: 'default', name: 'eve' }, {});
      decision.state = decided.ok ? decided.approval.state : 'refused';
    }
}
