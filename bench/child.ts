/** Starts a process of the benchmark and waits until it says on which port it serves. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

export interface Child {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export async function startChild(file: string, ...given: readonly string[]): Promise<Child> {
  const process_ = fork(new URL(file, import.meta.url), [...given], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [port] = (await Promise.race([once(process_, 'message'), failed(process_, file)])) as [number];
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    pid: process_.pid ?? 0,
    async stop() {
      const gone = once(process_, 'exit');
      process_.kill('SIGTERM');
      await gone;
    },
  };
}

async function failed(process_: ChildProcess, file: string): Promise<never> {
  const [code] = await once(process_, 'exit');
  throw new Error(`${file} ended with ${String(code)} before it served`);
}
