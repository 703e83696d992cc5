/** The options with which a program says how long tickets may take and who answers them, checked. */
import { joinTerms, type TicketRules, type TicketTerms } from '../../core/ticket/terms.ts';
import { preview } from '../../core/values/canonical.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import { isObject } from '../../core/values/json.ts';

/** Null for never. */
export interface QueueOptions {
  readonly due_seconds?: number | null;
  readonly expires_seconds?: number | null;
  /** Names of people, or roles of the policy. */
  readonly who?: readonly string[];
  /** Whether the user of the agent's own client may answer. */
  readonly client?: boolean;
}

export interface TicketOptions extends QueueOptions {
  readonly queues?: Readonly<Record<string, QueueOptions>>;
}

export function ticketRulesIn(options: TicketOptions | undefined): TicketRules | undefined {
  if (options === undefined) return undefined;
  if (!isObject(options)) throw wrong('tickets', 'an object', options);
  const { queues = {}, ...all } = options as TicketOptions;
  if (!isObject(queues)) throw wrong('tickets.queues', 'an object', queues);
  const ofQueues = Object.entries(queues as NonNullable<TicketOptions['queues']>).map(
    ([name, said]) => [name, termsIn(`tickets.queues.${name}`, said)] as const,
  );
  return joinTerms(termsIn('tickets', all), Object.fromEntries(ofQueues));
}

const known = ['due_seconds', 'expires_seconds', 'who', 'client'];

function termsIn(where: string, said: QueueOptions): Partial<TicketTerms> {
  const stranger = Object.keys(said).find((key) => !known.includes(key));
  if (stranger !== undefined) throw wrong(`${where}.${stranger}`, `one of ${known.join(', ')}`, stranger);
  const { due_seconds: due, expires_seconds: expires, who, client } = said;
  if (who !== undefined && !(Array.isArray(who) && who.every((each) => typeof each === 'string')))
    throw wrong(`${where}.who`, 'a list of names', who);
  if (client !== undefined && typeof client !== 'boolean') throw wrong(`${where}.client`, 'true or false', client);
  return {
    ...(due === undefined ? {} : { dueMs: timeOf(`${where}.due_seconds`, due) }),
    ...(expires === undefined ? {} : { expiresMs: timeOf(`${where}.expires_seconds`, expires) }),
    ...(who === undefined ? {} : { who: [...who] }),
    ...(client === undefined ? {} : { client }),
  };
}

const maxSeconds = 10 * 366 * 86_400;

function timeOf(where: string, seconds: number | null): number | null {
  if (seconds === null) return null;
  if (typeof seconds === 'number' && seconds > 0 && seconds <= maxSeconds) return Math.round(seconds * 1_000);
  throw wrong(where, `seconds from 1 to ${maxSeconds}, or null for never`, seconds);
}

const wrong = (where: string, expected: string, got: unknown): GatewayError =>
  new GatewayError('bad_options', `option \`${where}\` must be ${expected}, not ${preview(got)}`);

export const ruledBy = (rules: TicketRules | undefined) => (rules === undefined ? {} : { ticketRules: () => rules });
