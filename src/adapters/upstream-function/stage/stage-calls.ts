/**
 * The calls of one pass of `act`. Each has a name made of attempt, pass and position, so the same call of the same stage
 * is made once, however often act runs.
 */
import { canonicalise } from '../../../core/values/canonical.ts';
import type { CallId } from '../../../core/call/call.ts';
import { isSuccess, type Reply, type SuccessReply } from '../../../core/call/reply.ts';
import type { Json } from '../../../core/values/json.ts';
import { maxStageCalls, stageCallName } from '../../../core/workflow/stage-rule.ts';
import type { StageAt } from '../../../ports/stage.ts';
import type { Attempt } from '../../../ports/upstream.ts';
import { ToolFailure } from '../tool-failure.ts';
import { StageCallError } from './stage-types.ts';

export interface Calls {
  readonly call: (tool: string, args?: unknown) => Promise<SuccessReply>;
  /** Resolves when every call that was begun has ended. */
  readonly rest: () => Promise<void>;
  readonly hadEffect: () => boolean;
  /** The first call of which nobody knows whether it happened; null if there is none. */
  readonly doubt: () => { readonly callId: CallId; readonly tool: string } | null;
}

export function createCalls(at: StageAt, given: Attempt, signal: AbortSignal): Calls {
  const begun = new Set<Promise<unknown>>();
  let position = 0;
  let applied = false;
  let doubt: ReturnType<Calls['doubt']> = null;

  async function call(tool: string, args: Json): Promise<SuccessReply> {
    position += 1;
    if (position > maxStageCalls) throw new Error(`a pass of a stage makes at most ${maxStageCalls} calls`);
    const name = stageCallName(at.attempt, at.pass, position);
    const reply = await answerOf(tool, args, name);
    if (isSuccess(reply)) return reply;
    throw new StageCallError(tool, reply);
  }

  /** A call that outlives its wait is waited for again, as long as anybody waits for the stage. */
  async function answerOf(tool: string, args: Json, name: string): Promise<Reply> {
    for (;;) {
      const { reply, effect } = await given.callTool(tool, args, name);
      if ('pending' in reply && !signal.aborted) continue;
      if (effect === 'applied') applied = true;
      if (effect === 'unknown') doubt ??= { callId: reply.call_id as CallId, tool };
      return reply;
    }
  }

  return {
    call: (tool, args = {}) => {
      const asked = (async () => {
        if (signal.aborted || doubt !== null)
          throw new Error('the stage goes no further: it was stopped, or a call of it is in doubt');
        return call(nameOf(tool), argsOf(tool, args));
      })();
      begun.add(asked);
      // Ignored: awaiting the call still throws.
      asked.catch(() => undefined);
      return asked;
    },
    rest: async () => void (await Promise.allSettled(begun)),
    hadEffect: () => applied,
    doubt: () => doubt,
  };
}

function nameOf(tool: unknown): string {
  if (typeof tool === 'string') return tool;
  throw new TypeError('ctx.call(tool, args) needs the name of a tool');
}

/** INVARIANT: what cannot be composed fails the attempt, and nothing is sent. */
function argsOf(tool: string, args: unknown): Json {
  const written = canonicalise(args, { maxDepth: 64 });
  if (written.ok) return JSON.parse(written.text) as Json;
  const message = `the arguments of '${tool}' cannot be sent: not JSON at '${written.path}': ${written.problem}`;
  throw new ToolFailure({ kind: '400_invalid', message, effect: 'none', name: 'NotComposed' });
}
