/** Starts processes that share one store, tells them what to do, and kills them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import type { Reply } from '../../src/index.ts';
import { compiledEnvironment } from '../support/compile-cache.ts';
import type { AskerOrder, AskerPlace } from './approval-asker.ts';
import type { ApprovalRequest } from './approval-round.ts';
import type { Marked } from './approval-world.ts';

export interface Asker {
  readonly role: string;
  /** Null for each ask that the process did not live to answer. */
  ask(
    request: ApprovalRequest & { readonly wait_seconds?: number },
    times?: number,
  ): Promise<readonly (Reply | null)[]>;
  approve(approval: string, by: string, args?: Marked): Promise<string | null>;
  /** SIGKILL, and gone when this resolves. */
  kill(): Promise<void>;
  /** In good order. */
  end(): Promise<void>;
}

export async function startAsker(t: TestContext, place: AskerPlace): Promise<Asker> {
  const program = path.join(import.meta.dirname, 'approval-asker.ts');
  const child: ChildProcess = spawn(process.execPath, [program, JSON.stringify(place)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: compiledEnvironment(),
  });
  const gone = once(child, 'close');
  const waiting = new Map<number, (value: unknown) => void>();
  const { promise: opened, resolve: open } = Promise.withResolvers<string>();
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (text) => {
    const line = JSON.parse(text) as { readonly role?: string; readonly at?: number; readonly value?: unknown };
    if (line.role !== undefined) return open(line.role);
    waiting.get(line.at ?? -1)?.(line.value);
  });
  let told = 0;
  const tell = (order: AskerOrder): Promise<unknown> => {
    const at = told++;
    const answer = new Promise((resolve) => waiting.set(at, resolve));
    child.stdin?.write(`${JSON.stringify({ at, order })}\n`);
    return Promise.race([answer, gone.then(() => null)]);
  };
  // Orders to a process that was just killed go nowhere.
  child.stdin?.on('error', () => undefined);
  const kill = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  t.after(kill);
  return {
    role: await Promise.race([opened, gone.then(() => 'gone')]),
    ask: async (request, times = 1) =>
      ((await tell({ order: 'ask', request, times })) as readonly Reply[] | null) ??
      Array.from({ length: times }, () => null),
    approve: async (approval, by, args) =>
      (await tell({ order: 'approve', approval, by, ...(args === undefined ? {} : { args }) })) as string | null,
    kill,
    async end() {
      child.stdin?.end();
      await gone;
    },
  };
}
