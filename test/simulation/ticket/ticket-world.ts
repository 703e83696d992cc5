/**
 * A world in which an upstream forbids the first payment, and people answer its ticket: they take it, answer late, twice
 * and at once, or let it expire, while processes die. The core, the shell and the model of the store are the real ones.
 */
import { makeFailure, type Upstream } from '../../../src/ports/upstream.ts';
import type { TicketAnswer } from '../../../src/core/ticket/answers.ts';
import { createTickets } from '../../../src/shell/ticket/ticket-service.ts';
import { continueTicket } from '../../../src/shell/ticket/continue-ticket.ts';
import type { TicketId } from '../../../src/core/recovery/ticket.ts';
import { noFaults } from '../fault-mix.ts';
import { checkChains, checkLiveness, checkRecords } from '../final-checks.ts';
import { makeOperation } from '../operations.ts';
import type { Life } from '../scheduler.ts';
import type { Tampering } from '../simulated-gateway.ts';
import type { Fate } from '../simulated-store.ts';
import { createWorld } from '../world.ts';

export interface TicketStory {
  readonly seed: number;
  readonly gateways: number;
  readonly fate?: (life: Life, act: string) => Fate;
  readonly ports?: Tampering['ports'];
  /** What people do, and when, in milliseconds after the payment was forbidden. */
  readonly people: readonly {
    readonly afterMs: number;
    readonly by: string;
    readonly says: TicketAnswer | 'take';
    /** At which gateway. */
    readonly at: number;
  }[];
  /** When the agent asks again for the same, after the payment was forbidden; before an answer that is fenced. */
  readonly asksAgainMs: readonly number[];
  /** The failure of the first attempt: 403 fences the tool, 401 does not. */
  readonly failure: '403_forbidden' | '401_unauthenticated';
}

const who = { tenant: 'acme', agent: 'ann' };

interface Access {
  /** Not granted yet: the upstream forbids every payment until somebody has looked. */
  isGranted: boolean;
  forbiddenAtMs: number | null;
}

type World = ReturnType<typeof createWorld>;

export async function liveTickets(story: TicketStory) {
  const access: Access = { isGranted: false, forbiddenAtMs: null };
  const world = openWorld(story, access);
  const { scheduler, clients, gateways, witness, state } = world;
  for (const [index, gateway] of gateways.entries()) gateway.boot(index === 0 ? 'everything' : 'nothing');
  scheduler.after(500, null, '', () => ask('first', world));
  const said: string[] = [];
  const until = 400_000;
  while (witness.broken() === null && !isOver(story, access, world) && scheduler.nowMs() < until) {
    const [ticket] = state.tickets.values();
    if (ticket !== undefined && !access.isGranted) {
      access.isGranted = true;
      begin(ticket.id, story, world, said);
    }
    await scheduler.step();
  }
  checkLiveness(state, clients.unanswered(), witness);
  checkRecords(state, witness);
  checkChains(state, witness);
  const broken = witness.broken();
  let effects = 0;
  for (const call of witness.calls.values()) effects += call.effects;
  return {
    effects,
    said,
    isOver: isOver(story, access, world),
    tickets: [...state.tickets.values()],
    problem: broken === null ? null : `${broken.invariant}: ${broken.detail}`,
  };
}

function openWorld(story: TicketStory, access: Access): World {
  const forbidding = (upstream: Upstream, owner: string, life: Life): Upstream => ({
    ...upstream,
    invoke(attempt, signal) {
      if (access.isGranted || attempt.tool !== 'refund') return upstream.invoke(attempt, signal);
      const { scheduler, witness } = world;
      witness.sent(attempt, { owner, wallMs: scheduler.nowMs() });
      return new Promise((resolve) => {
        scheduler.after(50, life, `hears that ${attempt.callId} is forbidden`, () => {
          access.forbiddenAtMs ??= scheduler.nowMs();
          witness.recovery.ended(attempt, owner, story.failure);
          resolve({ kind: 'failed', failure: makeFailure(story.failure, 'no', { effect: 'none' }) });
        });
      });
    },
  });
  const world: World = createWorld({
    seed: story.seed,
    mix: noFaults,
    gateways: story.gateways,
    ...(story.fate === undefined ? {} : { fate: story.fate }),
    tampering: {
      ports: (ports, owner, life) => {
        const inner = { ...ports, upstream: forbidding(ports.upstream, owner, life) };
        return story.ports?.(inner, owner, life) ?? inner;
      },
    },
  });
  return world;
}

function ask(name: string, { clients }: World): void {
  const args = { amount: 4, operation: 'o' };
  const what = { name, who, tool: 'refund', key: null, session: null, turn: null, manner: 'patient', args } as const;
  const operation = makeOperation(what);
  operation.patience = 60;
  clients.start(operation);
}

/** The ticket is there: people do what the story says, and the agent asks again. */
function begin(id: TicketId, { people, asksAgainMs }: TicketStory, world: World, said: string[]): void {
  const { scheduler, gateways } = world;
  for (const { afterMs, by, says, at } of people)
    scheduler.after(afterMs, null, '', () => {
      const gateway = gateways[at % gateways.length];
      const shell = gateway?.shell() ?? null;
      const life = gateway?.life() ?? null;
      if (shell === null) return;
      shell.live.tickets.goOn = (ticket) => continueTicket(ticket, shell);
      scheduler.after(0, life, `${by} says ${says === 'take' ? says : says.answer}`, () => {
        const service = createTickets(shell);
        const person = { tenant: who.tenant, name: by, maySettle: true };
        const done = says === 'take' ? service.take(id, person) : service.resolve(id, person, says);
        void done.then((result) => said.push(result.ok ? 'done' : result.problem)).catch(() => undefined);
      });
    });
  for (const [index, afterMs] of asksAgainMs.entries())
    scheduler.after(afterMs, null, '', () => ask(`again ${index}`, world));
}

function isOver({ people, asksAgainMs }: TicketStory, { isGranted, forbiddenAtMs }: Access, world: World): boolean {
  const { scheduler, clients, gateways, state, tools } = world;
  const lastMs = Math.max(0, ...people.map(({ afterMs }) => afterMs), ...asksAgainMs);
  const nowMs = scheduler.nowMs();
  // Whose process died before it had heard of the refusal is in doubt, and its read settles that: nobody is asked.
  if (!isGranted && nowMs <= 300_000) return false;
  if (forbiddenAtMs !== null && nowMs <= forbiddenAtMs + lastMs + 20_000) return false;
  return (
    state.unfinished.size === 0 &&
    clients.isQuiet() &&
    tools.underWay() === 0 &&
    gateways.every((one) => one.isReady() && one.shell()?.live.tickets.continuing.size === 0) &&
    [...state.tickets.values()].every(({ work }) => work !== 'due')
  );
}
