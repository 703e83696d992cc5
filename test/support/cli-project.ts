/**
 * A folder with a workflow as its author has it, and `recourse serve` as an MCP client starts it. The workflow's bodies
 * leave a line in a file of the world each time they run, and print where they should not.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createGateway, type MountedWorkflow, type Reply } from '../../src/index.ts';
import { eventually } from './eventually.ts';
import { calledOf } from './mcp-connect.ts';
import { bin, folder, root, stateDir, storeIn } from './recourse-process.ts';

const barModule = `
  import { appendFileSync, existsSync } from 'node:fs';
  import { createMachine } from 'xstate';
  import { mount } from ${JSON.stringify(pathToFileURL(join(root, 'src/index.ts')).href)};
  console.log('the module prints');
  const world = new URL('./world.txt', import.meta.url);
  const gate = new URL('./gate.txt', import.meta.url);
  const acts = (name, answer) => async (inputs, ctx) => {
    console.log('a body prints');
    appendFileSync(world, name + '\\n');
    return answer(inputs, ctx);
  };
  const untilOpen = async (_inputs, { signal }) => {
    while (!existsSync(gate) && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, 5));
    return { waited: true };
  };
  const machine = createMachine({
    context: { drinks: [], paid: false },
    initial: 'idle',
    states: {
      idle: { on: { order: 'ordering' } },
      ordering: { on: { order: 'ordering', wait: 'ordering', lose: 'paid', pay: 'paid' } },
      paid: { on: { serve: 'served' } },
      served: { type: 'final' },
    },
  });
  export const workflow = mount(machine, {
    name: 'bar',
    version: '1',
    description: 'Sells drinks.',
    actions: {
      order: {
        description: 'Orders a drink.',
        input: { type: 'object', properties: { drink: { type: 'string' } }, required: ['drink'] },
        run: acts('order', (inputs) => inputs),
        update: ({ context, inputs }) => ({ ...context, drinks: [...context.drinks, inputs.drink] }),
      },
      wait: { description: 'Waits for the gate.', run: acts('wait', untilOpen) },
      lose: { description: 'Pays, and nobody knows.', effect: 'plain', run: acts('lose', () => { throw new Error('the bank hung up'); }) },
      pay: { description: 'Pays.', run: acts('pay', () => ({ paid: true })) },
      serve: { description: 'Serves.', effect: 'pure', run: async () => ({}) },
    },
  });
  // Whoever serves it must end all the same.
  if (process.argv.includes('serve')) setInterval(() => undefined, 1_000);
`;

/** A workflow whose bodies do what bodies should not, and call tools of any server. */
export const strayModule = `
  import { createMachine } from 'xstate';
  import { mount } from ${JSON.stringify(pathToFileURL(join(root, 'src/index.ts')).href)};
  const loop = { reject: 'a', refuse: 'a', flood: 'a', echo: 'a', crash: 'a' };
  const hostile = new Proxy({}, { get() { throw new Error('do not look'); }, ownKeys() { throw new Error('do not look'); } });
  export const workflow = mount(createMachine({ initial: 'a', states: { a: { on: loop } } }), {
    name: 'stray',
    actions: {
      reject: { run: async () => { void Promise.reject(new TypeError('nobody waits\\u001b[31m\\nfor this')); return 1; } },
      refuse: { run: async () => { void Promise.reject(); void Promise.reject(hostile); return 1; } },
      flood: { run: async () => { for (let n = 0; n < 1_000; n++) void Promise.reject(n); return 1; } },
      echo: { run: async (_inputs, ctx) => ctx.tools.call('everything/echo', { message: 'hello' }) },
      crash: { run: async () => { setImmediate(() => { throw new Error('thrown by a timer'); }); return 1; } },
    },
  });
`;

export interface BarProject {
  readonly home: string;
  /** The store, where the commands find it by themselves. */
  readonly file: string;
  /** What the bodies did, in order. */
  done(): readonly string[];
  /** Lets waiting bodies end. */
  openGate(): void;
}

export function barProject(t: TestContext): BarProject {
  const home = folder(t);
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'), 'dir');
  writeFileSync(join(home, 'package.json'), '{"type":"module"}');
  writeFileSync(join(home, 'bar.ts'), barModule);
  const world = join(home, 'world.txt');
  return {
    home,
    file: storeIn(home),
    done: () => (existsSync(world) ? readFileSync(world, 'utf8').trimEnd().split('\n') : []),
    openGate: () => writeFileSync(join(home, 'gate.txt'), ''),
  };
}

/** A gateway of this process on the project's store. */
export async function openBar(t: TestContext, { home, file }: BarProject, agent = 'waiter') {
  const { log } = console;
  console.log = () => undefined;
  t.after(() => void (console.log = log));
  const loaded = (await import(pathToFileURL(join(home, 'bar.ts')).href)) as { readonly workflow: MountedWorkflow };
  const gateway = await createGateway({ workflows: [loaded.workflow], file, agent });
  t.after(() => gateway.close({ drain_seconds: 0 }));
  const step = (action: string, rest: object = {}): Promise<Reply> => gateway.handleStep({ action, ...rest });
  return { gateway, step };
}

/** A command that needs an answer of this very process, which must not stand still for it. */
export async function runBeside(words: readonly string[], cwd: string) {
  const child = spawn(process.execPath, [bin, ...words], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (ended.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (ended.stderr += chunk.toString()));
  await once(child, 'close');
  return { status: child.exitCode, ...ended };
}

/** What another process of this run has compiled. */
const compiledByOthers: Readonly<Record<string, string>> =
  process.env['NODE_COMPILE_CACHE'] === undefined ? {} : { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] };

export interface ServeSetting {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** How the client finds out which revision is spoken. */
  readonly mode?: 'legacy' | 'auto';
}

/** `recourse serve …` with the official client in front of it. */
export function connectServe(t: TestContext, words: readonly string[], setting: ServeSetting) {
  return connectCommand(t, ['serve', ...words], setting);
}

/** A client that starts a command of recourse and speaks with it. */
export async function connectCommand(t: TestContext, words: readonly string[], setting: ServeSetting) {
  const { cwd, env = {}, mode = 'legacy' } = setting;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, ...words],
    env: { PATH: process.env['PATH'] ?? '', RECOURSE_STATE_DIR: stateDir, ...compiledByOthers, ...env },
    cwd,
    stderr: 'pipe',
  });
  let said = '';
  transport.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const errors: string[] = [];
  client.onerror = (error) => void errors.push(error.message);
  await client.connect(transport);
  t.after(() => client.close());
  const call = async (name: string, args: object): Promise<Reply> =>
    calledOf(await client.callTool({ name, arguments: args as never })).reply;
  return {
    client,
    call,
    step: (action: string, rest: object = {}) => call('step', { action, ...rest }),
    pid: transport.pid ?? 0,
    /** What is no message on standard output, and other errors of the connection. */
    errors,
    said: () => said,
    saying: (words: RegExp) => eventually(`serve says ${words}, not ${said}`, async () => words.test(said)),
  };
}

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
