/**
 * Bugs of retries and probes that the simulation must find, each put in by a port that lies or by what a gateway was
 * told. None of them is in the gateway.
 */
import type { ToolEntry } from '../../../src/core/call/catalogue.ts';
import type { ToolRecovery } from '../../../src/core/recovery/playbook.ts';
import type { Store } from '../../../src/ports/store.ts';
import type { Failure, Upstream } from '../../../src/ports/upstream.ts';
import { faultMixes } from '../fault-mix.ts';
import type { PlantedBug } from '../planted-bugs.ts';
import type { Tampering } from '../simulated-gateway.ts';
import { declareRecovery } from './recovery-setting.ts';

const declared = declareRecovery(false);

/** Waits for no late execution: the first no settles. */
const believesAtOnce = (tool: ToolEntry): ToolRecovery => ({ ...declared(tool), quarantineMs: 0 });

/** The first failure of a call is taken for every later one. */
function remembersFirst(upstream: Upstream): Upstream {
  const first = new Map<string, Failure>();
  return {
    async invoke(attempt, signal, late) {
      const result = await upstream.invoke(attempt, signal, late);
      if (result.kind !== 'failed') return result;
      const failure = first.get(attempt.callId) ?? result.failure;
      first.set(attempt.callId, failure);
      return { kind: 'failed', failure };
    },
  };
}

/** A wait that was planned is known only to the process that planned it. */
function forgetsWaits(store: Store): Store {
  const isPlanned = async ({ id, attempt }: { id: Parameters<Store['recordsOf']>[0]; attempt: number }) =>
    (await store.recordsOf(id)).some(
      ({ kind, body }) =>
        kind === 'attempt_scheduled' && (JSON.parse(body) as { attempt: number }).attempt === attempt + 1,
    );
  return {
    ...store,
    async due(nowMs, limit) {
      const found = await store.due(nowMs, limit);
      const lost = await Promise.all(found.map((call) => call.state === 'RETRY_WAIT' && isPlanned(call)));
      return found.filter((_, index) => lost[index] !== true);
    },
  };
}

/** Each call has a budget of its own, so all of them together have none. */
function countsEachCall(): NonNullable<Tampering['recovery']> {
  let asked = 0;
  return (tool) => {
    const known = declared(tool);
    // Not where there is a breaker: it would leak as well, and be noticed first.
    return known.breaker === null ? { ...known, upstream: `${known.upstream} ${asked++}` } : known;
  };
}

const plant = (tampering: Tampering) => ({ wildClocks: false, mix: faultMixes.down, tampering });

export const plantedRecoveryBugs: readonly PlantedBug[] = [
  {
    name: 'an early negative probe is believed',
    plant: () => plant({ recovery: believesAtOnce }),
    breaks: ['2', 'effect', '1'],
  },
  {
    name: 'a verdict is not classified anew',
    plant: () => plant({ ports: (ports) => ({ ...ports, upstream: remembersFirst(ports.upstream) }) }),
    breaks: ['classify', '6', '2', 'effect'],
  },
  {
    name: 'a wait is lost with its process',
    plant: () => plant({ ports: (ports) => ({ ...ports, store: forgetsWaits(ports.store) }) }),
    breaks: ['19'],
  },
  {
    name: 'the retry budget leaks',
    plant: () => plant({ recovery: countsEachCall() }),
    breaks: ['budget'],
  },
];
