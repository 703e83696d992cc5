/**
 * The agents at work: they ask, wait, hang up, cancel, ask again. What they may do safely they do: with a key at any
 * time, without one only after a reply that says that nothing happened, or once the record says that they left.
 */
import type { SessionId } from '../../src/core/call/call.ts';
import type { Json } from '../../src/core/values/json.ts';
import { isPending, type Reply } from '../../src/core/call/reply.ts';
import { createLibraryDoor } from '../../src/doors/library/library-door.ts';
import { handleCall } from '../../src/shell/call/handle-call.ts';
import type { MemoryState } from './memory-state.ts';
import { isDeferral, isOfBudget } from './reply-rules.ts';
import { createWorkflowService } from '../../src/shell/session/workflow-service.ts';
import { drawCancellation } from './cancellations.ts';
import { argsIn, drawOperation, drawStep, isSafeToAskAgain, type Operation, requestOf } from './operations.ts';
import type { Random } from './random.ts';
import type { ReplyWitness } from './reply-witness.ts';
import type { Life, Scheduler } from './scheduler.ts';
import type { Gateway } from './simulated-gateway.ts';
import type { Fate } from './simulated-store.ts';
import type { Witness } from './witness.ts';
import { actionsOf, type WorkflowName } from './workflow-setting.ts';

export interface ClientWorld {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly witness: Witness;
  readonly replies: ReplyWitness;
  readonly state: MemoryState;
  readonly pickGateway: (at?: Life | null) => Gateway | null;
  readonly fate: (life: Life, act: string) => Fate;
  readonly crash: (life: Life, why: string) => void;
  readonly cover: (fault: string, callId: string) => void;
  /** A door that takes a reply for handed over when it is given it. */
  readonly marksEarly: boolean;
}

/** Something asked of a process that has not answered yet. */
interface Open {
  readonly what: string;
  readonly life: Life;
  readonly onLost: () => void;
}

/** Under which circumstances a reply is heard. */
interface Hearing {
  readonly wasReady: boolean;
  readonly atMs: number;
  readonly args: Json;
}

/** Longer than any commit of a dead process is still on its way. */
const settledMs = 5_000;

