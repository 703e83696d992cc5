/**
 * A real gateway whose policy can change while it runs, with its approvals: for one test, verified and removed
 * afterwards.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { Tool } from '../../src/index.ts';
import type { Decider } from '../../src/core/approval/approval.ts';
import type { Limits } from '../../src/core/limits.ts';
import type { Policy, WrittenAgent, WrittenPolicy } from '../../src/core/policy/policy.ts';
import { compilePolicy } from '../../src/core/policy/compile-policy.ts';
import type { Reply } from '../../src/core/call/reply.ts';
import { openGateway as open } from '../../src/main.ts';
import { createApprovals } from '../../src/shell/approval/approvals.ts';
import { checkReply } from './check-reply.ts';
import { checkFile } from './read-journal.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { MountedWorkflow } from '../../src/adapters/upstream-function/workflow/mount.ts';

export const ana: Decider = { kind: 'person', tenant: 'default', name: 'ana' };
export const ben: Decider = { kind: 'person', tenant: 'default', name: 'ben' };
export const user: Decider = { kind: 'client', tenant: 'default', agent: 'local' };

interface Parts {
  readonly agents: readonly WrittenAgent[];
  readonly roles?: Readonly<Record<string, readonly string[]>>;
  readonly mode?: 'enforce' | 'audit';
  readonly limits?: Partial<Limits>;
  /** Rate limits and budgets that agents share. */
  readonly shared?: Pick<WrittenPolicy, 'limits' | 'budgets'>;
  readonly clock?: Clock;
  readonly workflows?: readonly MountedWorkflow[];
}

export function policyOf({ agents, roles = {}, mode = 'enforce', shared = {} }: Parts): Policy {
  const compiled = compilePolicy({ mode, ref: 'recourse.yaml:4', agents, roles, ...shared }, null);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.policy;
}

const homes = new WeakMap<TestContext, { readonly folder: string; readonly closing: (() => Promise<void>)[] }>();

/** One folder for all gateways of a test, removed once they are closed. */
function homeOf(t: TestContext) {
  const known = homes.get(t);
  if (known !== undefined) return known;
  const home = { folder: mkdtempSync(path.join(tmpdir(), 'recourse-')), closing: [] as (() => Promise<void>)[] };
  homes.set(t, home);
  t.after(async () => {
    try {
      for (const close of home.closing) await close();
    } finally {
      rmSync(home.folder, { recursive: true, force: true });
    }
  });
  return home;
}

/** The store that the gateways of this test open: another process may be there before them. */
export const fileOf = (t: TestContext): string => path.join(homeOf(t).folder, 'recourse.db');

export async function openApprovals(t: TestContext, tools: readonly Tool[], parts: Parts) {
  const { folder, closing } = homeOf(t);
  const file = fileOf(t);
  let policy = policyOf(parts);
  const { limits, clock, workflows = [] } = parts;
  const { gateway, shell } = await open(
    {
      tools,
      workflows,
      file,
      policy: () => policy,
      onNotice: () => undefined,
      ...(limits === undefined ? {} : { limits }),
    },
    clock === undefined ? {} : { clock },
  );
  let closed = false;
  const close = async (): Promise<void> => {
    if (closed) return;
    closed = true;
    await gateway.close({ drain_seconds: 0 });
    await checkFile(file);
  };
  closing.push(close);
  const around = { tools: tools.map(({ name }) => name), folder };
  const approvals = createApprovals(shell);
  return {
    file,
    gateway,
    shell,
    approvals,
    close,
    call: async (raw: unknown, who: { agent?: string; tenant?: string } = {}): Promise<Reply> =>
      checkReply(await gateway.handle(raw, who), around),
    change: (next: Parts) => void (policy = policyOf({ ...parts, ...next })),
    all: (agent: string | null = null) => approvals.list({ tenant: 'default', agent }, { limit: 100 }),
  };
}
