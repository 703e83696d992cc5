/** One round: a process that owns the store and works, killed with SIGKILL at a moment that the seed chose. */
import type { Reply } from '../../src/index.ts';
import { killChild, type Moment } from './kill-child.ts';

export interface Request {
  readonly tool: string;
  readonly args: { readonly mark?: string };
  readonly key?: string;
  readonly wait_seconds?: number;
}

export interface Orders {
  readonly file: string;
  readonly log: string;
  readonly seed: number;
  readonly round: number;
  /** Calls of earlier rounds, to be asked again. */
  readonly oldKeys: readonly Request[];
}

/** What the process had said when it died, by round and number of the call. */
export interface Killed {
  readonly asked: ReadonlyMap<string, Request>;
  readonly answered: ReadonlyMap<string, Reply>;
  readonly opened: boolean;
}

/** Processes that died one after the other, as one. */
export function together(killed: readonly Killed[]): Killed {
  return {
    asked: new Map(killed.flatMap(({ asked }) => [...asked])),
    answered: new Map(killed.flatMap(({ answered }) => [...answered])),
    opened: killed.some(({ opened }) => opened),
  };
}

export async function runAndKill(orders: Orders, moment: Moment): Promise<Killed> {
  const asked = new Map<string, Request>();
  const answered = new Map<string, Reply>();
  const opened = await killChild<Request>('chaos-child.ts', orders, moment, {
    asked: (number, request) => void asked.set(`${orders.round}/${number}`, request),
    answered: (number, reply) => void answered.set(`${orders.round}/${number}`, reply),
  });
  return { asked, answered, opened };
}
