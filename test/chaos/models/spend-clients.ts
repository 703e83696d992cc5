/**
 * Clients of models that spend the budgets of agents: streams and whole answers, in both protocols, read to the end or
 * left in the middle, with a key and asked again, or without.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../simulation/random.ts';
import { askFor } from '../../support/models/read-stream.ts';
import type { Duo } from '../duo-gateways.ts';
import { agentCount, agentOf, chatModel, messagesModel } from './spend-world.ts';

export interface Tally {
  answers: number;
  streams: number;
  left: number;
  refusals: number;
  beyondBudget: number;
  /** The gateway was not there, or went away. */
  lost: number;
}

export interface Spenders {
  readonly duo: Duo;
  readonly keyOf: ReadonlyMap<string, string>;
  readonly tally: Tally;
  readonly isOver: () => boolean;
}

interface Question {
  readonly path: string;
  readonly body: object;
  /** After so many pieces of the answer the client goes; null reads all. */
  readonly leavesAfter: number | null;
  readonly idempotencyKey: string | null;
}

const askedAgain = 20;

/** One client until it is over. Goes on as the next agent where a budget has no room. */
export async function spend(name: string, random: Random, spenders: Spenders): Promise<void> {
  let at = random.between(0, 2);
  for (let number = 0; !spenders.isOver(); number++) {
    const question = draw(`${name}-${number}`, random);
    for (let tries = 0; tries < askedAgain && !spenders.isOver(); tries++) {
      const told = await ask(question, agentOf(at), random, spenders);
      if (told === 'beyond_budget') at = (at + 1) % agentCount;
      if (told !== 'answered') await pause(random.between(10, 60));
      if (told !== 'lost' || question.idempotencyKey === null) break;
    }
  }
}

function draw(mark: string, random: Random): Question {
  const isChat = random.chance(0.5);
  const isStreamed = random.chance(0.8);
  const content = `${mark} ${random.text(random.between(0, 400))}`;
  return {
    path: isChat ? '/v1/chat/completions' : '/v1/messages',
    body: {
      model: isChat ? chatModel : messagesModel,
      max_tokens: random.between(20, 200),
      messages: [{ role: 'user', content }],
      ...(isStreamed ? { stream: true } : {}),
    },
    leavesAfter: random.chance(0.15) ? random.between(0, 6) : null,
    idempotencyKey: random.chance(0.25) ? mark : null,
  };
}

async function ask(
  { path, body, leavesAfter, idempotencyKey }: Question,
  agent: string,
  random: Random,
  { duo, keyOf, tally }: Spenders,
): Promise<'answered' | 'beyond_budget' | 'lost'> {
  const running = duo.running();
  if (running.length === 0) return 'lost';
  const leaving = new AbortController();
  const leave = () => {
    tally.left += 1;
    leaving.abort();
  };
  const headers = idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey };
  try {
    const asked = { key: keyOf.get(agent) ?? '', body, headers, signal: leaving.signal };
    const asking = askFor(`${random.pick(running).url}${path}`, asked);
    if (leavesAfter === 0) void pause(random.between(0, 40)).then(leave);
    const response = await asking;
    if (!response.ok) return refusalIn(await response.text(), tally);
    let pieces = 0;
    for await (const _ of response.body ?? []) {
      pieces += 1;
      if (pieces === leavesAfter) leave();
    }
    if (pieces > 1) tally.streams += 1;
    tally.answers += 1;
    return 'answered';
  } catch {
    // It has gone itself, or the gateway has: what is on record of that is checked in the end.
    if (leaving.signal.aborted) return 'answered';
    tally.lost += 1;
    return 'lost';
  }
}

function refusalIn(text: string, tally: Tally): 'answered' | 'beyond_budget' | 'lost' {
  const { error } = JSON.parse(text) as { readonly error: { readonly code?: string } };
  if (error.code === 'DAEMON_NOT_READY' || error.code === 'StoreUnavailable') return 'lost';
  if (error.code === 'BUDGET_EXCEEDED') tally.beyondBudget += 1;
  else tally.refusals += 1;
  return error.code === 'BUDGET_EXCEEDED' ? 'beyond_budget' : 'answered';
}
