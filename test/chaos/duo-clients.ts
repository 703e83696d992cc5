/**
 * Clients that mean each payment a known number of times: some wait, some close and send again at once, some are cut off while their
 * gateway stands still. Each break is over before the answer is written, so the gateway can see every one of them.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../simulation/random.ts';
import type { Duo, Gateway } from './duo-gateways.ts';
import type { Ledger } from './duo-ledger.ts';
import { type Door, doors, type Heard, type Payment, type Wire } from './duo-wire.ts';

export const manners = ['steady', 'hasty', 'stalled'] as const;
export type Manner = (typeof manners)[number];

/** What one client meant, and what it was told. */
export interface Intention {
  readonly mark: string;
  readonly door: Door;
  readonly keyed: boolean;
  readonly manner: Manner;
  /** How often the payment was meant. */
  meant: number;
  /** Calls that it was told as its own successes, without `replayed`. */
  readonly fresh: string[];
  replayed: number;
  fenced: number;
  unknown: number;
  breaks: number;
  readonly problems: string[];
}

export interface Setting {
  readonly duo: Duo;
  readonly ledger: Ledger;
  readonly wire: Wire;
  readonly random: Random;
}

/** A client that is told to wait so often has met something else. */
const maxAsks = 400;
const retryMs = 50;

export function intend(mark: string, random: Random): Intention {
  const manner = random.weighted<Manner>({ steady: 5, hasty: 4, stalled: 1 });
  const told = { fresh: [], replayed: 0, fenced: 0, unknown: 0, breaks: 0, problems: [] };
  return { mark, door: random.pick(doors), keyed: random.chance(0.3), manner, meant: 1, ...told };
}

/** Until the client knows what came of it; then, sometimes, the same once more, on purpose. */
export async function pursue(intention: Intention, setting: Setting): Promise<void> {
  await pay(intention, setting);
  if (intention.problems.length > 0 || !setting.random.chance(0.3)) return;
  intention.meant += 1;
  await pay({ ...intention, manner: 'steady' }, setting, intention);
}

async function pay(asked: Intention, setting: Setting, told: Intention = asked): Promise<void> {
  const { mark, keyed } = asked;
  const payment = { mark, key: keyed ? `${mark}-${told.meant}` : null };
  let manner = asked.manner;
  let at: Gateway | undefined;
  for (let asks = 0; asks < maxAsks; asks++) {
    // Whoever closed or was cut off sends again to the same gateway while it lives, and to another once its process is gone: before
    // that its links are open, and nobody else can see that anybody left.
    if (at !== undefined && !setting.duo.running().includes(at)) await at.ended;
    const running = setting.duo.running();
    at = at !== undefined && running.includes(at) ? at : setting.random.pick(running);
    if (at === undefined) {
      await pause(retryMs);
      continue;
    }
    const heard =
      manner === 'steady'
        ? await setting.wire.ask(at.url, asked.door, payment).heard
        : await askAndLeave(at, manner, asked.door, payment, setting);
    if (heard.kind === 'broken') told.breaks += 1;
    if (heard.kind === 'unsent') at = undefined;
    manner = 'steady';
    if (hear(heard, told) === 'final') return;
    if (heard.kind !== 'broken') await pause(retryMs);
  }
  told.problems.push(`no final answer after ${maxAsks} asks`);
}

/** The payment is booked, the client goes, and only then the answer of the upstream is let through. */
async function askAndLeave(
  at: Gateway,
  manner: Exclude<Manner, 'steady'>,
  door: Door,
  payment: Payment,
  { duo, ledger, wire, random }: Setting,
): Promise<Heard> {
  const held = ledger.hold(payment.mark);
  const asking = wire.ask(at.url, door, payment);
  const first = await Promise.race([held.arrived.then(() => 'arrived' as const), asking.heard]);
  if (first !== 'arrived') {
    void held.release();
    return first;
  }
  const isStalled =
    manner === 'stalled' &&
    (await duo.whileStopped(at, async () => {
      await held.release();
      asking.close();
    }));
  if (!isStalled) {
    asking.close();
    void pause(random.chance(0.5) ? 0 : random.between(1, 20)).then(() => held.release());
  }
  return asking.heard;
}

function hear(heard: Heard, told: Intention): 'final' | 'again' {
  const { problems } = told;
  if (heard.kind === 'odd') {
    problems.push(`${told.door}: status ${heard.status}, no reply: ${heard.body}`);
    return 'final';
  }
  if (heard.kind !== 'reply') return 'again';
  const { reply, status } = heard;
  if (status === 500 || ('error' in reply && reply.error === 'internal_error')) {
    problems.push(`500: ${JSON.stringify(reply)}`);
    return 'final';
  }
  if ('pending' in reply) return 'again';
  if (!('error' in reply)) {
    if (reply.replayed === true) told.replayed += 1;
    else told.fresh.push(reply.call_id);
    return 'final';
  }
  const isAnothers = 'replayed' in reply && reply.replayed === true && !told.keyed;
  if (isAnothers) problems.push(`without a key, the refusal of another call: ${JSON.stringify(reply)}`);
  if (reply.error === 'fenced') told.fenced += 1;
  else if (reply.effect === 'unknown') told.unknown += 1;
  else return 'again';
  return 'final';
}
