/** The agents come back after the crash and ask again: nothing that ran runs a second time. */
import assert from 'node:assert/strict';
import type { CallId } from '../../src/core/call/call.ts';
import { isPending, isRefusal, type Reply } from '../../src/index.ts';
import type { StoreReader } from '../../src/ports/store.ts';
import type { Killed, Request } from './chaos-round.ts';
import { type Line, linesIn, writes } from './chaos-tools.ts';
import { groupBy } from './check-world.ts';

export interface Askable {
  handle(request: unknown): Promise<Reply>;
}

/** Every key of the round again: replayed, or run for the first time. */
export async function askKeysAgain(killed: Killed, gateway: Askable, log: string): Promise<readonly Request[]> {
  const before = groupBy(linesIn(log), (line) => line.mark);
  const keyed = new Map<string, Request>();
  for (const request of killed.asked.values()) if (request.key !== undefined) keyed.set(request.key, request);
  await Promise.all(
    [...keyed.values()].map(async (request) => {
      const reply = await gateway.handle({ ...request, wait_seconds: 30 });
      assert.ok(!isPending(reply), `${request.key} has an answer`);
      const [ran] = before.get(request.key ?? '') ?? [];
      if (ran === undefined) return;
      assert.equal(reply.replayed, true, `${request.key} ran before and is only replayed`);
      assert.equal(reply.call_id, ran.call_id, `${request.key} is answered by the call that ran`);
    }),
  );
  return [...keyed.values()];
}

/**
 * Every write without a key whose reply nobody saw: it attaches to what ran. Returns how many were not asked again,
 * because their reply was handed over and only its way to the pipe was cut: those would be calls of their own.
 */
export async function askUnansweredAgain(
  killed: Killed,
  gateway: Askable,
  reader: StoreReader,
  log: string,
): Promise<number> {
  const before = new Map<string, Line>(linesIn(log).map((line) => [line.mark, line]));
  let handedOver = 0;
  for (const [number, { tool, args, key }] of killed.asked) {
    const { mark } = args;
    if (key !== undefined || mark === undefined || killed.answered.has(number) || !writes.includes(tool)) continue;
    const ran = before.get(mark);
    if (ran !== undefined && (await reader.call(ran.call_id as CallId))?.requesterLeftAtMs === null) {
      handedOver += 1;
      continue;
    }
    const reply = await gateway.handle({ tool, args });
    if (ran === undefined || isPending(reply)) continue;
    if (isRefusal(reply) && reply.error === 'fenced') {
      assert.equal(reply.blocking_call_id, ran.call_id, `'${mark}' is in doubt, and fences an equal call`);
      continue;
    }
    assert.equal(reply.replayed, true, `'${mark}' ran before the crash, and an equal call takes its place`);
    assert.equal(reply.call_id, ran.call_id);
  }
  return handedOver;
}
