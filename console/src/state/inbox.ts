/** What waits for a person: approvals, tickets and calls in doubt in one list, read again every few seconds. */
import { signal } from '@preact/signals';
import type { Inbox, InboxItem } from '../../../src/core/ticket/inbox.ts';
import type { CallState } from '../../../src/core/taxonomy.ts';
import { get, type Problem } from './api.ts';
import { tellNew } from './notifications.ts';
import { setWaiting } from './waiting.ts';

/** A call of the list of calls, as far as it is shown here. */
export interface ListedCall {
  readonly call_id: string;
  readonly agent: string;
  readonly tool: string;
  readonly session: string | null;
  readonly state: CallState;
  readonly attempts: number;
  readonly created_at: string;
  readonly updated_at: string;
}

export type WaitingItem =
  | InboxItem
  | {
      readonly kind: 'doubt';
      readonly id: string;
      readonly agent: string;
      readonly tool: string;
      readonly opened_at: string;
      readonly due_at: null;
      readonly overdue: false;
      readonly call: ListedCall;
    };

export interface WaitingList {
  /** Null before the first answer. */
  readonly items: readonly WaitingItem[] | null;
  /** How many wait in all; more than `items` if the list was cut. */
  readonly total: number;
  readonly problem: Problem | null;
}

export const inbox = signal<WaitingList>({ items: null, total: 0, problem: null });

const everyMs = 2_500;
/** A tab that nobody sees still counts, for its badge. */
const hiddenEveryMs = 10_000;
const maxListed = 200;

/** Returns what ends it. */
export function startInbox(): () => void {
  const ending = new AbortController();
  let timer: ReturnType<typeof setTimeout>;
  const turn = async () => {
    await loadInbox(ending.signal);
    if (!ending.signal.aborted) timer = setTimeout(() => void turn(), document.hidden ? hiddenEveryMs : everyMs);
  };
  void turn();
  return () => {
    ending.abort();
    clearTimeout(timer);
  };
}

export async function loadInbox(stop?: AbortSignal): Promise<void> {
  const [waiting, doubts] = await Promise.all([
    get<Inbox>(`/v1/inbox?limit=${maxListed}`, stop),
    get<{ readonly calls: readonly ListedCall[] }>(`/v1/calls?state=IN_DOUBT&limit=${maxListed}`, stop),
  ]);
  if (stop?.aborted === true) return;
  if (!waiting.ok || !doubts.ok) {
    const { problem } = waiting.ok ? (doubts as { readonly problem: Problem }) : waiting;
    inbox.value = { ...inbox.peek(), problem };
    return;
  }
  // A call in doubt that has a ticket is settled by answering that.
  const told = new Set(waiting.value.items.map(({ call_id: id }) => id));
  const others = doubts.value.calls.filter(({ call_id: id }) => !told.has(id));
  const items = [...waiting.value.items, ...others.map(ofDoubt)];
  const total = waiting.value.total + others.length;
  inbox.value = { items, total, problem: null };
  setWaiting('inbox', total);
  tellNew(items);
}

const ofDoubt = (call: ListedCall): WaitingItem => ({
  kind: 'doubt',
  id: call.call_id,
  agent: call.agent,
  tool: call.tool,
  opened_at: call.updated_at,
  due_at: null,
  overdue: false,
  call,
});
