/**
 * The tools of the chaos test and the world they change: a file with one line for each execution. A line is written at
 * once and fsynced before its body answers. Every call carries a mark of its own in its arguments: its key, if it has
 * one.
 */
import { existsSync, readFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tool } from '../../src/index.ts';

export interface Line {
  readonly mark: string;
  readonly tool: string;
  readonly call_id: string;
  readonly idempotency_key: string;
}

const input = { type: 'object', properties: { mark: { type: 'string' } }, required: ['mark'] } as const;
type Marked = { readonly mark: string };

/** Tools whose executions are effects. */
export const writes: readonly string[] = ['append', 'charge'];

export function chaosTools(log: string) {
  let handle: Promise<FileHandle> | null = null;
  const write = async (line: Line) => {
    const file = await (handle ??= open(log, 'a'));
    await file.write(`${JSON.stringify(line)}\n`);
    await file.sync();
    return { done: line.mark };
  };
  return [
    tool({
      name: 'append',
      description: 'a plain write: nobody can deduplicate it',
      input,
      run: async ({ mark }: Marked, { call_id, idempotency_key }) =>
        write({ mark, tool: 'append', call_id, idempotency_key }),
    }),
    tool({
      name: 'charge',
      description: 'a keyed write: the world counts each idempotency key once',
      input,
      effect: 'keyed',
      dedupe_window_seconds: 86_400,
      run: async ({ mark }: Marked, { call_id, idempotency_key }) =>
        write({ mark, tool: 'charge', call_id, idempotency_key }),
    }),
    tool({
      name: 'look',
      description: 'a read',
      input,
      effect: 'pure',
      run: async ({ mark }: Marked) => ({ seen: mark }),
    }),
    tool({
      name: 'decline',
      description: 'a plain write that proves that it did nothing',
      input,
      run: async (_: Marked, { fail }) => fail({ kind: '400_invalid', message: 'declined' }),
    }),
  ] as const;
}

export function linesIn(log: string): readonly Line[] {
  if (!existsSync(log)) return [];
  const text = readFileSync(log, 'utf8');
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}
