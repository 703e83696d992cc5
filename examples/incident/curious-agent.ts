/**
 * An agent that knows nothing but `valid_next_actions`: of what is possible it takes what it has taken least often so
 * far, and of equals the first, or the last if it is the contrary sort.
 */
import { isRefusal, isSuccess, type Reply, type SuccessReply } from '../../src/index.ts';

export type Step = (action: string) => Promise<Reply>;

const mostSteps = 30;

export async function walk(from: readonly string[], contrary: boolean, step: Step): Promise<readonly SuccessReply[]> {
  const taken = new Map<string, number>();
  const replies: SuccessReply[] = [];
  let next = from;
  while (replies.length < mostSteps && next.length > 0) {
    const often = (action: string) => taken.get(action) ?? 0;
    const [action = ''] = (contrary ? next.toReversed() : [...next]).sort((a, b) => often(a) - often(b));
    taken.set(action, often(action) + 1);
    const reply = await step(action);
    // What is refused was possible a moment ago: a timer came between. The refusal says what is possible now.
    if (isSuccess(reply)) replies.push(reply);
    else if (!isRefusal(reply) || reply.valid_next_actions.length === 0) return replies;
    next = 'valid_next_actions' in reply ? reply.valid_next_actions : [];
  }
  return replies;
}
