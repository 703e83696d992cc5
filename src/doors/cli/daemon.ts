/**
 * How commands talk to a running gateway: the types of requests and answers, and the messages for everything that goes
 * wrong. Does not know how a gateway is found or asked, and never shows a key.
 */
import { isObject } from '../../core/values/json.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import type { Command } from './arguments/read-command-line.ts';
import { harmless, type Terminal } from './terminal.ts';

export interface DaemonWish {
  readonly url: string | undefined;
  readonly config: string | undefined;
  readonly file: string | undefined;
  readonly key: string | undefined;
  readonly keyFile: string | undefined;
  /** From the environment. */
  readonly envKey: string | undefined;
  /** `call` uses an agent's key; other commands an operator's, such as the one beside the store. */
  readonly as: 'agent' | 'operator';
}

export interface DaemonRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long the gateway may take on purpose; the timeout is a little longer. */
  readonly waitSeconds?: number;
}

export type DaemonAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly body: Readonly<Record<string, unknown>> }
  /** Nothing listens there; nothing was sent. */
  | { readonly kind: 'nobody' }
  /** The request may have arrived. */
  | { readonly kind: 'lost'; readonly reason: string }
  /** Something other than a gateway answered. */
  | { readonly kind: 'stranger'; readonly status: number };

/** One event of a stream. */
export interface DaemonEvent {
  readonly id: string | null;
  readonly event: string;
  readonly data: unknown;
}

export interface FollowOrder {
  readonly path: string;
  /** The id of the last event that was seen; null to start now. */
  readonly after: string | null;
  /** Called when the stream is open: every later event is delivered. */
  readonly onOpen: () => void;
  readonly onEvent: (event: DaemonEvent) => void;
  readonly signal: AbortSignal;
}

/** `ended`: the gateway closed the stream, or the signal was aborted. */
export type FollowEnd = DaemonAnswer | { readonly kind: 'ended' };

export interface Daemon {
  readonly url: string;
  /** Named with --url: there is no fallback to the files. */
  readonly isNamed: boolean;
  readonly store: string;
  /** A hint for the user, such as that no key was found; null if none. */
  readonly remark: string | null;
  ask(request: DaemonRequest): Promise<DaemonAnswer>;
  /** Follows an event stream until it ends. Does not reconnect. */
  follow(order: FollowOrder): Promise<FollowEnd>;
}

export type FoundDaemon =
  | { readonly kind: 'found'; readonly daemon: Daemon }
  | { readonly kind: 'refused'; readonly because: 'usage' | 'key'; readonly message: string };

export type FindDaemon = (wish: DaemonWish) => Promise<FoundDaemon>;

export function wishOf({ said, config, file }: Command, as: DaemonWish['as'], { env }: Terminal): DaemonWish {
  return {
    url: said.url,
    config,
    file: file || env['RECOURSE_FILE'] || undefined,
    key: said.key,
    keyFile: said['key-file'],
    envKey: env['RECOURSE_KEY'] || undefined,
    as,
  };
}

export function reportNotFound(
  found: FoundDaemon & { kind: 'refused' },
  { name }: Command,
  terminal: Terminal,
): ExitCode {
  const isUsage = found.because === 'usage';
  terminal.tell(`recourse: ${harmless(found.message)}${isUsage ? `. Try: recourse ${name} --help` : ''}\n`);
  return isUsage ? exitCodes.usage.code : exitCodes.no.code;
}

/** Reports why there is no usable answer. */
export function reportFailure(answer: DaemonAnswer, daemon: Daemon, terminal: Terminal): ExitCode {
  const [sentence, code] = failureOf(answer, daemon);
  terminal.tell(`recourse: ${harmless(sentence)}\n`);
  return code;
}

export function failureOf(answer: DaemonAnswer, { url, remark }: Daemon): readonly [sentence: string, code: ExitCode] {
  switch (answer.kind) {
    case 'nobody':
      return [
        `no gateway is listening at ${url}: start it with recourse up, or name another with --url`,
        exitCodes.store.code,
      ];
    case 'lost':
      return [`${url} did not answer: ${answer.reason}`, exitCodes.store.code];
    case 'stranger':
      return [
        `what answers at ${url} is not a recourse gateway (status ${answer.status}): name another with --url`,
        exitCodes.store.code,
      ];
    case 'answered': {
      const said =
        problemIn(answer.body) ?? `it answered with status ${answer.status}, and nothing that can be understood`;
      const hint = answer.status === 401 && remark !== null ? `; ${remark}` : '';
      return [`${said}${hint}`, exitCodes.no.code];
    }
    default:
      return unreachable(answer);
  }
}

/** The message of a problem document or a refusal. */
function problemIn(body: Readonly<Record<string, unknown>>): string | null {
  const { title, detail, message } = body;
  if (typeof message === 'string') return message;
  const words = [title, detail].filter((each) => typeof each === 'string').join(': ');
  return words === '' ? null : `the gateway says: ${words}`;
}

export const isList = (value: unknown): value is readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) && value.every(isObject);
