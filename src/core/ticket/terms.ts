/** How long tickets of a queue may take, and who answers them: defaults, and what the file says. Pure. */

export interface TicketTerms {
  /** When one is overdue, and when it ends by itself, counted from its opening; null for never. */
  readonly dueMs: number | null;
  readonly expiresMs: number | null;
  /** Names of people, or roles of the policy; null for everybody who may answer tickets at all. */
  readonly who: readonly string[] | null;
  /** Whether the user of the agent's own client may answer, with `retry`, `replace` or `give_up`. */
  readonly client: boolean;
}

export interface TicketRules {
  readonly all: TicketTerms;
  readonly queues: Readonly<Record<string, TicketTerms>>;
}

const hour = 3_600_000;

export const defaultTicketTerms: TicketTerms = { dueMs: 4 * hour, expiresMs: 7 * 24 * hour, who: null, client: false };

/** The queue of calls that are in doubt. */
export const doubtQueue = 'in_doubt';

/** Tickets about doubts stay until somebody answers: nobody else would look at the call. */
export const defaultTicketRules: TicketRules = {
  all: defaultTicketTerms,
  queues: { [doubtQueue]: { ...defaultTicketTerms, expiresMs: null } },
};

export const termsOf = (queue: string, { all, queues }: TicketRules): TicketTerms =>
  (Object.hasOwn(queues, queue) ? queues[queue] : undefined) ?? all;

/** What is said of all queues and of one; what is not said is the default. */
export function joinTerms(
  said: Partial<TicketTerms>,
  ofQueues: Readonly<Record<string, Partial<TicketTerms>>>,
): TicketRules {
  const all = { ...defaultTicketTerms, ...said };
  const doubts = { ...all, expiresMs: null };
  const entries = Object.entries({ [doubtQueue]: {}, ...ofQueues }).map(
    ([name, terms]): readonly [string, TicketTerms] => [name, { ...(name === doubtQueue ? doubts : all), ...terms }],
  );
  return { all, queues: Object.fromEntries(entries) };
}

/** Whether this person may take and answer tickets of the queue. `roles`: who has which role by the policy. */
export function mayAnswer(
  { who }: TicketTerms,
  name: string,
  roles: Readonly<Record<string, readonly string[]>>,
): boolean {
  if (who === null) return true;
  return who.some((each) => each === name || (Object.hasOwn(roles, each) && roles[each]?.includes(name) === true));
}
