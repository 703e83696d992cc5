/** Says that the gateway decides nothing yet, to whoever asks for something that is no call. Nothing is recorded: there is nowhere to write. */
import { refused } from '../../core/call/answer.ts';
import type { Call, Request } from '../../core/call/call.ts';
import { ready } from '../../core/gates/ready.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import { firstFacts } from '../call/first-facts.ts';
import type { Shell } from '../shell.ts';

/** Null if it is ready. What sends nothing needs no place among the calls under way. */
export function notReady(call: Call, shell: Shell): ErrorReply | null {
  const facts = { ...firstFacts(call, shell), inFlight: { now: 0, max: 1 } };
  const answer = ready.check({ tool: call.tool } as Request, facts, []);
  if (answer.kind !== 'refuse') return null;
  return refused({ requested: call.tool, callId: call.id, session: null, nextActions: [] }, answer.refusal);
}
