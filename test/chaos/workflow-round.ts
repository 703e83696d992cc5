/**
 * One round: a process that owns the store and walks workflows, killed with SIGKILL at a moment that the seed chose.
 */
import type { Reply } from '../../src/index.ts';
import { killChild, type Moment } from './kill-child.ts';

export interface StepRequest {
  readonly session: string;
  readonly action: string;
  readonly inputs: { readonly mark: string };
  readonly key?: string;
}

export interface StepOrders {
  readonly file: string;
  readonly log: string;
  readonly seed: number;
  readonly round: number;
  readonly sessions: readonly string[];
}

/** What the processes had said when they died, by mark. */
export interface Heard {
  readonly asked: Map<string, StepRequest>;
  readonly answered: Map<string, Reply>;
}

/** Adds to what was heard before; true if the process had opened the store. */
export function walkAndKill(orders: StepOrders, moment: Moment, heard: Heard): Promise<boolean> {
  return killChild<StepRequest>('workflow-child.ts', orders, moment, {
    asked: (_number, request) => void heard.asked.set(request.inputs.mark, request),
    answered: (number, reply) => void heard.answered.set(`r${orders.round}-${number}`, reply),
  });
}
