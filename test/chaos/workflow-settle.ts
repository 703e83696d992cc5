/**
 * After the crash: somebody settles what is in doubt by what the world shows, and the agents ask again for what they
 * lost.
 */
import assert from 'node:assert/strict';
import type { CallId } from '../../src/core/call/call.ts';
import { createGateway, isRefusal, isSuccess } from '../../src/index.ts';
import type { StoredCall, StoreReader } from '../../src/ports/store.ts';
import { checkStepReply } from '../support/open-workflow.ts';
import type { Heard } from './workflow-round.ts';
import { chaosWorkflows, worldLines } from './workflow-world.ts';

export type ChaosGateway = Awaited<ReturnType<typeof openChaos>>;

export const openChaos = (file: string, log: string) =>
  createGateway({
    file,
    workflows: chaosWorkflows(log),
    agent: 'chaos',
    limits: { sweepEveryMs: 20 },
    onNotice: (notice) => assert.equal(notice.kind, 'recovered', JSON.stringify(notice)),
  });

export async function stepsInDoubt(session: string, reader: StoreReader): Promise<readonly StoredCall[]> {
  return reader.listCalls({ session, state: 'IN_DOUBT', limit: 100 });
}

/**
 * Each doubt is fenced; a yes is adopted by the next equal step, once; a no lifts the fence. Returns how many there
 * were.
 */
export async function settleDoubts(
  session: string,
  gateway: ChaosGateway,
  reader: StoreReader,
  log: string,
): Promise<{ readonly adopted: number; readonly lifted: number }> {
  let adopted = 0;
  let lifted = 0;
  for (const { id, tool } of await stepsInDoubt(session, reader)) {
    const stored = await reader.args(id);
    assert.equal(stored.kind, 'text');
    const inputs = JSON.parse(stored.kind === 'text' ? stored.text : '{}') as { mark: string };
    const again = { session, action: tool, inputs };
    const fenced = checkStepReply(await gateway.handleStep(again));
    assert.ok(isRefusal(fenced) && fenced.error === 'fenced', JSON.stringify(fenced));
    assert.equal(fenced.blocking_call_id, id);
    assert.ok(!fenced.valid_next_actions.includes(tool), 'what is fenced is not next');
    const ran = worldLines(log).some(({ call_id: callId }) => callId === id);
    const result = { did: inputs.mark };
    const judgement = ran
      ? ({ happened: 'yes', by: 'ada', result } as const)
      : ({ happened: 'no', by: 'ada', force: true } as const);
    assert.equal(await gateway.settle(id, judgement), 'settled');
    if (!ran) {
      lifted += 1;
      continue;
    }
    const lines = worldLines(log).length;
    const before = await gateway.sessions.look(session);
    const reply = checkStepReply(await gateway.handleStep(again));
    assert.ok(isSuccess(reply) && !('error' in before), JSON.stringify(reply));
    assert.deepEqual([reply.replayed, reply.result, reply.seq], [true, result, before.seq + 1]);
    assert.equal(worldLines(log).length, lines, 'what was adopted did not run again');
    adopted += 1;
  }
  return { adopted, lifted };
}

/**
 * Whatever nobody saw an answer to is asked again: with its key, or as an equal step whose requester is gone. What ran
 * does not run again. Returns how many were left alone, because their reply was handed over and only its way to the
 * pipe was cut.
 */
export async function askAgain(
  { asked, answered }: Heard,
  gateway: ChaosGateway,
  reader: StoreReader,
  log: string,
): Promise<number> {
  let handedOver = 0;
  for (const [mark, request] of asked) {
    if (answered.has(mark)) continue;
    const ran = worldLines(log).find((line) => line.mark === mark);
    const call = ran === undefined ? null : await reader.call(ran.call_id as CallId);
    // It was settled and adopted a moment ago, for the agent that asks again.
    if (call !== null && (await wasAdopted(call, reader))) continue;
    if (request.key === undefined && call !== null && call.requesterLeftAtMs === null) {
      handedOver += 1;
      continue;
    }
    // Without a key a step that the session has moved past is another one: asked again it would run.
    const walked = call === null || call.session === null ? null : await reader.session(call.session);
    if (request.key === undefined && call !== null && walked !== null && walked.seq > call.seq) continue;
    const reply = checkStepReply(await gateway.handleStep(request));
    if (ran === undefined) continue;
    // Without a key the gates come first: what the workflow has gone past is refused, and its effect stays one.
    if (request.key === undefined && isRefusal(reply) && reply.error === 'invalid_transition') continue;
    assert.ok(isSuccess(reply) && reply.replayed === true, `'${mark}' ran before the crash: ${JSON.stringify(reply)}`);
    assert.equal(reply.call_id, ran.call_id);
  }
  return handedOver;
}

async function wasAdopted({ id }: StoredCall, reader: StoreReader): Promise<boolean> {
  return (await reader.recordsOf(id)).some(({ kind, body }) => kind === 'settled' && body.includes('"by":"ada"'));
}
