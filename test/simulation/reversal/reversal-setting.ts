/**
 * Reversals in a simulated world: charges and refunds that a letter undoes. An agent makes three calls in a session and
 * redeems tokens that may not be armed yet; then the session is rolled back, whoever dies meanwhile.
 */
import type { Catalogue, ToolEntry } from '../../../src/core/call/catalogue.ts';
import type { SessionId } from '../../../src/core/call/call.ts';
import type { Reply } from '../../../src/core/call/reply.ts';
import { readReverse } from '../../../src/core/reversal/declared-reverse.ts';
import { reversedBy } from '../../../src/core/reversal/reversal.ts';
import type { RollbackView } from '../../../src/core/reversal/reversal-view.ts';
import { handleCall } from '../../../src/shell/call/handle-call.ts';
import { createReversals } from '../../../src/shell/reversal/reversal-service.ts';
import { openSession } from '../../../src/shell/session/fetch-session.ts';
import { catalogue } from '../setting.ts';
import { settleTools } from '../stage/stage-setting.ts';
import { type Phase, type Walk, who } from '../workflow-scripts.ts';
import type { World } from '../world.ts';

const windowMs = 30 * 86_400_000;

const read = readReverse('mail', { operation: '"undo " + args.operation', amount: '1' }, windowMs);
if (!read.ok) throw new Error(JSON.stringify(read.problems));
const { reverse } = read;

const declared = (entry: ToolEntry): ToolEntry => {
  if (entry.name === 'mail') return { ...entry, isReversal: true };
  return entry.name === 'charge' || entry.name === 'refund' ? { ...entry, reverse } : entry;
};

export const undoable: Catalogue = new Map([...catalogue].map(([name, entry]) => [name, declared(entry)]));

export const openPlain: Phase = {
  what: 'open a session',
  act: (shell) => openSession(who, false, shell),
  ends(answer, walk) {
    const opened = answer as { readonly id?: SessionId };
    if (opened.id === undefined) return false;
    walk.session = opened.id;
    return true;
  },
};

export const call = (tool: 'charge' | 'refund' | 'read', key: string): Phase => ({
  what: `call ${tool} ${key}`,
  act: (shell, { session }) => handleCall({ tool, args: { amount: 1, operation: key }, session, key }, who, {}, shell),
  ends: () => true,
});

/** Whoever holds a token may try it at any time. */
export const redeemEverything: Phase = {
  what: 'redeem every token there is',
  async act(shell, { world }) {
    const service = createReversals(shell);
    const tokens = [...world.state.undoing.reversals.values()].map(({ id }) => id);
    return Promise.all(tokens.map((token) => service.redeem(token, who, { requester: {}, waitMs: 5_000 })));
  },
  ends: (answer) => (answer as readonly Reply[]).every((reply) => reply !== null),
};

const asked = { by: 'ann', waitMs: 0 } as const;
const scope = { ...who, agent: null };

export const startRollback: Phase = {
  what: 'start the rollback',
  act: (shell, { session }) => createReversals(shell).rollBack(session ?? '', scope, asked),
  ends: (answer) => answer !== null && answer !== 'store_unavailable',
};

/** Doubts are settled as the world knows them; what is left is tried again, until nothing is. */
export const undoneInTheEnd = (force: boolean): Phase => ({
  what: 'undone in the end',
  async act(shell, walk) {
    await settleTools(force).act(shell, walk);
    const service = createReversals(shell);
    const view = await service.rollback(walk.session ?? '', scope);
    const isLeft = view?.state === 'finished' && view.left > 0;
    return isLeft ? service.rollBack(walk.session ?? '', scope, asked) : view;
  },
  ends: (answer, { world, session }) => {
    const view = answer as RollbackView | 'store_unavailable' | null;
    if (view === null || view === 'store_unavailable' || view.state !== 'finished' || view.left > 0) return false;
    return settleTools(force).ends(null, { world } as Walk) && isListed(view, world, session ?? '');
  },
});

/** Every success of the session stands on the list. */
function isListed(view: RollbackView, { state }: World, session: string): boolean {
  const listed = new Set(view.steps.map(({ call_id: id }) => id));
  return [...state.calls.values()].every(
    ({ call: each }) => each.session !== session || each.state !== 'SUCCEEDED' || listed.has(each.id),
  );
}

/** INVARIANT 12: a token is redeemed at most once, and only for a call that has succeeded. */
export function checkReversals({ state, witness }: World): void {
  for (const reversal of state.undoing.reversals.values()) {
    const first = state.calls.get(reversal.call)?.call;
    if (reversal.state === 'redeemed' && first?.state !== 'SUCCEEDED')
      witness.breaks('12', `${reversal.id} is redeemed, and its call is ${first?.state ?? 'nowhere'}`);
  }
}

/** How often each call was undone, by what the world has seen. */
export function undoneTimes({ state, witness }: World): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const { call: each } of state.calls.values()) {
    const first = reversedBy(each.key);
    if (first === null) continue;
    times.set(first, (times.get(first) ?? 0) + (witness.calls.get(each.id)?.effects ?? 0));
  }
  return times;
}

/** Every success of the session was undone once, and nothing else was. */
export function judgeUndone(world: World, session: string | null): number {
  const times = undoneTimes(world);
  let undone = 0;
  for (const { call: each } of world.state.calls.values()) {
    const count = times.get(each.id) ?? 0;
    const isOurs = each.session === session && each.effectClass !== 'pure' && reversedBy(each.key) === null;
    const wanted = isOurs && each.state === 'SUCCEEDED' && each.attempt > 0 ? 1 : 0;
    if (count !== wanted) world.witness.breaks('12', `${each.tool} ${each.id} (${each.state}) was undone ${count}×`);
    undone += count;
  }
  return undone;
}
