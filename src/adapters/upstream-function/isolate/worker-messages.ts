/** Messages between the gateway and a worker. Everything is passed by structured clone. */
import type { SuppressedByBody, UpstreamResult } from '../../../ports/upstream.ts';
import type { ToolBody } from '../check-definition.ts';
import type { ContextFacts } from '../tool-context.ts';

export type IsolatedBody = Exclude<ToolBody, { kind: 'here' | 'thread' }>;

/** What a worker is started with. */
export interface WorkerFacts {
  /** Shared: the number of the last order that the worker has begun. */
  readonly begun: Int32Array<SharedArrayBuffer>;
  /** Whether anyone wants to know what bodies print. */
  readonly prints: boolean;
}

export interface Order {
  /** From 1 to 2³¹ − 1. */
  readonly order: number;
  readonly body: IsolatedBody;
  readonly args: unknown;
  readonly facts: ContextFacts;
}

export interface Answer {
  readonly order: number;
  readonly outcome: UpstreamResult;
}

/** What a body printed. */
export interface Printed {
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

export function isPrinted(message: unknown): message is Printed {
  if (typeof message !== 'object' || message === null) return false;
  const { stream, text } = message as Partial<Printed>;
  return (stream === 'stdout' || stream === 'stderr') && typeof text === 'string';
}

/** That a body ignored an error on purpose. */
export interface Suppressed {
  readonly order: number;
  readonly suppressed: SuppressedByBody;
}

export function isSuppressedIn(order: number, message: unknown): message is Suppressed {
  if (typeof message !== 'object' || message === null) return false;
  const { order: ran, suppressed } = message as Partial<Suppressed>;
  if (ran !== order || typeof suppressed?.reason !== 'string') return false;
  return suppressed.error === null || typeof suppressed.error === 'string';
}

/** A body can use the port itself and send anything. */
export function isAnswerTo(order: number, message: unknown): message is Answer {
  if (typeof message !== 'object' || message === null) return false;
  const { order: answered, outcome } = message as Partial<Answer>;
  return answered === order && (outcome?.kind === 'returned' || outcome?.kind === 'failed');
}
