/**
 * Which sessions wait for an approval beside that of the call which waits? One whose equal call shares it, and one in which a body
 * runs that asked. Each is on record in the commit of the word that told it to wait, so that a completion finds it.
 */
import type { ApprovalId } from '../../core/approval/approval.ts';
import type { Call, SessionId } from '../../core/call/call.ts';
import type { RecordDraft } from '../../core/journal/record.ts';
import type { BodyOf, Shell } from '../shell.ts';
import { note } from '../ending/transition.ts';

export interface Waiter {
  readonly session: SessionId;
  /** The tool whose body asks as soon as it is asked for itself; null where an equal call does. */
  readonly through: string | null;
}

/** On record from the moment when it begins to wait. */
export function notesOnOpening(
  waiting: Call,
  approval: ApprovalId,
  bodyOf: BodyOf | undefined,
): readonly RecordDraft[] {
  return waitersElsewhere(waiting, waiting, bodyOf).map((waiter) => noteOf(waiter, waiting, approval));
}

/** Those that are not on record yet: `asked` is told to wait for what `waiting` waits for. */
export async function notesOnSharing(
  waiting: Call,
  approval: ApprovalId,
  asked: Call,
  bodyOf: BodyOf | undefined,
  shell: Shell,
): Promise<readonly RecordDraft[]> {
  const waiters = waitersElsewhere(waiting, asked, bodyOf);
  if (waiters.length === 0) return [];
  const known = await recordedWaiters(waiting, shell);
  const isNew = ({ session, through }: Waiter) =>
    !known.some((other) => other.session === session && other.through === through);
  return waiters.filter(isNew).map((waiter) => noteOf(waiter, waiting, approval));
}

/** As they are on record. The session of the call itself is none of them. */
export async function recordedWaiters({ id }: Call, { ports }: Shell): Promise<readonly Waiter[]> {
  return (await ports.store.recordsOf(id)).flatMap(({ kind, session, body }) => {
    if (kind !== 'approval_awaited' || session === null) return [];
    const { through = null } = JSON.parse(body) as { through?: string };
    return [{ session: session as SessionId, through }];
  });
}

function waitersElsewhere(waiting: Call, asked: Call, bodyOf: BodyOf | undefined): readonly Waiter[] {
  const own = { session: asked.session, through: null };
  const above = bodyOf === undefined ? [] : [{ session: bodyOf.session, through: bodyOf.tool }];
  return [own, ...above].flatMap(({ session, through }) =>
    session === null || session === waiting.session ? [] : [{ session, through }],
  );
}

const noteOf = ({ session, through }: Waiter, waiting: Call, approval: ApprovalId): RecordDraft =>
  note('approval_awaited', { ...waiting, session }, { approval, ...(through === null ? {} : { through }) });
