/**
 * A world outside of the gateway: one tool for each effect class, whose executions are lines in a file that outlives
 * every process. A line is there, fsynced, before its body answers.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { EffectClass } from '../../src/core/taxonomy.ts';
import type { Tool } from '../../src/index.ts';
import { aTool, effectClassNames } from './tools.ts';

export interface Execution {
  readonly tool: string;
  readonly call_id: string;
  readonly attempt: number;
  readonly idempotency_key: string;
}

export const toolOf = (effect: EffectClass): string => `${effect}_act`;

/** `afterwards` is what a body does once its line is written. */
export function createWorld(log: string, afterwards: (execution: Execution) => unknown): readonly Tool[] {
  return effectClassNames.map((effect) =>
    aTool(
      toolOf(effect),
      (_, { call_id, attempt, idempotency_key }) => {
        const execution = { tool: toolOf(effect), call_id, attempt, idempotency_key };
        appendLine(log, JSON.stringify(execution));
        return afterwards(execution);
      },
      { effect },
    ),
  );
}

export function appendLine(file: string, line: string): void {
  const descriptor = openSync(file, 'a');
  try {
    writeSync(descriptor, `${line}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export function executionsIn(log: string): readonly Execution[] {
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Execution);
}
