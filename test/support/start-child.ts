/** Starts a process with a gateway and listens to it, until the test kills it or is over. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import type { Limits, Reply } from '../../src/index.ts';
import type { Execution } from './world.ts';

export interface ChildOrders {
  readonly file: string;
  readonly log: string;
  readonly calls: readonly { readonly request: unknown; readonly who?: { agent?: string; tenant?: string } }[];
  readonly bodies: 'hang' | 'return' | 'freeze';
  readonly limits?: Partial<Limits>;
}

export type ChildEvent =
  | { readonly event: 'opened'; readonly role: string }
  | { readonly event: 'began'; readonly execution: Execution }
  | { readonly event: 'replied'; readonly at: number; readonly reply: Reply }
  | { readonly event: 'asked' }
  | { readonly event: 'refused'; readonly name: string; readonly message: string; readonly reason: string };

type EventOf<Name> = Extract<ChildEvent, { readonly event: Name }>;

/** What a killed process leaves behind. */
export interface Dead {
  readonly file: string;
  readonly log: string;
  /** The one execution that it began. */
  readonly execution: Execution;
}

export interface Child {
  /** The n-th event of a kind; rejects if the process ends before it. */
  next<Name extends ChildEvent['event']>(name: Name, count?: number): Promise<EventOf<Name>>;
  /** SIGKILL, and gone when this resolves. */
  kill(): Promise<void>;
  /** Lets the process end in good order. */
  end(): Promise<void>;
}

const program = path.join(import.meta.dirname, 'gateway-child.ts');

export function startChild(t: TestContext, orders: ChildOrders, identity: { uid?: number } = {}): Child {
  const process_ = spawn(process.execPath, [program, JSON.stringify(orders)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...identity,
  });
  const events: ChildEvent[] = [];
  const gone = once(process_, 'close');
  let ended = false;
  let wake = Promise.withResolvers<void>();
  const stir = () => {
    wake.resolve();
    wake = Promise.withResolvers<void>();
  };
  createInterface({ input: process_.stdout }).on('line', (line) => {
    events.push(JSON.parse(line) as ChildEvent);
    stir();
  });
  void gone.then(() => {
    ended = true;
    stir();
  });
  t.after(() => kill(process_, gone));
  return {
    async next(name, count = 1) {
      for (;;) {
        const found = events.filter(({ event }) => event === name)[count - 1];
        if (found !== undefined) return found as never;
        if (ended) throw new Error(`the child ended before '${name}': ${JSON.stringify(events)}`);
        await wake.promise;
      }
    },
    kill: () => kill(process_, gone),
    async end() {
      process_.stdin?.end();
      await gone;
    },
  };
}

async function kill(process_: ChildProcess, gone: Promise<unknown>): Promise<void> {
  process_.kill('SIGKILL');
  await gone;
}
