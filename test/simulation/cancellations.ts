/** What is cancelled next in a simulated world: a call, a turn or a session, by the agent whose it is. */
import type { MemoryState } from './memory-state.ts';
import type { Random } from './random.ts';

interface Cancelling {
  readonly random: Random;
  readonly state: MemoryState;
  readonly cover: (fault: string, callId: string) => void;
}

export function drawCancellation(
  { random, state, cover }: Cancelling,
  walks: readonly { readonly agent: string; readonly session: string }[],
  sessions: ReadonlyMap<string, string>,
) {
  const agent = random.pick(['ann', 'bob']);
  const walk = walks.length > 0 && random.chance(0.2) ? random.pick(walks) : null;
  const session = walk?.session ?? sessions.get(agent);
  const calls = [...state.unfinished];
  const target =
    session === undefined || random.chance(0.4)
      ? { call: calls.length === 0 ? 'call_none' : random.pick(calls) }
      : random.chance(0.5)
        ? { session }
        : { session, turn: 'turn-1' };
  if ('call' in target) cover('call cancelled', target.call);
  else for (const id of calls) if (state.calls.get(id)?.call.session === session) cover('session cancelled', id);
  const owner = 'call' in target ? (state.calls.get(target.call)?.call.agent ?? agent) : (walk?.agent ?? agent);
  return { target, who: { tenant: 'acme', agent: owner } };
}
