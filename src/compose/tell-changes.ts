/**
 * Which changes of servers does an operator hear of while the gateway runs? Those that take long to start, that come late, are lost
 * or come back, one sentence each; the same failure is told once. For a terminal alone: what a child said may be a secret.
 */
import type { UpstreamStatus } from '../adapters/upstream-mcp/server-link.ts';
import { unreachable } from '../core/unreachable.ts';

export interface ServerTeller {
  hear(status: UpstreamStatus): void;
  /** From here on changes are told; how the servers are by then was told otherwise. */
  ready(): void;
  close(): void;
}

interface Known {
  readonly state: UpstreamStatus['state'];
  readonly problem: string | null;
  readonly wasConnected: boolean;
  readonly sinceMs: number;
}

const progressEveryMs = 10_000;
/** The lines that mostly say why a server did not start. */
const maxLastWords = 3;

export const lastWords = ({ stderr }: UpstreamStatus): readonly string[] => stderr.slice(-maxLastWords);

/** What is wrong with a server, with what it said itself; null if nothing is. */
export function reasonOf(status: UpstreamStatus): string | null {
  const words = lastWords(status);
  if (status.problem === null || words.length === 0) return status.problem;
  return `${status.problem}; it said: ${words.join(' | ')}`;
}

export function createServerTeller(say: (sentence: string) => void, everyMs: number = progressEveryMs): ServerTeller {
  const known = new Map<string, Known>();
  let isReady = false;

  /** Whoever waits for a program to be installed sees that something is going on. */
  const timer = setInterval(() => {
    for (const [name, { state, wasConnected, sinceMs }] of known) {
      const seconds = Math.round((performance.now() - sinceMs) / 1_000);
      if (state === 'connecting' && !wasConnected && seconds >= everyMs / 1_000)
        say(`server '${name}' is still starting (${seconds} s)`);
    }
  }, everyMs);
  timer.unref();

  return {
    hear(status) {
      const { name, state, problem } = status;
      const last = known.get(name);
      const wasConnected = last?.wasConnected === true || state === 'connected';
      // Starting again does not make another failure of the same one.
      const failed = state === 'connecting' ? (last?.problem ?? null) : problem;
      known.set(name, { state, problem: failed, wasConnected, sinceMs: performance.now() });
      const sentence = isReady ? sentenceOf(status, last) : null;
      if (sentence !== null) say(`server '${name}' ${sentence}`);
    },
    ready: () => void (isReady = true),
    close: () => clearInterval(timer),
  };
}

/** Null if there is nothing to tell. */
function sentenceOf(status: UpstreamStatus, last: Known | undefined): string | null {
  const { state, problem, tools } = status;
  switch (state) {
    case 'connected': {
      const again = last?.wasConnected === true ? 'again' : 'now';
      return `is connected ${again}: ${tools === 1 ? 'one tool' : `${tools} tools`}`;
    }
    case 'waiting': {
      const why = reasonOf(status) ?? 'it is away';
      if (last?.state === 'connected') return `was lost: ${why}; it is tried again`;
      return problem === last?.problem ? null : `cannot be used: ${why}; it is tried again`;
    }
    case 'connecting':
    case 'closed':
      return null;
    default:
      return unreachable(state);
  }
}
