/** Waits for what people decide, and goes on from there as a careful agent would: it asks again, with the same key. */
import type { Reply } from '../../core/call/reply.ts';
import type { People } from './stage.ts';
import { type Agent, outcomeOf } from './talk.ts';

const lookSeconds = 30;
/** An approval of the demo expires after an hour. */
const maxLooks = 150;
const settlingEveryMs = 2_000;
const maxSettlingLooks = 1_800;

export interface PeopleParts {
  /** Rejects when the demo ends. */
  readonly pause: (delayMs: number) => Promise<void>;
  /** What went wrong with a task, unless the demo has ended. */
  readonly onFailure: (error: unknown) => void;
}

export function createPeople({ pause, onFailure }: PeopleParts): People {
  const open = { approvals: 0, doubts: 0, tickets: 0 };
  const follow = (kind: keyof typeof open, task: Promise<void>): void => {
    open[kind] += 1;
    void task.catch(onFailure).finally(() => (open[kind] -= 1));
  };
  return {
    awaitApproval: (agent, approvalId, about, again) =>
      follow('approvals', awaitDecision(agent, approvalId, about, again)),
    awaitSettling: (agent, callId, about) => follow('doubts', awaitSettling(agent, callId, about, pause)),
    awaitTicket: (agent, ticketId, about) => follow('tickets', awaitAnswer(agent, ticketId, about)),
    approvals: () => open.approvals,
    doubts: () => open.doubts,
  };
}

async function awaitDecision(
  agent: Agent,
  approvalId: string,
  about: string,
  again: () => Promise<unknown>,
): Promise<void> {
  for (let look = 0; look < maxLooks; look++) {
    const { state } = await agent.read(`/v1/approvals/${approvalId}?wait=${lookSeconds}`);
    if (state === 'pending') continue;
    const told = { call_id: null, approval_id: approvalId, concerns_you: true };
    if (state !== 'granted') return agent.tell({ says: `hears about ${about}`, outcome: String(state), ...told });
    await again();
    return;
  }
}

async function awaitSettling(agent: Agent, callId: string, about: string, pause: PeopleParts['pause']): Promise<void> {
  for (let look = 0; look < maxSettlingLooks; look++) {
    const reply = await agent.read(`/v1/calls/${callId}`);
    if (reply['effect'] !== 'unknown' && reply['pending'] !== true) {
      const outcome = 'error' in reply ? 'did not happen' : 'happened';
      return agent.tell({ says: `hears about ${about}`, outcome, call_id: callId, concerns_you: true });
    }
    await pause(settlingEveryMs);
  }
}

async function awaitAnswer(agent: Agent, ticketId: string, about: string): Promise<void> {
  for (let look = 0; look < maxLooks; look++) {
    const { state, answer, reply } = await agent.read(`/v1/tickets/${ticketId}/outcome?wait=${lookSeconds}`);
    if (state === 'open') continue;
    const outcome = typeof reply === 'object' && reply !== null ? outcomeOf(reply as Reply) : String(answer);
    const told = { call_id: null, ticket_id: ticketId, concerns_you: true };
    return agent.tell({ says: `hears about ${about}`, outcome, ...told });
  }
}
