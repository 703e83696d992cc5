/** Calls made by hand for tests of one phase, a gateway that gives them its shell, and the phases that come before. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createMachine } from 'xstate';
import { mount, type Tool, ToolFailure } from '../../src/index.ts';
import { readRequest } from '../../src/core/call/request.ts';
import type { Reply } from '../../src/core/call/reply.ts';
import { type Asked, newCall, type Phase, type Stop } from '../../src/shell/call/asked.ts';
import { judge, type Judged } from '../../src/shell/call/judge.ts';
import { prepare, type Prepared } from '../../src/shell/call/prepare.ts';
import type { Shell } from '../../src/shell/shell.ts';
import { anAgent } from './a-policy.ts';
import { ana, openApprovals } from './open-approvals.ts';
import { ask, deferralOf } from './refunds.ts';

export const local = { tenant: 'default', agent: 'local' };

type Parts = Partial<Parameters<typeof openApprovals>[2]>;
type Opened = Awaited<ReturnType<typeof openApprovals>>;

export const permitAll = anAgent('local', [], { default: { effect: 'permit', ref: 'recourse.yaml:6' } });

/** A real gateway on a real store, whose policy permits everything unless the test says otherwise. */
export const openShell = (t: TestContext, tools: readonly Tool[], parts: Parts = {}): Promise<Opened> =>
  openApprovals(t, tools, { agents: [permitAll], ...parts });

/** A call, or a step if it names an action, as the spine reads it. */
export function anAsked(shell: Shell, raw: object, change: Partial<Asked> = {}): Asked {
  const read = readRequest(raw, shell.limits, 'action' in raw ? 'step' : 'call');
  assert.ok(read.ok, JSON.stringify(read));
  const arrivedAtMs = shell.ports.clock.monotonicMs();
  return {
    request: read.request,
    call: newCall(read, local, shell),
    who: local,
    requester: {},
    arrivedAtMs,
    ...change,
  };
}

export function nextOf<Next extends object>(phase: Phase<Next>): Next {
  assert.ok(phase.kind === 'next', JSON.stringify(phase));
  return phase;
}

export const judged = async (asked: Asked, shell: Shell): Promise<Judged> =>
  nextOf(await judge(asked, { kind: 'new' }, null, shell));

export const prepared = async (asked: Asked, shell: Shell): Promise<Prepared> =>
  nextOf(await prepare(asked, await judged(asked, shell), shell));

type Ended = Phase<object> | Stop | null;

export function replyOf(stop: Ended): Reply {
  assert.ok(stop !== null && stop.kind === 'reply', JSON.stringify(stop));
  return stop.reply;
}

export function againOf(stop: Ended): Asked {
  assert.ok(stop !== null && stop.kind === 'again', JSON.stringify(stop));
  return stop.asked;
}

export function codeOf(stop: Ended): string {
  const reply = replyOf(stop);
  assert.ok('code' in reply, JSON.stringify(reply));
  return reply.code;
}

/** Asks for a refund that waits for a person, who approves it; `args`: with these arguments instead. */
export async function approvedRefund({ call, approvals, shell }: Opened, args?: { readonly amount: number }) {
  const { id, call_id: waiting } = deferralOf(await call(ask));
  const decided = await approvals.approve(id, ana, args === undefined ? {} : { args });
  assert.ok(decided.ok, JSON.stringify(decided));
  const approval = await shell.ports.store.approval(id as never);
  assert.ok(approval !== null);
  return { approval, waiting };
}

/** `work` counts; its inputs say whether the body throws (nobody knows the effect) or the update of the state does. */
export const job = () =>
  mount(
    createMachine({
      id: 'job',
      initial: 'open',
      context: { count: 0 },
      states: { open: { on: { work: 'open', read: 'open' } } },
    }),
    {
      actions: { work: { run: runWork, update: count }, read: { effect: 'pure', run: runWork, update: count } },
    } as never,
  );

interface Inputs {
  readonly throws?: 'body' | 'update';
}

async function runWork({ throws }: Inputs): Promise<object> {
  if (throws === 'body') throw new ToolFailure({ kind: 'threw', message: 'connection lost', effect: 'unknown' });
  return {};
}

function count({ context, inputs }: { context: { count: number }; inputs: Inputs }) {
  if (inputs.throws === 'update') throw new Error('cannot count');
  return { count: context.count + 1 };
}

/** A session of the job, open; every step of it that a test asks for names it. */
export async function openJob(t: TestContext) {
  const opened = await openShell(t, [], { workflows: [job()] });
  const view = await opened.gateway.sessions.open('job');
  assert.ok('session' in view && !('error' in view), JSON.stringify(view));
  const { session } = view;
  return { ...opened, session, work: (inputs: Inputs = {}) => ({ action: 'work', inputs, session }) };
}

/** The same after one step of which nobody knew whether it happened, and a person said that it did. */
export async function openUnadopted(t: TestContext, key: string) {
  const opened = await openJob(t);
  const raw = opened.work({ throws: 'body' });
  const { call_id: earlier } = await opened.gateway.handleStep({ ...raw, key });
  const word = { happened: 'yes', by: 'ada', result: {} } as const;
  assert.equal(await opened.gateway.settle(earlier, word), 'settled');
  return { ...opened, raw, earlier };
}
