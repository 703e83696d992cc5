/** What must hold of doubts and tickets at rest: each doubt has somebody who looks at it, and no settled one has. */
import type { MemoryState } from '../memory-state.ts';
import type { Witness } from '../witness.ts';

/** `isQuiet`: the faults have stopped for long enough that no read is due any more. */
export function checkDoubts({ calls, tickets }: MemoryState, isQuiet: boolean, { breaks }: Witness): void {
  const open = [...tickets.values()].filter(({ state }) => state === 'open');
  for (const { call } of calls.values()) {
    const own = open.filter((ticket) => ticket.call === call.id);
    if (call.state !== 'IN_DOUBT') {
      if (own.some(({ reason }) => reason === 'in_doubt'))
        breaks('19', `${call.id} is ${call.state}, and its ticket still asks for a person`);
      continue;
    }
    if (call.dueAtMs === null && own.length === 0) breaks('19', `${call.id} is in doubt, and nobody will look at it`);
    if (call.dueAtMs !== null && isQuiet) breaks('19', `${call.id} is in doubt, and its read is still due`);
  }
}
