/** Workflows for code in the same process: steps, sessions and their history. Adds who is asking; decides nothing. */
import { canonicalise } from '../../core/values/canonical.ts';
import { fieldsOf } from '../../core/values/json.ts';
import type { ErrorReply, Reply } from '../../core/call/reply.ts';
import type { CallId, Principal } from '../../core/call/call.ts';
import { handleUnfit } from '../../shell/call/handle-call.ts';
import { type Judged, type Judgement, settleDoubt } from '../../shell/ending/settle-doubt.ts';
import type { Shell } from '../../shell/shell.ts';
import type { HistoryPage, SessionView, WorkflowService } from '../../shell/session/workflow-service.ts';
import { type Ceiling, reachOf, wrongOptions } from './check-options.ts';
import type { CallOptions } from './library-door.ts';

type Who = Omit<CallOptions, 'signal'>;

export function createWorkflowDoor(service: WorkflowService, shell: Shell, self: Principal) {
  const asked = async <Answer>(options: unknown, act: (who: Principal) => Promise<Answer>) => {
    const wrong = wrongOptions(options, shell.limits.maxNameChars);
    if (wrong.length > 0) return (await handleUnfit(wrong, self, shell)) as ErrorReply;
    const { tenant, agent } = (options ?? {}) as Who;
    return act({ tenant: tenant ?? self.tenant, agent: agent ?? self.agent });
  };
  return {
    /** `{workflow, action, inputs, session, …}`; without a session one of `workflow` is opened. Never rejects. */
    handleStep(value: unknown, options: CallOptions = {}): Promise<Reply> {
      return asked(options, (who) => {
        const { workflow, ...step } = fieldsOf(value);
        const own = 'inputs' in step ? { ...step, inputs: ownCopy(step['inputs'], shell) } : step;
        return service.step(nameOf(workflow, service), own, who, { cancelled: options.signal });
      });
    },
    /** A person settles a call that is in doubt. Never offered to an agent. */
    settle(callId: string, judgement: Judgement): Promise<Judged> {
      return settleDoubt(callId as CallId, judgement, shell);
    },
    sessions: {
      /** `mode` limits how far its steps may reach. */
      open: (workflow: string, { mode, ...options }: Who & Ceiling = {}): Promise<SessionView | ErrorReply> =>
        asked(options, (who) => service.open(workflow, who, reachOf(mode))),
      /** Its state and its next actions. */
      look: (session: string, options: Who = {}): Promise<SessionView | ErrorReply> =>
        asked(options, (who) => service.look(session, who)),
      reset: (session: string, options: Who = {}): Promise<Reply> =>
        asked(options, (who) => service.reset(session, who)),
      /** A new session that starts from the state of another after step `seq`, or from its current state. */
      fork: (session: string, at: { readonly seq?: number } = {}, options: Who = {}): Promise<Reply> =>
        asked(options, (who) => service.fork(session, (fieldsOf(at)['seq'] ?? null) as number | null, who)),
      /** Continues the session although its workflow changed. */
      accept: (session: string, options: Who = {}): Promise<Reply> =>
        asked(options, (who) => service.accept(session, who)),
      history: (
        session: string,
        page: { readonly after?: number; readonly limit?: number } = {},
        options: Who = {},
      ): Promise<HistoryPage | ErrorReply> =>
        asked(options, (who) => service.history(session, who, page.after ?? 0, page.limit ?? 100)),
    },
  };
}

/** A copy, because the caller may change its object after the call. What is not JSON is kept, and refused later. */
function ownCopy(inputs: unknown, { limits }: Shell): unknown {
  if (typeof inputs !== 'object' || inputs === null) return inputs;
  const written = canonicalise(inputs, { maxDepth: limits.maxDepth });
  return written.ok ? JSON.parse(written.text) : inputs;
}

/** A single workflow need not be named. */
function nameOf(workflow: unknown, { workflows }: WorkflowService): string {
  if (typeof workflow === 'string') return workflow;
  const [only, ...others] = workflows.keys();
  return only !== undefined && others.length === 0 ? only : '';
}
