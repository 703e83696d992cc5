/** Starts a process with a gateway and listens to it, until the test kills it or is over. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import type { Limits, OperatorNotice, Reply } from '../../src/index.ts';
import { compiledEnvironment } from './compile-cache.ts';
import type { Execution } from './world.ts';

export interface ChildOrders {
  readonly file: string;
  readonly log: string;
  readonly calls: readonly { readonly request: unknown; readonly who?: { agent?: string; tenant?: string } }[];
  readonly bodies: 'hang' | 'return' | 'freeze';
  readonly limits?: Partial<Limits>;
}

/** Fill the disk, make room again, or make one more call. */
export type LaterOrder = 'fill' | 'free' | { readonly at: number; readonly request: unknown };

export type ChildEvent =
  | { readonly event: 'opened'; readonly role: string }
  | { readonly event: 'began'; readonly execution: Execution }
  | { readonly event: 'replied'; readonly at: number; readonly reply: Reply }
  | { readonly event: 'noticed'; readonly notice: OperatorNotice }
  | { readonly event: 'obeyed'; readonly order: string }
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
  /** The n-th event of a kind, or the first that the test wants; rejects if the process ends before it. */
  next<Name extends ChildEvent['event']>(
    name: Name,
    wanted?: number | ((event: EventOf<Name>) => boolean),
  ): Promise<EventOf<Name>>;
  /** One more call. Its reply is the process's own: it is not checked here. */
  ask(request: unknown): Promise<Reply>;
  order(order: 'fill' | 'free'): Promise<void>;
  /** SIGKILL, and gone when this resolves. */
  kill(): Promise<void>;
  /** Lets the process end in good order, which includes that its journal holds. */
  end(): Promise<void>;
}

export interface StartOptions {
  readonly uid?: number;
  /** A command that runs the rest of its line. */
  readonly within?: readonly string[];
}

const program = path.join(import.meta.dirname, 'gateway-child.ts');

export function startChild(t: TestContext, orders: ChildOrders, { within = [], uid }: StartOptions = {}): Child {
  const [command = '', ...line] = [...within, process.execPath, program, JSON.stringify(orders)];
  const child = spawn(command, line, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: compiledEnvironment(),
    ...(uid === undefined ? {} : { uid }),
  });
  const events: ChildEvent[] = [];
  const gone = once(child, 'close');
  let asked = orders.calls.length;
  let ended = false;
  let wake = Promise.withResolvers<void>();
  const stir = () => {
    wake.resolve();
    wake = Promise.withResolvers<void>();
  };
  createInterface({ input: child.stdout }).on('line', (line) => {
    events.push(JSON.parse(line) as ChildEvent);
    stir();
  });
  void gone.then(() => {
    ended = true;
    stir();
  });
  t.after(() => kill(child, gone));
  const next: Child['next'] = async (name, wanted = 1) => {
    for (;;) {
      const named = events.filter(({ event }) => event === name) as never[];
      const found = typeof wanted === 'number' ? named[wanted - 1] : named.find(wanted);
      if (found !== undefined) return found;
      if (ended) throw new Error(`the child ended before '${name}': ${JSON.stringify(events)}`);
      await wake.promise;
    }
  };
  const send = (order: LaterOrder) => child.stdin?.write(`${JSON.stringify(order)}\n`);
  return {
    next,
    async ask(request) {
      const at = asked++;
      send({ at, request });
      return (await next('replied', (event) => event.at === at)).reply;
    },
    async order(order) {
      const before = events.filter(({ event }) => event === 'obeyed').length;
      send(order);
      await next('obeyed', before + 1);
    },
    kill: () => kill(child, gone),
    async end() {
      child.stdin?.end();
      const [code] = (await gone) as [number | null];
      assert.equal(code, 0, 'the process ends in good order');
    },
  };
}

async function kill(child: ChildProcess, gone: Promise<unknown>): Promise<void> {
  child.kill('SIGKILL');
  await gone;
}
