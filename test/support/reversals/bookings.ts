/** Bookings that can be undone, on a ledger of their own, behind a real gateway. */
import type { Tool } from '../../../src/index.ts';
import { aTool } from '../tools.ts';
import { successOf } from '../check-reply.ts';
import type { OpenedGateway } from '../open-gateway.ts';

export interface Bookings {
  /** What is booked now, and everything that was ever done, in order. */
  readonly booked: Set<string>;
  readonly done: string[];
  /** What the next calls do: answer; fail and prove that nothing was done; do it and hang; hang and do nothing. */
  book: Behaviour;
  cancel: Behaviour;
}

export type Behaviour = 'answer' | 'refuse' | 'lose' | 'nothing' | 'unsaid';

export const noBookings = (): Bookings => ({ booked: new Set(), done: [], book: 'answer', cancel: 'answer' });

interface More {
  readonly window_seconds?: number;
  readonly book?: object;
  readonly cancel?: object;
}

/** A body that does what the ledger says of it, and writes it down. */
function acting(ledger: Bookings, what: string, how: () => Behaviour, change: (id: string) => void) {
  return (({ id }: { id: string }, { fail }: { fail: (failure: object) => never }) => {
    const behaviour = how();
    if (behaviour === 'refuse') return fail({ kind: '400_invalid', message: 'no such thing', effect: 'none' });
    if (behaviour !== 'nothing') {
      ledger.done.push(`${what} ${id}`);
      change(id);
    }
    if (behaviour === 'unsaid') return fail({ kind: '5xx', message: 'it broke', effect: 'unknown' });
    return behaviour === 'answer' ? { booking: `b-${id}` } : new Promise(() => undefined);
  }) as never;
}

/** `book` is undone by `cancel`; `note` cannot be; `find` only reads, and tells whether something is booked. */
export function bookingTools(ledger: Bookings, more: More = {}): readonly Tool[] {
  const reconcile = {
    tool: 'find',
    args: ({ id }: { id: string }) => ({ id }),
    happened: (found: { booked: boolean }) => found.booked,
    result: (found: { booking: string }) => ({ booking: found.booking }),
  };
  return [
    aTool(
      'book',
      acting(
        ledger,
        'book',
        () => ledger.book,
        (id) => ledger.booked.add(id),
      ),
      {
        effect: 'probeable',
        timeout_seconds: 5,
        reconcile: reconcile as never,
        reverse: {
          tool: 'cancel',
          args: { id: 'args.id', booking: 'result.booking' },
          window_seconds: more.window_seconds ?? 3_600,
        },
        ...more.book,
      },
    ),
    aTool(
      'cancel',
      acting(
        ledger,
        'cancel',
        () => ledger.cancel,
        (id) => ledger.booked.delete(id),
      ),
      {
        timeout_seconds: 5,
        ...more.cancel,
      },
    ),
    aTool(
      'note',
      acting(
        ledger,
        'note',
        () => 'answer',
        () => undefined,
      ),
    ),
    aTool('find', (({ id }: { id: string }) => ({ booked: ledger.booked.has(id), booking: `b-${id}` })) as never, {
      effect: 'pure',
    }),
  ];
}

/** Books, and gives the token that undoes it. */
export async function booked(gateway: Pick<OpenedGateway, 'call'>, id: string, more: object = {}) {
  const reply = successOf(await gateway.call({ tool: 'book', args: { id }, ...more }));
  return { call: reply.call_id, token: reply.reversal_token ?? '', session: reply.session ?? '' };
}
