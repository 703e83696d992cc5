/**
 * One round: a process in which agents ask and people decide, killed with SIGKILL from outside at a moment that the
 * seed chose, or from inside at an act that the test names. What it had said until then is what agents and people know.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { ApprovalState } from '../../src/core/approval/approval.ts';
import type { Reply } from '../../src/index.ts';
import { compiledEnvironment } from '../support/compile-cache.ts';
import type { Death } from './approval-gateway.ts';
import type { KindName, Marked } from './approval-world.ts';
import type { Moment } from './kill-child.ts';

export interface ApprovalRequest {
  readonly tool: KindName;
  readonly args: Marked;
  readonly key?: string;
}

export interface ApprovalOrders {
  readonly file: string;
  readonly ledger: string;
  readonly seed: number;
  readonly round: number;
  readonly death: Death | null;
}

export type Verb = 'approve' | 'edit' | 'deny' | 'revoke';

export interface Decision {
  readonly approval: string;
  readonly verb: Verb;
  readonly by: string;
}

export type ApprovalLine =
  | { readonly line: 'opened'; readonly role: string }
  /** `alone`: nobody else asks for the same. */
  | { readonly line: 'asked'; readonly number: number; readonly request: ApprovalRequest; readonly alone: boolean }
  | { readonly line: 'answered'; readonly number: number; readonly reply: Reply }
  | { readonly line: 'deciding'; readonly number: number; readonly decision: Decision }
  | { readonly line: 'decided'; readonly number: number; readonly state: ApprovalState | null };

export interface AskedCall {
  readonly request: ApprovalRequest;
  readonly alone: boolean;
  reply: Reply | null;
}

export interface MadeDecision extends Decision {
  /** What the person was told it became; `refused`, if it did not count; null if they never heard. */
  state: ApprovalState | 'refused' | null;
}

/** What the processes had said when they died, by round and number. */
export interface Heard {
  readonly asked: Map<string, AskedCall>;
  readonly decisions: Map<string, MadeDecision>;
}

export const nothingHeard = (): Heard => ({ asked: new Map(), decisions: new Map() });

/** A process that has not died by then never will. */
const patienceMs = 120_000;

/** Adds to what was heard before; true if the process had opened the store. */
export async function decideAndKill(orders: ApprovalOrders, moment: Moment | null, heard: Heard): Promise<boolean> {
  const program = path.join(import.meta.dirname, 'approval-child.ts');
  const child = spawn(process.execPath, [program, JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: compiledEnvironment(),
  });
  let opened = false;
  let late = false;
  const tooLate = setTimeout(() => {
    late = true;
    child.kill('SIGKILL');
  }, patienceMs);
  const killLater = () => {
    if (moment !== null) setTimeout(() => child.kill('SIGKILL'), moment.delayMs);
  };
  if (moment?.after === 'start') killLater();
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = readLine(text);
    // The last line may be torn by the kill; it was never said.
    if (line === null) return;
    if (line.line !== 'opened') return hear(line, orders.round, heard);
    opened = true;
    if (line.role !== 'owner') throw new Error(`the process is a ${line.role}`);
    if (moment?.after === 'opened') killLater();
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  clearTimeout(tooLate);
  if (signal !== 'SIGKILL') throw new Error(`round ${orders.round}: the process ended by itself with ${code}`);
  if (late) throw new Error(`round ${orders.round}: ${JSON.stringify(orders.death)} never came`);
  return opened;
}

function hear(line: Exclude<ApprovalLine, { line: 'opened' }>, round: number, { asked, decisions }: Heard): void {
  const at = `${round}/${line.number}`;
  switch (line.line) {
    case 'asked':
      return void asked.set(at, { request: line.request, alone: line.alone, reply: null });
    case 'answered': {
      const call = asked.get(at);
      if (call !== undefined) call.reply = line.reply;
      return;
    }
    case 'deciding':
      return void decisions.set(at, { ...line.decision, state: null });
    case 'decided': {
      const decision = decisions.get(at);
      if (decision !== undefined) decision.state = line.state ?? 'refused';
      return;
    }
    default:
      return line satisfies never;
  }
}

function readLine(text: string): ApprovalLine | null {
  try {
    return JSON.parse(text) as ApprovalLine;
  } catch {
    return null;
  }
}
