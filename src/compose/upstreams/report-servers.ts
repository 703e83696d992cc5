/**
 * Describes the state of MCP servers for an operator, and reports changes while the gateway runs: slow starts, late
 * connections, losses and reconnections. The same failure is reported once. What a child printed is for a terminal
 * only, because it may hold a secret.
 */
import { unreachable } from '../../core/values/unreachable.ts';
import type { UpstreamStatus } from '../../adapters/upstream-mcp/server-link.ts';

export interface ServerReporter {
  hear(status: UpstreamStatus): void;
  /** Starts reporting changes; the state up to now was reported with the start. */
  ready(): void;
  /** The servers that are connecting for the first time. */
  starting(): readonly string[];
  close(): void;
}

interface Known {
  readonly state: UpstreamStatus['state'];
  readonly problem: string | null;
  readonly wasConnected: boolean;
  readonly sinceMs: number;
}

const progressEveryMs = 10_000;
/** How many lines of a child are shown, and among how many of its last lines they are searched. */
const maxLastWords = 3;
const maxLinesBack = 40;
/** Matches lines that state an error: `TypeError [CODE]: …`, `panic: …`, `Cannot find module …`, `TOKEN is not set`. */
const tellingLine =
  /(?:^|[\s:])[\w.]*(?:error|exception|fatal|panic)(?: \[\w+\])?:|\b(?:cannot find|could not be found|not found|no such|is not set)\b/i;
/** Stack frames, object members, brackets and the version of Node: shown only if there is nothing else. */
const idleLine = /^\s|^\W*$|^Node\.js v/;

/** The lines of a child that state an error, then its last ones, without duplicates, in their original order. */
export function lastWords({ stderr }: UpstreamStatus): readonly string[] {
  const lines = [...new Set(stderr.slice(-maxLinesBack).toReversed())];
  const telling = lines.filter((line) => tellingLine.test(line));
  const rest = lines.filter((line) => !tellingLine.test(line) && !idleLine.test(line));
  const kept = [...telling, ...rest].slice(0, maxLastWords);
  return (kept.length === 0 ? lines.slice(0, maxLastWords) : lines.filter((line) => kept.includes(line))).toReversed();
}

/** The problem of a server, with its own output; null without a problem. */
export function reasonOf(status: UpstreamStatus): string | null {
  const words = lastWords(status);
  if (status.problem === null || words.length === 0) return status.problem;
  return `${status.problem}; it said: ${words.join(' | ')}`;
}

export function createServerReporter(
  say: (sentence: string) => void,
  everyMs: number = progressEveryMs,
): ServerReporter {
  const known = new Map<string, Known>();
  let isReady = false;

  /** Reports progress while a server is being installed. */
  const timer = setInterval(() => {
    for (const [name, { state, wasConnected, sinceMs }] of known) {
      const seconds = Math.round((performance.now() - sinceMs) / 1_000);
      if (state === 'connecting' && !wasConnected && seconds >= everyMs / 1_000)
        say(`server '${name}' is still starting (${seconds} s)`);
    }
  }, everyMs);
  timer.unref();

  const isStarting = ({ state, problem, wasConnected }: Known): boolean =>
    state === 'connecting' && problem === null && !wasConnected;

  return {
    starting: () => [...known].flatMap(([name, server]) => (isStarting(server) ? [name] : [])),
    hear(status) {
      const { name, state, problem } = status;
      const last = known.get(name);
      const wasConnected = last?.wasConnected === true || state === 'connected';
      // A restart that fails in the same way is not a new failure.
      const failed = state === 'connecting' ? (last?.problem ?? null) : problem;
      known.set(name, { state, problem: failed, wasConnected, sinceMs: performance.now() });
      const sentence = isReady ? sentenceOf(status, last) : null;
      if (sentence !== null) say(`server '${name}' ${sentence}`);
    },
    ready: () => void (isReady = true),
    close: () => clearInterval(timer),
  };
}

/** Null if there is nothing to report. */
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

export interface ServerSummary {
  readonly name: string;
  readonly state: UpstreamStatus['state'];
  readonly tools: number;
  readonly problem: string | null;
}

export function summarizeServer({ name, state, tools, problem, leftOut }: UpstreamStatus): ServerSummary {
  const { length } = leftOut;
  const out =
    length === 0 ? [] : [`${length === 1 ? 'one tool is' : `${length} tools are`} left out: recourse pin says why`];
  const problems = [...(problem === null ? [] : [problem]), ...out];
  return { name, state, tools, problem: problems.length === 0 ? null : problems.join('; ') };
}
