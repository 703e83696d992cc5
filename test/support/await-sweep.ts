/** Proof that the sweeper has been there: the same refusal, given three times, is counted on record by nobody else. */
import { eventually } from './eventually.ts';
import type { OpenedGateway } from './open-gateway.ts';

let asked = 0;

export async function awaitSweep(gateway: OpenedGateway): Promise<void> {
  const tool = `no_such_tool_${(asked += 1)}`;
  const { call_id: callId } = await gateway.call({ tool });
  for (let repeat = 0; repeat < 2; repeat++) await gateway.call({ tool });
  await eventually('a sweep', async () => {
    const counts = (await gateway.records(callId)).filter(({ kind }) => kind === 'refusals_repeated');
    return counts.some(({ body }) => (JSON.parse(body) as { count: number }).count === 2);
  });
}
