/**
 * An agent in a hurry: it begins with two mistakes, wants impossible milk, and has no idea of the bar's rules. Whatever
 * it is told, it reads `valid_next_actions` and picks one of them.
 */
export interface Reply {
  readonly error?: string;
  readonly requested?: string;
  readonly action?: string;
  readonly state?: unknown;
  readonly done?: boolean;
  readonly valid_next_actions: readonly string[];
  readonly [more: string]: unknown;
}

export type Step = (action: string, inputs: object) => Promise<Reply>;

const mostSteps = 20;

export async function orderCoffee(step: Step): Promise<readonly Reply[]> {
  const hasty = ['pay', 'tako_order'];
  const milks = ['moon', 'almond', 'oat'];
  const done = new Set<string>();
  const replies: Reply[] = [];
  const inputsOf = (action: string): object => {
    if (action === 'take_order') return { drink: 'latte' };
    return action === 'add_modifier' ? { modifier: milks.shift() } : {};
  };
  while (replies.length < mostSteps) {
    const next = replies.at(-1)?.valid_next_actions ?? [];
    const action = hasty.shift() ?? next.find((name) => !done.has(name));
    if (action === undefined) return replies;
    const reply = await step(action, inputsOf(action));
    replies.push(reply);
    if (reply.error === undefined) done.add(action);
    if (reply.done === true) return replies;
  }
  return replies;
}