export function createClients(world: ClientWorld) {
  const { scheduler, random, witness, state } = world;
  const open = new Set<Open>();
  const operations: Operation[] = [];
  const sessions = new Map<string, string>();
  const walks: { readonly agent: string; readonly session: string; readonly workflow: WorkflowName }[] = [];
  let waiting = 0;

  const later = (delayMs: number, run: () => void) => {
    waiting += 1;
    scheduler.after(delayMs, null, '', () => {
      waiting -= 1;
      run();
    });
  };

  /** Hands something to a gateway and hears its answer, if both live long enough. */
  const send = <Answer>(
    what: string,
    act: (gateway: Gateway, life: Life) => Promise<Answer>,
    hear: (answer: Answer) => void,
    onLost: () => void,
    at: Life | null = null,
  ): Life | null => {
    const gateway = world.pickGateway(at);
    const life = gateway?.life() ?? null;
    if (gateway === null || life === null) {
      later(1_000, onLost);
      return null;
    }
    const entry: Open = { what, life, onLost };
    open.add(entry);
    scheduler.after(random.between(0, 2), life, `is asked: ${what}`, () => {
      act(gateway, life).then(
        (answer) => {
          if (!life.alive) return;
          const fate = world.fate(life, 'reply');
          if (fate !== 'dies before') {
            open.delete(entry);
            hear(answer);
          }
          if (fate !== 'lives') world.crash(life, fate === 'dies before' ? 'before a reply left' : 'after a reply');
        },
        (error: unknown) =>
          witness.breaks('bug', `${what} threw ${error instanceof Error ? error.stack : String(error)}`),
      );
    });
    return life;
  };

  const rowsOf = ({ who, fingerprint }: Operation) =>
    [...state.calls.values()].filter(
      ({ call }) => call.agent === who.agent && call.fingerprint === fingerprint && call.state !== 'DENIED',
    );

  /** Without a key an equal call is a new call, unless the record says that its requester left. */
  const askAgainWhenSafe = (operation: Operation, tries = 0) => {
    if (operation.key !== null) return ask(operation);
    const safe = isSafeToAskAgain(operation, rowsOf(operation));
    if (safe) return ask(operation);
    if (tries < 6) later(4_000, () => askAgainWhenSafe(operation, tries + 1));
  };

  const onReply = (operation: Operation, reply: Reply, { wasReady, atMs, args }: Hearing) => {
    scheduler.say(() => `${operation.name} (${operation.manner}) hears ${JSON.stringify(reply).slice(0, 300)}`);
    world.replies.hear(reply, wasReady);
    if (!isOfBudget(reply)) witness.approvals.heard(reply, atMs, args);
    operation.lastReply = reply;
    if (isPending(reply)) {
      if (operation.manner !== 'leaves') later(random.between(500, 6_000), () => poll(operation, reply.call_id, 6));
      return;
    }
    if (isDeferral(reply) && operation.deferrals > 0) {
      operation.deferrals -= 1;
      operation.patience += 1;
      later(random.between(500, 6_000), () => askAgainWhenSafe(operation));
      return;
    }
    if (operation.patience <= 0 || !('error' in reply) || reply.effect !== 'none') return;
    const { resolution } = reply;
    const wait = resolution.type === 'retry_after' ? resolution.retry_after_seconds * 1_000 : null;
    if (wait !== null || (reply.error === 'action_error' && random.chance(0.3)))
      later(wait ?? 500, () => askAgainWhenSafe(operation));
  };

  /** `at`: the process that is asked; any, if none is named or it is gone. */
  const ask = (operation: Operation, otherArguments = false, at: Life | null = null): void => {
    operation.patience -= 1;
    if (operation.patience < 0) return;
    const left = new AbortController();
    const cancelled = new AbortController();
    const written = Promise.withResolvers<boolean>();
    const requester = {
      left: left.signal,
      cancelled: cancelled.signal,
      ...(world.marksEarly ? {} : { written: written.promise }),
    };
    const raw = requestOf(operation, random, otherArguments);
    const hearing = { wasReady: false, atMs: scheduler.nowMs(), args: argsIn(operation, otherArguments) };
    let answered = false;
    operation.open += 1;
    // A door takes its time to write; whoever left by then has not got the reply.
    const write = (reply: Reply, life: Life): Promise<Reply | null> =>
      new Promise((resolve) => {
        scheduler.after(random.between(0, 40), life, '', () => {
          const isThere = !left.signal.aborted;
          written.resolve(isThere);
          resolve(isThere ? reply : null);
        });
      });
    const life = send(
      `${operation.name} ${JSON.stringify(raw)}`,
      (gateway, life) => {
        hearing.wasReady = gateway.isReady();
        const shell = gateway.shell() as NonNullable<ReturnType<Gateway['shell']>>;
        const step = operation.isStep ? { session: operation.session } : null;
        return handleCall(raw, operation.who, requester, shell, step).then((reply) => write(reply, life));
      },
      (reply) => {
        operation.open -= 1;
        if (reply === null) return;
        // Whoever is told the id of a call that goes on asks for that: there is nothing left to leave.
        answered = true;
        onReply(operation, reply, hearing);
      },
      () =>
        later(settledMs, () => {
          operation.open -= 1;
          askAgainWhenSafe(operation);
        }),
      at,
    );
    if (life === null) return;
    const act = operation.manner === 'leaves' ? left : operation.manner === 'cancels' ? cancelled : null;
    if (act === null) return;
    scheduler.after(random.between(1, 2_500), life, `${operation.name} ${operation.manner}`, () => {
      if (answered) return;
      for (const { call } of rowsOf(operation)) world.cover(`client ${operation.manner}`, call.id);
      act.abort();
      if (act !== left) return;
      // The process knows at once that its client is gone: who asks it need not wait, if it has not died meanwhile.
      if (!operation.isStep && random.chance(0.5)) later(0, () => life.alive && ask(operation, false, life));
      else later(settledMs, () => askAgainWhenSafe(operation));
    });
  };

  const poll = (operation: Operation, callId: string, tries: number): void => {
    send(
      `poll ${callId}`,
      (gateway) => createLibraryDoor(gateway.shell() as never, operation.who).reply(callId, operation.who),
      (reply) => {
        if (reply === null) return witness.breaks('14', `${callId} was pending and is not known any more`);
        world.replies.hear(reply, true);
        operation.lastReply = reply;
        if (isPending(reply) && tries > 0) later(3_000, () => poll(operation, callId, tries - 1));
      },
      () => (tries > 0 ? later(2_000, () => poll(operation, callId, tries - 1)) : undefined),
    );
  };

  const begin = (operation: Operation) => {
    operations.push(operation);
    ask(operation);
    const { manner, key, who, name } = operation;
    if (manner === 'twins') {
      if (key === null) witness.forgive(who.tenant, who.agent, name, 1);
      later(random.between(0, 800), () => ask(operation));
    }
    if (manner === 'repeats') later(random.between(500, 9_000), () => ask(operation));
    if (manner === 'changes arguments') later(random.between(0, 6_000), () => ask(operation, true));
  };

  const cancelSomething = () => {
    const { target, who } = drawCancellation(world, walks, sessions);
    send(
      `cancel ${JSON.stringify(target)}`,
      (gateway) => createLibraryDoor(gateway.shell() as never, who).cancel(target, who),
      () => undefined,
      () => undefined,
    );
  };

  const openSession = (agent: string) =>
    send(
      `open a session for ${agent}`,
      (gateway) =>
        createLibraryDoor(gateway.shell() as never, { tenant: 'acme', agent })
          .openSession()
          .catch(() => null),
      (id) => (id === null ? undefined : sessions.set(agent, id as SessionId)),
      () => undefined,
    );

  const openWorkflow = (agent: string, workflow: WorkflowName, tries = 3): void => {
    send(
      `open a session of ${workflow} for ${agent}`,
      (gateway) => createWorkflowService(gateway.shell() as never).open(workflow, { tenant: 'acme', agent }),
      (view) => {
        if (!('error' in view)) walks.push({ agent, session: view.session, workflow });
        else if (tries > 0) later(1_000, () => openWorkflow(agent, workflow, tries - 1));
      },
      () => (tries > 0 ? openWorkflow(agent, workflow, tries - 1) : undefined),
    );
  };

  return {
    openWorkflow,
    walks,
    /** One step of a workflow session, if there is one by now. */
    beginStep(name: string): void {
      if (walks.length === 0) return;
      const { agent, session, workflow } = random.pick(walks);
      begin(drawStep(name, agent, session, actionsOf[workflow], random));
    },
    begin: (name: string) => begin(drawOperation(name, sessions, random)),
    start: begin,
    ask,
    send,
    later,
    cancelSomething,
    openSession,
    operations,
    /** The process is gone: whoever waited for it notices after a while. */
    lost(life: Life): void {
      for (const entry of open) {
        if (entry.life !== life) continue;
        open.delete(entry);
        later(random.between(20, 2_000), entry.onLost);
      }
    },
    /** What living processes still owe an answer to. */
    unanswered: (): readonly string[] => [...open].map(({ what, life }) => `${life.node}: ${what}`),
    isQuiet: () => open.size === 0 && waiting === 0,
  };
}
