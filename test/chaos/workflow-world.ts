/**
 * The workflows of the chaos test and the world they change: a file with one line for each execution of a body, fsynced
 * before the body answers. Every step carries a mark of its own in its inputs.
 */
import { existsSync, readFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createMachine } from 'xstate';
import { mount } from '../../src/index.ts';

export interface WorldLine {
  readonly session: string;
  readonly action: string;
  readonly mark: string;
  readonly call_id: string;
}

interface Marked {
  readonly mark: string;
}

const input = { type: 'object', properties: { mark: { type: 'string' } }, required: ['mark'] } as const;

/** `done` counts the steps that had an effect: what the state says must be what the file says. */
const counted = ({ context }: { context: { done: number } }) => ({ done: context.done + 1 });

/** A bar with one legal action in each state, and a tally on which two actions are always legal. */
export function chaosWorkflows(log: string) {
  let handle: Promise<FileHandle> | null = null;
  const writes = (action: string) => ({
    input,
    run: async ({ mark }: Marked, { call_id, session }: { call_id: string; session: string | null }) => {
      const file = await (handle ??= open(log, 'a'));
      const line: WorldLine = { session: session ?? '', action, mark, call_id };
      await file.write(`${JSON.stringify(line)}\n`);
      await file.sync();
      return { did: mark };
    },
    update: counted,
  });
  const bar = mount(
    createMachine({
      id: 'bar',
      initial: 'idle',
      context: { done: 0 },
      states: {
        idle: { on: { take_order: 'ordering' } },
        ordering: { on: { pay: 'paid' } },
        paid: { on: { fulfill: 'idle' } },
      },
    }),
    { actions: { take_order: writes('take_order'), pay: writes('pay'), fulfill: writes('fulfill') } } as never,
  );
  const tally = mount(
    createMachine({
      id: 'tally',
      initial: 'counting',
      context: { done: 0 },
      states: { counting: { on: { increment: 'counting', look: 'counting' } } },
    }),
    { actions: { increment: writes('increment'), look: { input, effect: 'pure', run: async () => ({}) } } } as never,
  );
  return [bar, tally] as const;
}

export function worldLines(log: string): readonly WorldLine[] {
  if (!existsSync(log)) return [];
  const text = readFileSync(log, 'utf8');
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as WorldLine);
}
