/**
 * The tools of the approval chaos and the world they change: a file with one line for each execution, fsynced before
 * its body answers. Every tool is deferred; its name says by which rule. What a call carries is its mark and an amount.
 */
import { existsSync, readFileSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { type ApprovalTerms, defaultTerms } from '../../src/core/approval/approval.ts';
import { compilePolicy } from '../../src/core/policy/compile-policy.ts';
import type { Policy } from '../../src/core/policy/policy.ts';
import type { EffectClass } from '../../src/core/taxonomy.ts';
import { type Tool, tool } from '../../src/index.ts';

export const agent = 'chaos';

/** Long enough to be approved in most rounds, short enough to run out in some. */
const fleetingMs = 150;

interface Kind {
  readonly effect: EffectClass;
  readonly terms: Partial<ApprovalTerms>;
}

export const kinds = {
  post_wait: { effect: 'plain', terms: {} },
  post_two: { effect: 'plain', terms: { needed: 2 } },
  post_run: { effect: 'plain', terms: { onApprove: 'run' } },
  post_run_two: { effect: 'plain', terms: { onApprove: 'run', needed: 2 } },
  post_fleeting: { effect: 'plain', terms: { expiresMs: fleetingMs } },
  charge_wait: { effect: 'keyed', terms: {} },
  charge_run: { effect: 'keyed', terms: { onApprove: 'run' } },
  look_wait: { effect: 'pure', terms: {} },
  look_run: { effect: 'pure', terms: { onApprove: 'run' } },
} as const satisfies Readonly<Record<string, Kind>>;

export type KindName = keyof typeof kinds;

export const kindNames = Object.keys(kinds) as KindName[];
export const termsOf = (name: KindName): ApprovalTerms => ({ ...defaultTerms, ...kinds[name].terms });
export const isWrite = (name: KindName): boolean => kinds[name].effect !== 'pure';

/** What the agent asks for, and what an approver may make of it. */
export const askedAmount = 1;
export const editedAmount = 2;

export interface Marked {
  readonly mark: string;
  readonly amount: number;
}

export interface Line extends Marked {
  readonly tool: KindName;
  readonly call_id: string;
  readonly idempotency_key: string;
}

export function approvalPolicy(): Policy {
  const rules = kindNames.map((name, index) => ({
    effect: 'defer' as const,
    match: name,
    when: null,
    reason: null,
    ref: `recourse.yaml:${10 + index}`,
    terms: termsOf(name),
  }));
  const agents = [{ agent, ref: 'recourse.yaml:5', rules, default: null, ceiling: null, models: null, redact: [] }];
  const compiled = compilePolicy({ mode: 'enforce', ref: 'recourse.yaml:4', agents, roles: {} }, null);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.policy;
}

const input = {
  type: 'object',
  properties: { mark: { type: 'string' }, amount: { type: 'integer' } },
  required: ['mark', 'amount'],
} as const;

/** `around` is told right before a line is written and right after it is on the disk. */
export function approvalTools(
  ledger: string,
  around: (moment: 'before' | 'after') => void = () => undefined,
): readonly Tool[] {
  const write = async (line: Line) => {
    around('before');
    // One write with O_APPEND, and an fsync before the file is closed.
    await appendFile(ledger, `${JSON.stringify(line)}\n`, { flush: true });
    around('after');
    return { done: line.mark, amount: line.amount };
  };
  return kindNames.map((name) =>
    tool({
      name,
      description: `${name}, deferred`,
      input,
      effect: kinds[name].effect as EffectClass,
      ...(kinds[name].effect === 'keyed' ? { dedupe_window_seconds: 86_400 } : {}),
      run: async ({ mark, amount }: Marked, { call_id, idempotency_key }) =>
        write({ mark, amount, tool: name, call_id, idempotency_key }),
    }),
  );
}

export function ledgerLines(ledger: string): readonly Line[] {
  if (!existsSync(ledger)) return [];
  const text = readFileSync(ledger, 'utf8');
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}
