/**
 * An agent of the demo: it asks the gateway over HTTP with its own key, as any agent would, and tells what came of it.
 * Decides nothing.
 */
import type { Reply } from '../../core/call/reply.ts';

export type AgentName = 'support' | 'warehouse';

/** A success of some kind, `pending`, `in_doubt`, `escalated`, a code of governance, or the `error` of the reply. */
export type Outcome = string;

export interface Told {
  readonly agent: AgentName;
  /** What the agent does, after its name. */
  readonly says: string;
  readonly outcome: Outcome;
  readonly call_id: string | null;
  readonly approval_id?: string;
  readonly ticket_id?: string;
  /** A person did something, or has to. */
  readonly concerns_you: boolean;
}

export interface Wish {
  readonly says: string;
  readonly tool: string;
  readonly args: object;
  readonly key?: string;
  readonly evidence?: readonly string[];
  /** Its own session, where that is not the agent's standing one. */
  readonly session?: string;
}

export interface Step {
  readonly says: string;
  readonly session: string;
  readonly action: string;
  readonly inputs: object;
}

export interface Agent {
  readonly name: AgentName;
  call(wish: Wish): Promise<Reply>;
  step(step: Step): Promise<Reply>;
  /** A new session, of a workflow or for one case of a customer. */
  open(workflow?: string): Promise<string>;
  /** The answer of a GET. */
  read(pathname: string): Promise<Record<string, unknown>>;
  tell(told: Omit<Told, 'agent'>): void;
}

export interface AgentParts {
  readonly name: AgentName;
  readonly url: string;
  readonly key: string;
  readonly signal: AbortSignal;
  readonly onTold: (told: Told) => void;
}

const waitSeconds = 30;

export function createAgent({ name, url, key, signal, onTold }: AgentParts): Agent {
  const ask = async (pathname: string, body?: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`${url}${pathname}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal,
    });
    return (await response.json()) as Record<string, unknown>;
  };
  const tell: Agent['tell'] = (told) => onTold({ agent: name, ...told });
  const tellReply = (says: string, reply: Reply): Reply => {
    const outcome = outcomeOf(reply);
    tell({ says, outcome, call_id: reply.call_id, ...waitsFor(reply), concerns_you: yours.has(outcome) });
    return reply;
  };
  return {
    name,
    tell,
    read: ask,
    async call({ says, evidence = [], ...wish }) {
      const refs = evidence.length === 0 ? {} : { evidence_refs: evidence };
      const reply = await ask('/v1/calls', { ...wish, ...refs, wait_seconds: waitSeconds });
      return tellReply(says, reply as unknown as Reply);
    },
    async step({ says, session, action, inputs }) {
      const reply = await ask(`/v1/sessions/${session}/steps`, { action, inputs, wait_seconds: waitSeconds });
      return tellReply(says, reply as unknown as Reply);
    },
    open: async (workflow) =>
      String((await ask('/v1/sessions', workflow === undefined ? {} : { workflow }))['session']),
  };
}

const yours: ReadonlySet<Outcome> = new Set(['POLICY_DEFER', 'in_doubt', 'escalated']);

export function outcomeOf(reply: Reply): Outcome {
  if ('pending' in reply) return 'pending';
  if ('error' in reply) {
    if (reply.effect === 'unknown') return 'in_doubt';
    if ('outcome' in reply && reply.outcome?.kind === 'escalated') return 'escalated';
    return reply.error === 'denied' ? reply.code : reply.error;
  }
  if (reply.notices?.some(({ code }) => code === 'BUDGET_WARNING') === true) return 'BUDGET_WARNING';
  return (reply.attempts ?? 1) > 1 ? 'retried' : 'succeeded';
}

function waitsFor(reply: Reply): Pick<Told, 'approval_id' | 'ticket_id'> {
  if (!('error' in reply)) return {};
  const { resolution } = reply;
  if (resolution.type === 'pending_approval') return { approval_id: resolution.approval_id };
  return resolution.type === 'escalated' ? { ticket_id: resolution.ticket_id } : {};
}
