/**
 * The way between one process and the shared store: it takes time, and it breaks. A commit may be lost, applied without
 * word of it, refused by a full disk, or overtaken by the death of whoever sent it.
 */
import type { CommitResult, Store, StoreFault, Transition } from '../../src/ports/store.ts';
import type { FaultMix, StoreFaultName } from './fault-mix.ts';
import type { Incarnation } from './memory-store.ts';
import type { MemoryReader } from './memory-reader.ts';
import type { Random } from './random.ts';
import type { Life, Scheduler } from './scheduler.ts';

/** What happens to the process at this act: nothing, or its death before the act or right after it took effect. */
export type Fate = 'lives' | 'dies before' | 'dies after';

export interface StoreWorld {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly mix: () => FaultMix;
  readonly diskIsFull: () => boolean;
  readonly fate: (life: Life, act: string) => Fate;
  readonly crash: (life: Life, why: string) => void;
  readonly cover: (fault: string, transition: Transition) => void;
  /** Hears of everything that is sent to the store, at the moment it is. */
  readonly onSubmit: (transition: Transition, life: Life) => void;
  /** Hears of everything that reached the store, in order, with what came of it. */
  readonly onCommit: (transition: Transition, result: CommitResult) => void;
}

const never = <Value>() => new Promise<Value>(() => undefined);

const unavailable = (fault: StoreFault, count: number): CommitResult[] =>
  Array.from({ length: count }, () => ({ kind: 'unavailable', fault, message: `simulated: ${fault}` }) as const);

export function simulateStore(incarnation: Incarnation, life: Life, world: StoreWorld): Store {
  const { scheduler, random } = world;
  const latency = () => random.between(0, 3);

  const read = <Value>(name: string, ask: () => Value): Promise<Value> => {
    if (!life.alive) return never();
    if (world.fate(life, `read ${name}`) !== 'lives') {
      world.crash(life, `at read ${name}`);
      return never();
    }
    return new Promise((resolve) => {
      scheduler.after(latency(), null, '', () => {
        const value = ask();
        scheduler.after(latency(), life, '', () => resolve(value));
      });
    });
  };

  const draw = (): StoreFaultName | null => {
    const chances = Object.entries(world.mix().store) as [StoreFaultName, number][];
    for (const [name, chance] of chances) if (random.chance(chance)) return name;
    return null;
  };

  const commit = (transitions: readonly Transition[]): Promise<readonly CommitResult[]> => {
    if (!life.alive) return never();
    const fate = world.fate(life, 'commit');
    if (fate === 'dies before') {
      world.crash(life, 'before a commit');
      return never();
    }
    for (const transition of transitions) world.onSubmit(transition, life);
    const fault = draw();
    if (fault !== null) for (const transition of transitions) world.cover(fault, transition);
    return new Promise((resolve) => {
      const answer = (what: string, results: readonly CommitResult[], delayMs = latency()) =>
        scheduler.after(delayMs, life, `${what}: ${describe(transitions, results)}`, () => resolve(results));
      if (fault === 'overloaded') {
        answer(fault, unavailable('overloaded', transitions.length));
        return;
      }
      const travel = fault === 'slow commit' ? random.between(300, 4_000) : latency();
      scheduler.after(travel, null, '', () => {
        // A process that died on the way may have sent its commit, or not.
        if (!life.alive && random.chance(0.5)) return;
        if (fault === 'commit lost') return void answer(fault, unavailable('io', transitions.length));
        if (world.diskIsFull()) {
          for (const transition of transitions) world.cover('disk full', transition);
          return void answer('disk full', unavailable('disk_full', transitions.length));
        }
        const results = incarnation.commit(transitions);
        for (const [index, result] of results.entries()) world.onCommit(transitions[index] as Transition, result);
        scheduler.say(() => `store: applies ${describe(transitions, results)} for ${life.node}`);
        if (fate === 'dies after') return world.crash(life, 'after a commit, before its acknowledgement');
        if (fault === 'acknowledgement lost') return void answer(fault, unavailable('io', transitions.length));
        answer('commit', results);
      });
    });
  };

  return {
    ...readers(incarnation.read, read),
    incarnation: incarnation.id,
    highestTimeMs: incarnation.highestTimeMs,
    commit,
    trouble: async () => null,
    answered: (position) => (life.alive ? incarnation.answered(position) : undefined),
    erase: async (...about) => incarnation.erase(...about),
    close: async () => incarnation.close(),
  };
}

type Readers = Omit<Store, 'incarnation' | 'highestTimeMs' | 'commit' | 'trouble' | 'answered' | 'erase' | 'close'>;

function readers(reader: MemoryReader, read: <Value>(name: string, ask: () => Value) => Promise<Value>): Readers {
  const entries = Object.entries(reader).map(([name, ask]) => [
    name,
    (...given: readonly unknown[]) => read(name, () => (ask as (...all: readonly unknown[]) => unknown)(...given)),
  ]);
  return Object.fromEntries(entries) as Readers;
}

function describe(transitions: readonly Transition[], results: readonly CommitResult[]): string {
  return transitions
    .map(({ call, session, records }, index) => {
      const result = results[index];
      const outcome = result?.kind === 'conflict' ? `conflict on ${result.on}` : (result?.kind ?? 'nothing');
      const what =
        call === null
          ? (session?.kind ?? 'note')
          : call.kind === 'mark'
            ? `mark ${call.id} ${call.requester}`
            : `${call.call.id} → ${call.path.join(' → ')}`;
      return `${what} [${records.map(({ kind }) => kind).join(' ')}] ${outcome}`;
    })
    .join('; ');
}
