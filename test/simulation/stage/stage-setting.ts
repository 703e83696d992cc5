/**
 * A stage in a simulated world: the real engine, whose calls go to the simulated tools. Its step counts one up when it
 * has sent one letter and charged once; each of its calls is about an operation of its own, of which the witness counts
 * the effects.
 */
import { createMachine } from 'xstate';
import type { CheckedStage } from '../../../src/adapters/upstream-function/stage/check-stage.ts';
import { runStage } from '../../../src/adapters/upstream-function/stage/run-stage.ts';
import { checkedTool } from '../../../src/adapters/upstream-function/tool.ts';
import { mount } from '../../../src/adapters/upstream-function/workflow/mount.ts';
import type { CallId } from '../../../src/core/call/call.ts';
import type { Workflow } from '../../../src/core/workflow/workflow.ts';
import type { Attempt, Upstream } from '../../../src/ports/upstream.ts';
import type { StageContext } from '../../../src/adapters/upstream-function/stage/stage-types.ts';
import { settleDoubt } from '../../../src/shell/ending/settle-doubt.ts';
import { createWorkflowService, type SessionView } from '../../../src/shell/session/workflow-service.ts';
import { isToolName } from '../setting.ts';
import type { Tampering } from '../simulated-gateway.ts';
import { type Phase, step, who } from '../workflow-scripts.ts';
import { served } from '../workflow-setting.ts';
import type { World } from '../world.ts';

interface Ctx extends StageContext<unknown, { count: number }> {
  readonly call: (tool: string, args: object) => Promise<unknown>;
}

const about = ({ call_id, attempt, pass }: Ctx, tool: string) => ({
  operation: `${call_id}/${attempt}.${pass}/${tool}`,
});

const phases = {
  setup: ({ context }: Ctx) => ({ count: context.count + 1 }),
  act: async (ctx: Ctx) => {
    await ctx.call('mail', about(ctx, 'mail'));
    await ctx.call('charge', { amount: 1, ...about(ctx, 'charge') });
    return { delivered: true };
  },
  assert: (_ctx: Ctx, acted: { delivered: boolean }) => acted.delivered,
  exit: (_ctx: Ctx, acted: unknown) => acted,
  next: () => null,
};

function counting(name: string, what: object) {
  const machine = createMachine({
    id: name,
    initial: 'open',
    context: { count: 0 },
    states: { open: { on: { deliver: 'open' } } },
  });
  const stage = { ...phases, ...what };
  return mount(machine, { actions: { deliver: { timeout_seconds: 25, stage } } } as never);
}

/** One that tries again at once, and one that waits for another time. */
const mounted = [
  counting('parcel', { retry: { max_attempts: 5, backoff: 'fixed', base: '1s', jitter: 0 } }),
  counting('patient', { unrecoverable: { retry_later: '5s' } }),
];

export const stageWorkflows: ReadonlyMap<string, Workflow> = new Map(mounted.map((one) => [one.name, served(one)]));

const stages: ReadonlyMap<string, CheckedStage> = new Map(
  mounted.flatMap(({ bodies }) =>
    bodies.flatMap((body) => {
      const { name, body: runs } = checkedTool(body);
      return runs.kind === 'stage' ? [[name, runs.stage] as const] : [];
    }),
  ),
);

/** `tamper`: a bug in what a stage is given. */
export function stagePorts(
  world: () => World | null,
  tamper: (attempt: Attempt) => Attempt = (attempt) => attempt,
): Pick<Tampering, 'ports'> {
  return {
    ports: (ports) => {
      const upstream: Upstream = {
        async invoke(attempt, signal, late) {
          const stage = stages.get(attempt.tool);
          if (stage === undefined) return ports.upstream.invoke(attempt, signal, late);
          const { witness } = world() ?? {};
          // What a stage did is what its calls did: the witness has seen those.
          if (witness !== undefined)
            Object.defineProperty(witness.account(attempt.callId, attempt.tool), 'effects', {
              get: () => ownEffects(witness, attempt.callId),
              configurable: true,
            });
          return runStage(stage, tamper(attempt), signal, 64);
        },
      };
      return { ...ports, upstream };
    },
  };
}

function ownEffects({ calls }: World['witness'], id: string): number {
  const own = [...calls.values()].filter(({ key, tool }) => isToolName(tool) && key?.startsWith(`${id}/`) === true);
  return own.some(({ effects }) => effects > 0) ? 1 : 0;
}

/**
 * Doubts of tools are settled as the world knows them; that of a stage ends with the doubt of its call. `force`: nothing
 * is ever executed late, so a no need not wait.
 */
export const settleTools = (force: boolean): Phase => ({
  what: 'settle the doubts of tools',
  async act(shell, { world }) {
    const doubts = [...world.state.calls.values()].filter(
      ({ call }) => call.state === 'IN_DOUBT' && isToolName(call.tool),
    );
    const judge = (id: CallId) =>
      world.tools.tookEffect(id)
        ? settleDoubt(id, { happened: 'yes', by: 'ada', result: { did: 'it' } }, shell)
        : settleDoubt(id, { happened: 'no', by: 'ada', force }, shell);
    return Promise.all(doubts.map(({ call }) => judge(call.id)));
  },
  ends: (_answer, { world }) =>
    [...world.state.calls.values()].every(({ call }) => call.state !== 'IN_DOUBT' || !isToolName(call.tool)),
});

const countOf = ({ state }: SessionView): number => (state as { context: { count: number } }).context.count;

/** Whoever asked has gone: the stage comes to its end by itself, while doubts are settled. */
export const comesToItsEnd = (force: boolean): Phase => ({
  what: 'the stage ends',
  async act(shell, walk) {
    await settleTools(force).act(shell, walk);
    return createWorkflowService(shell).look(walk.session ?? '', who);
  },
  ends: (answer, { world }) => {
    const isThere = !('error' in (answer as object)) && countOf(answer as SessionView) > 0;
    return isThere && settleTools(force).ends(null, { world } as never);
  },
});

/** The agent asks until the state has moved: a stage that failed is asked for anew. */
export const deliversInTheEnd: Phase = {
  what: 'deliver in the end',
  async act(shell, walk) {
    await settleTools(false).act(shell, walk);
    const view = await createWorkflowService(shell).look(walk.session ?? '', who);
    if (!('error' in view) && countOf(view) === 0) await step('deliver', null, 'answer').act(shell, walk);
    return createWorkflowService(shell).look(walk.session ?? '', who);
  },
  ends: (answer, walk) => comesToItsEnd(false).ends(answer, walk),
};

/** How often the tools did what the stage asked them for. */
export function effectsOf(world: World, tool: string): number {
  const accounts = [...world.witness.calls.values()].filter((account) => account.tool === tool);
  return accounts.reduce((sum, { effects }) => sum + effects, 0);
}
