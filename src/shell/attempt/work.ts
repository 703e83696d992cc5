/** What a call is sent with: the tool, the arguments that passed, and the workflow in which it is a step. */
import type { Call } from '../../core/call/call.ts';
import type { ToolEntry } from '../../core/call/catalogue.ts';
import type { Json } from '../../core/values/json.ts';
import { ceilingOf } from '../../core/policy/session-ceiling.ts';
import type { StepFact } from '../../core/workflow/step.ts';
import type { Notice, Reply } from '../../core/call/reply.ts';
import type { Effect } from '../../core/taxonomy.ts';
import type { AgentClient, Attempt } from '../../ports/upstream.ts';
import { recordedClient } from './record-questions.ts';
import type { BodyOf, Shell } from '../shell.ts';

/** A tool and the arguments it will get. */
export interface Work {
  readonly tool: ToolEntry;
  readonly args: Json;
  /** Where the workflow stands in which this is a step; null without one. */
  readonly step: StepFact | null;
  /** Whom the body can ask while it runs. */
  readonly client: AgentClient | null;
  /** The call whose body asked for it; absent where no body did. */
  readonly bodyOf?: BodyOf | undefined;
  /** What its reply says beside the outcome. */
  readonly notices?: readonly Notice[];
}

/** The step under way: where its session stood, and the inputs that passed. */
export interface Step {
  readonly fact: StepFact;
  readonly inputs: Json;
}

export const stepOf = (work: Work): Step | null => (work.step === null ? null : { fact: work.step, inputs: work.args });

export function timeoutOf(work: Work, call: Call, nowMs: number): number {
  return Math.max(1, Math.min(work.tool.timeoutMs, call.deadlineAtMs - nowMs));
}

export function attemptOf(call: Call, work: Work, shell: Shell): Attempt {
  return {
    callId: call.id,
    attempt: call.attempt,
    tool: work.tool.invokes,
    args: work.args,
    session: call.session,
    tenant: call.tenant,
    agent: call.agent,
    deadlineAtMs: call.deadlineAtMs,
    timeoutMs: timeoutOf(work, call, shell.ports.clock.nowMs()),
    workflowContext: work.step === null ? null : work.step.snapshot.context,
    client: work.client === null ? null : recordedClient(work.client, call, shell),
    callTool: callToolFor(call, work.bodyOf ?? call, shell),
  };
}

/** The same key for the same call of the same body, however often the body is sent. */
function callToolFor({ id, tenant, agent, session }: Call, bodyOf: BodyOf, shell: Shell): Attempt['callTool'] {
  const ceiling = ceilingOf(session);
  let calls = 0;
  /** Where its calls run that may reach no further than its own session; known with the first reply. */
  let within: string | null = null;
  return async (tool, args) => {
    calls += 1;
    const request = { tool, args, key: `${id}/${calls}`, ...(within === null ? {} : { session: within }) };
    const reply = await shell.live.callTool(request, { tenant, agent }, bodyOf, within === null ? ceiling : null);
    if (ceiling !== null) within ??= reply.session;
    return { reply, effect: effectOfReply(reply, tool, shell) };
  };
}

function effectOfReply(reply: Reply, tool: string, shell: Shell): Effect {
  if ('error' in reply) return reply.effect;
  if ('pending' in reply) return 'unknown';
  return shell.catalogue().get(tool)?.effectClass === 'pure' ? 'none' : 'applied';
}
