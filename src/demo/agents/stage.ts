/** What the scripted agents act with: each other's names, faults on demand, time, and people who are waited for. */
import type { Agent } from './talk.ts';

export interface Stage {
  readonly support: Agent;
  readonly warehouse: Agent;
  /** The next read of this order is answered with 503. */
  failRead(order: string): void;
  /** The next request of this operation to the payment service goes wrong in this way. */
  failPayment(rule: object): Promise<void>;
  /** Rejects when the demo ends. */
  pause(delayMs: number): Promise<void>;
  /** A unique key of a call. */
  newKey(): string;
  readonly people: People;
}

/** People who are waited for, each by a task that goes on beside the script. */
export interface People {
  /** Asks again once a person has approved. */
  awaitApproval(agent: Agent, approvalId: string, about: string, again: () => Promise<unknown>): void;
  /** Hears of it when a person has settled the call. */
  awaitSettling(agent: Agent, callId: string, about: string): void;
  /** Hears of it when a person has answered the ticket, and its call has ended. */
  awaitTicket(agent: Agent, ticketId: string, about: string): void;
  /** How many are waited for. */
  approvals(): number;
  doubts(): number;
}

export const euros = (cents: number): string => `€${(cents / 100).toFixed(2)}`;
