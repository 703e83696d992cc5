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
import { makeOperation, type Operation } from '../operations.ts';
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

export async function liveTickets(story: TicketStory) {
  /** The access was not granted yet: the upstream forbids every payment until somebody has looked. */
  let granted = false;
  let forbiddenAtMs: number | null = null;
  const forbidding = (upstream: Upstream, owner: string, life: Life): Upstream => ({
    ...upstream,
    invoke(attempt, signal) {
      if (granted || attempt.tool !== 'refund') return upstream.invoke(attempt, signal);
      const { scheduler, witness } = world;
      witness.sent(attempt, { owner, wallMs: scheduler.nowMs() });
      return new Promise((resolve) => {
        scheduler.after(50, life, `hears that ${attempt.callId} is forbidden`, () => {
          forbiddenAtMs ??= scheduler.nowMs();
          witness.recovery.ended(attempt, owner, story.failure);
          resolve({ kind: 'failed', failure: makeFailure(story.failure, 'no', { effect: 'none' }) });
        });
      });
    },
  });
  const world: ReturnType<typeof createWorld> = createWorld({
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
  const { scheduler, clients, gateways, witness, state, tools } = world;
  const ask = (name: string): Operation => {
    const args = { amount: 4, operation: 'o' };
    const operation = makeOperation({
      name,
      who,
      tool: 'refund',
      key: null,
      session: null,
      turn: null,
      manner: 'patient',
      args,
    });
    operation.patience = 60;
    clients.start(operation);
    return operation;
  };
  for (const [index, gateway] of gateways.entries()) gateway.boot(index === 0 ? 'everything' : 'nothing');
  scheduler.after(500, null, '', () => void ask('first'));

  const ticketIn = (): TicketId | null => [...state.tickets.values()].find(({ call }) => call !== null)?.id ?? null;
  let scheduled = false;
  const said: string[] = [];
  const begin = () => {
    const id = ticketIn();
    if (id === null || scheduled) return;
    scheduled = true;
    granted = true;
    for (const { afterMs, by, says, at } of story.people)
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
    for (const [index, afterMs] of story.asksAgainMs.entries())
      scheduler.after(afterMs, null, '', () => void ask(`again ${index}`));
  };
  const lastMs = Math.max(0, ...story.people.map(({ afterMs }) => afterMs), ...story.asksAgainMs);
  const isOver = () =>
    // Whose process died before it had heard of the refusal is in doubt, and its read settles that: nobody is asked.
    (scheduled || scheduler.nowMs() > 300_000) &&
    (forbiddenAtMs === null || scheduler.nowMs() > forbiddenAtMs + lastMs + 20_000) &&
    state.unfinished.size === 0 &&
    clients.isQuiet() &&
    tools.underWay() === 0 &&
    gateways.every((one) => one.isReady() && one.shell()?.live.tickets.continuing.size === 0) &&
    [...state.tickets.values()].every(({ work }) => work !== 'due');
  const until = 400_000;
  while (witness.broken() === null && !isOver() && scheduler.nowMs() < until) {
    begin();
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
    isOver: isOver(),
    tickets: [...state.tickets.values()],
    calls: [...state.calls.values()].map(({ call }) => call),
    problem: broken === null ? null : `${broken.invariant}: ${broken.detail}`,
  };
}
