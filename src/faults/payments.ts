/** The payment service behind the faults: refunds, notes and idempotency keys. Its whole state is made of the ledger. */
import type { Json, JsonObject } from '../core/values/json.ts';
import { unreachable } from '../core/values/unreachable.ts';
import type { Entry, Ledger } from './ledger.ts';
import { type OperationName, operations, wrongArgs, type Operation } from './operations.ts';
import { problem, type Reply } from './plan-behaviour.ts';

export interface Asked {
  readonly operation: OperationName;
  readonly args: JsonObject;
  readonly key: string | null;
  readonly connection: number;
}

export interface PaymentOptions {
  /** How long a key is remembered. */
  readonly windowMs: number;
  /** What the repeat of a completed key gets: the stored answer, or 409. */
  readonly onRepeat: 'replay' | 'conflict';
  readonly nowMs: () => number;
}

export interface Payments {
  /** Takes the key. A reply if the request cannot be executed: then nothing is taken. */
  begin(asked: Asked): Reply | null;
  /** After `begin`. Makes the effect, if the operation has one, and gives the key back as completed. */
  execute(asked: Asked): Reply;
}

const maxKeyChars = 255;
/** Answers list at most so many refunds of an order. */
const maxListed = 100;

export function createPayments(ledger: Ledger, options: PaymentOptions): Payments {
  const inFlight = new Map<string, Asked>();
  const completed = new Map<string, Entry>();
  const refunds = new Map<string, Entry>();
  /** Refunds of an order that are not cancelled. */
  const byOrder = new Map<Json | undefined, Set<Entry>>();

  const remember = (entry: Entry): void => {
    if (entry.operation === 'refund' && entry.id !== undefined) {
      refunds.set(entry.id, entry);
      const order = entry.args['order'];
      byOrder.set(order, (byOrder.get(order) ?? new Set()).add(entry));
      if (entry.key !== null) completed.set(entry.key, entry);
    }
    const cancelled = entry.operation === 'cancel_refund' ? refunds.get(String(entry.args['id'])) : undefined;
    if (cancelled === undefined) return;
    refunds.delete(String(cancelled.id));
    byOrder.get(cancelled.args['order'])?.delete(cancelled);
  };
  for (const entry of ledger.effects) remember(entry);

  const effect = (asked: Asked, prefix: string): Entry => {
    const id = asked.operation === 'cancel_refund' ? String(asked.args['id']) : `${prefix}_${ledger.next()}`;
    const entry = ledger.append({ at: timeOf(options.nowMs()), kind: 'effect', ...asked, id });
    remember(entry);
    return entry;
  };

  const refundsOf = (order: Json | undefined) => [...(byOrder.get(order) ?? [])];

  return {
    begin(asked) {
      const wrong = wrongRequest(asked);
      if (wrong !== null) return wrong;
      if (asked.operation === 'cancel_refund' && !refunds.has(String(asked.args['id'])))
        return problem(404, 'not_found', {}, 'there is no such refund');
      const { keyed }: Operation = operations[asked.operation];
      if (keyed !== true || asked.key === null) return null;
      const known = completed.get(asked.key);
      const isKnown = known !== undefined && options.nowMs() - Date.parse(known.at) < options.windowMs;
      const earlier = inFlight.get(asked.key) ?? (isKnown ? known : undefined);
      if (earlier === undefined) {
        inFlight.set(asked.key, asked);
        return null;
      }
      if (!sameArgs(earlier, asked)) return problem(409, 'idempotency_key_mismatch');
      if (inFlight.has(asked.key)) return problem(409, 'idempotency_key_in_flight');
      if (options.onRepeat === 'conflict' || known === undefined) return problem(409, 'idempotency_key_completed');
      return { ...made(known), headers: { ...json, 'idempotent-replayed': 'true' } };
    },
    execute(asked) {
      const { operation, args } = asked;
      switch (operation) {
        case 'refund':
          try {
            return made(effect(asked, 're'));
          } finally {
            if (asked.key !== null) inFlight.delete(asked.key);
          }
        case 'add_note':
          return made(effect(asked, 'note'));
        case 'cancel_refund':
          effect(asked, '');
          return ok({ id: String(args['id']), cancelled: true });
        case 'find_refund': {
          const found = refundsOf(args['order']).slice(0, maxListed);
          const listed = found.map((each) => ({ id: each.id ?? '', amount: each.args['amount'] ?? 0, key: each.key }));
          return ok({ order: args['order'] ?? '', refunds: listed });
        }
        case 'get_order': {
          const refunded = refundsOf(args['order']).reduce((sum, each) => sum + Number(each.args['amount']), 0);
          return ok({ order: args['order'] ?? '', refunded });
        }
        default:
          return unreachable(operation);
      }
    },
  };
}

function wrongRequest({ operation, args, key }: Asked): Reply | null {
  if (key !== null && key.length > maxKeyChars)
    return problem(400, 'invalid_key', {}, `a key has at most ${maxKeyChars} characters`);
  const wrong = wrongArgs(operation, args);
  return wrong === null ? null : problem(400, 'invalid_arguments', {}, wrong);
}

const json = { 'content-type': 'application/json' } as const;
const ok = (body: JsonObject): Reply => ({ status: 200, headers: json, body });
/** An answer can be made again from its entry. */
const made = ({ id = '', args }: Entry): Reply => ok({ id, ...args });

const sameArgs = (one: { args: JsonObject }, other: { args: JsonObject }): boolean =>
  one.args['order'] === other.args['order'] && one.args['amount'] === other.args['amount'];

export const timeOf = (ms: number): string => new Date(ms).toISOString();
