/**
 * Asks the declared read whether a call took effect. It is the operator's read, not the agent's: no policy is asked,
 * and it must be a tool without effect. Never rejects, and waits no longer than the read's own timeout.
 */
import type { Call } from '../../core/call/call.ts';
import type { Probed, ToolRecovery } from '../../core/recovery/playbook.ts';
import { canonicalise } from '../../core/values/canonical.ts';
import type { Json } from '../../core/values/json.ts';
import type { UpstreamResult } from '../../ports/upstream.ts';
import { fetchCredentials } from '../call/fetch-credentials.ts';
import type { Shell } from '../shell.ts';
import { sendAttempt } from './send-attempt.ts';
import { attemptOf } from './work.ts';

const unclear = (reason: string): Probed => ({ kind: 'unclear', reason });

export async function probe(call: Call, args: Json, { reconcile }: ToolRecovery, shell: Shell): Promise<Probed> {
  if (reconcile === null) return unclear('no read is declared');
  const tool = shell.catalogue().get(reconcile.tool);
  if (tool === undefined) return unclear(`the read '${reconcile.tool}' is not available`);
  if (tool.effectClass !== 'pure') return unclear(`'${reconcile.tool}' is not a read`);
  const asked = reconcile.ask(args);
  if (asked === null) return unclear('the arguments of the read could not be made');
  const credentials = await fetchCredentials(tool, call.agent, shell);
  if (credentials.some(({ ok }) => !ok)) return unclear('the credential of the read is not available');
  const work = { tool, args: asked, step: null, client: null, holds: [] };
  // The read has its own time, whatever is left of the call's.
  const reading = { ...call, deadlineAtMs: shell.ports.clock.nowMs() + tool.timeoutMs };
  const end = await sendAttempt(attemptOf(reading, work, shell), () => undefined, shell).end;
  return end.kind === 'came_back'
    ? interpret(end.result, args, reconcile.interpret, shell)
    : unclear('no answer in time');
}

function interpret(
  result: UpstreamResult,
  args: Json,
  read: (args: Json, found: Json) => Probed,
  { limits }: Shell,
): Probed {
  if (result.kind === 'failed') return unclear(`the read failed: ${result.failure.kind}`);
  const written = canonicalise(result.output ?? null, { maxDepth: limits.maxDepth });
  if (!written.ok) return unclear('the answer of the read is not JSON');
  try {
    return read(args, JSON.parse(written.text) as Json);
  } catch (error) {
    return unclear(
      `the answer of the read could not be judged: ${error instanceof Error ? error.message : 'it threw'}`,
    );
  }
}
