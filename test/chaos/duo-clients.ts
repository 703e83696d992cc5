/**
 * Clients that mean each payment a known number of times: some wait, some close and send again at once, to either
 * gateway, some are cut off while their gateway stands still. Each closes before its answer is written, so the gateway
 * can see that.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../simulation/random.ts';
import type { Duo, Gateway } from './duo-gateways.ts';
import type { Ledger } from './duo-ledger.ts';
import { type Door, doors, type Heard, type Payment, type Wire } from './duo-wire.ts';

/** `hasty` closes once it is booked, `rash` a moment after it was sent, wherever the call is by then. */
export const manners = ['steady', 'hasty', 'rash', 'stalled'] as const;
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
  /** Keys whose call was cancelled before it was sent: it never runs under that key. */
  unsent: number;
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
  const manner = random.weighted<Manner>({ steady: 5, hasty: 3, rash: 2, stalled: 1 });
  const told = { fresh: [], replayed: 0, fenced: 0, unknown: 0, unsent: 0, breaks: 0, problems: [] };
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
  for (let asks = 0; asks < maxAsks; asks++) {
    // Whoever closed or was cut off sends again at once, to either.
    const at = setting.random.pick(setting.duo.running());
    if (at === undefined) {
      await pause(retryMs);
      continue;
    }
    const heard =
      manner === 'steady'
        ? await setting.wire.ask(at.url, asked.door, payment).heard
        : await askAndLeave(at, manner, asked.door, payment, setting);
    if (heard.kind === 'broken') told.breaks += 1;
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
  if (manner === 'rash') {
    await asking.sent;
    await pause(random.between(0, 4));
    asking.close();
    void held.release();
    return asking.heard;
  }
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
  else if (told.keyed && 'replayed' in reply && reply.replayed === true) told.unsent += 1;
  else return 'again';
  return 'final';
}
