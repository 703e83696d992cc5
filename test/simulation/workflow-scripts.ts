/**
 * What agents do to a workflow session, phase by phase, in a world whose gateway may die at any act. Whoever loses a
 * reply with the process asks again when it is back; the script ends when every phase has been answered.
 */
import type { CallId, SessionId } from '../../src/core/call/call.ts';
import { type ErrorReply, isSuccess, type Reply } from '../../src/core/call/reply.ts';
import type { StepFact } from '../../src/core/workflow/step.ts';
import { fetchSession } from '../../src/shell/session/fetch-session.ts';
import { handleCall } from '../../src/shell/call/handle-call.ts';
import { settleDoubt } from '../../src/shell/ending/settle-doubt.ts';
import type { Shell } from '../../src/shell/shell.ts';
import { createWorkflowService, type SessionView } from '../../src/shell/session/workflow-service.ts';
import type { Life } from './scheduler.ts';
import type { Fate } from './simulated-store.ts';
import type { World } from './world.ts';

export const who = { tenant: 'acme', agent: 'ann' };

export interface Walk {
  readonly world: World;
  session: SessionId | null;
  /** Whether a step was heard to succeed: then nobody asks for it again. */
  succeeded: boolean;
}

export interface Phase {
  readonly what: string;
  act(shell: Shell, walk: Walk): Promise<unknown>;
  /** Whether this answer ends the phase; if not, it is asked again in a while. */
  ends(answer: unknown, walk: Walk): boolean;
}

const againMs = 1_000;

/** Goes through the phases; `over` tells when. Nothing here waits for real time. */
export function follow(
  walk: Walk,
  phases: readonly Phase[],
  fate: (life: Life, act: string) => Fate,
  over: () => void,
): void {
  const [phase, ...rest] = phases;
  if (phase === undefined) return over();
  const { scheduler, gateways, witness, crash } = walk.world;
  const ask = () => {
    const gateway = gateways[0];
    const life = gateway?.life() ?? null;
    const shell = gateway?.shell() ?? null;
    if (life === null || shell === null || gateway?.isReady() !== true)
      return void scheduler.after(againMs, null, '', ask);
    let answered = false;
    const hear = (answer: unknown) => {
      if (!life.alive || answered) return;
      const end = fate(life, 'reply');
      if (end === 'dies before') return crash(life, 'before a reply left');
      answered = true;
      scheduler.say(() => `${phase.what} hears ${String(JSON.stringify(answer)).slice(0, 400)}`);
      if (end === 'dies after') crash(life, 'after a reply');
      if (phase.ends(answer, walk)) follow(walk, rest, fate, over);
      else scheduler.after(againMs, null, '', ask);
    };
    scheduler.after(1, life, phase.what, () =>
      phase
        .act(shell, walk)
        .then(hear, (error: unknown) => witness.breaks('bug', `${phase.what} threw ${String(error)}`)),
    );
    const watch = () => {
      if (answered) return;
      // Whoever waits for a process that is gone notices after a while, and asks the next one.
      if (life.alive) scheduler.after(againMs, null, '', watch);
      else ask();
    };
    scheduler.after(againMs, null, '', watch);
  };
  ask();
}

export const open = (workflow: string): Phase => ({
  what: `open ${workflow}`,
  act: (shell) => createWorkflowService(shell).open(workflow, who),
  ends(answer, walk) {
    const view = answer as SessionView | ErrorReply;
    if ('error' in view) return false;
    walk.session = view.session as SessionId;
    return true;
  },
});

/** `until`: it has succeeded, or what a key keeps for it is final; or any answer at all. Always the same step. */
export const step = (action: string, key: string | null, until: 'end' | 'answer'): Phase => ({
  what: `step ${action}`,
  act: async (shell, { session, succeeded }) => {
    if (succeeded) return null;
    const raw = { action, inputs: { amount: 1, operation: 'o' }, session, ...(key === null ? {} : { key }) };
    return handleCall(raw, who, {}, shell, { session });
  },
  ends(answer, walk) {
    const reply = answer as Reply | null;
    walk.succeeded ||= reply !== null && isSuccess(reply);
    if (walk.succeeded || until === 'answer') return true;
    return reply !== null && 'error' in reply && reply.replayed === true && reply.effect === 'none';
  },
});

export const reset: Phase = {
  what: 'reset',
  act: (shell, { session }) => createWorkflowService(shell).reset(session ?? '', who),
  ends: (answer) => isSuccess(answer as Reply),
};

export const fork: Phase = {
  what: 'fork',
  act: (shell, { session }) => createWorkflowService(shell).fork(session ?? '', null, who),
  ends: (answer) => isSuccess(answer as Reply),
};

export const look = (isThere: (view: SessionView) => boolean): Phase => ({
  what: 'look',
  act: (shell, { session }) => createWorkflowService(shell).look(session ?? '', who),
  ends: (answer) => !('error' in (answer as object)) && isThere(answer as SessionView),
});

/** What every step does first: what is due fires, and a changed workflow is carried over. */
export const arrive = (isThere: (step: StepFact) => boolean): Phase => ({
  what: 'arrive',
  act: (shell, { session }) => fetchSession(session, who, null, shell),
  ends(answer) {
    const fact = answer as Awaited<ReturnType<typeof fetchSession>>;
    return 'found' in fact && fact.found && fact.step !== null && isThere(fact.step);
  },
});

/** Somebody looks at the world and says of every doubt what happened. */
export const settle: Phase = {
  what: 'settle what is in doubt',
  async act(shell, { world }) {
    const doubts = [...world.state.calls.values()].filter(({ call }) => call.state === 'IN_DOUBT');
    const judge = (id: CallId) =>
      world.tools.tookEffect(id)
        ? settleDoubt(id, { happened: 'yes', by: 'ada', result: { did: 'it' } }, shell)
        : settleDoubt(id, { happened: 'no', by: 'ada', force: true }, shell);
    return Promise.all(doubts.map(({ call }) => judge(call.id)));
  },
  ends: (_answer, { world }) => [...world.state.calls.values()].every(({ call }) => call.state !== 'IN_DOUBT'),
};

/** As often as it takes, with somebody there who settles every doubt. */
export const stepInTheEnd = (action: string, key: string | null): Phase => {
  const asked = step(action, key, 'end');
  return {
    ...asked,
    async act(shell, walk) {
      await settle.act(shell, walk);
      return asked.act(shell, walk);
    },
  };
};

/** Something in the world changes; nobody is asked. */
export const then = (what: string, change: (world: World) => void): Phase => ({
  what,
  act: async (_shell, { world }) => change(world),
  ends: () => true,
});
