/** An upstream of functions for one test, and a short way to read what came back. */
import type { CallId } from '../../src/core/call/call.ts';
import type { Attempt, UpstreamResult } from '../../src/ports/upstream.ts';
import {
  createFunctionUpstream,
  type FunctionUpstreamOptions,
} from '../../src/adapters/upstream-function/function-upstream.ts';
import type { Tool } from '../../src/adapters/upstream-function/tool.ts';

const unstopped = new AbortController().signal;

export function attemptOf(name: string, args: unknown): Attempt {
  const who = { session: null, tenant: 't', agent: 'a' };
  return {
    callId: 'call_1' as CallId,
    attempt: 1,
    tool: name,
    args: args as never,
    ...who,
    deadlineAtMs: 0,
    timeoutMs: 1,
    workflowContext: null,
    client: null,
    callTool: () => Promise.reject(new Error('no tools here')),
  };
}

/** An upstream that is closed when the test ends. */
export async function using<Result>(
  tools: readonly Tool[],
  options: FunctionUpstreamOptions,
  act: (invoke: (args?: unknown, signal?: AbortSignal, name?: string) => Promise<UpstreamResult>) => Promise<Result>,
): Promise<Result> {
  const { upstream, close } = createFunctionUpstream(tools, options);
  try {
    return await act((args = {}, signal = unstopped, name = 'it') => upstream.invoke(attemptOf(name, args), signal));
  } finally {
    await close();
  }
}

export function summary(result: UpstreamResult): readonly unknown[] {
  return result.kind === 'returned' ? ['returned', result.output] : [result.failure.kind, result.failure.errorType];
}
