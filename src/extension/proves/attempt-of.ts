/** An attempt, as the gateway makes one, for tests of upstreams. */
import type { CallId } from '../../core/call/call.ts';
import type { Json } from '../../core/values/json.ts';
import type { Attempt } from '../../ports/upstream.ts';

let calls = 0;

export const attemptOf = (tool: string, args: Json = {}, more: Partial<Attempt> = {}): Attempt => ({
  callId: `call_${++calls}` as CallId,
  attempt: 1,
  tool,
  args,
  session: null,
  tenant: 'default',
  agent: 'local',
  deadlineAtMs: Number.MAX_SAFE_INTEGER,
  timeoutMs: 240_000,
  workflowContext: null,
  client: null,
  callTool: () => Promise.reject(new Error('nobody calls on')),
  ...more,
});
