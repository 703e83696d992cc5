/**
 * How do commands speak to a gateway that runs? Says what went wrong on the way, and what to do, in the same words for all of
 * them. Must not know how it is found or asked, and never shows a key.
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
  /** Agents call; everything else is asked with an operator's key, such as the one beside the store. */
  readonly as: 'agent' | 'operator';
}

export interface DaemonRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long the gateway may take on purpose; some more is given for the way. */
  readonly waitSeconds?: number;
}

export type DaemonAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly body: Readonly<Record<string, unknown>> }
  /** Nothing was sent. */
  | { readonly kind: 'nobody' }
  /** It may have arrived. */
  | { readonly kind: 'lost'; readonly reason: string }
  /** Somebody answered who is no gateway. */
  | { readonly kind: 'stranger'; readonly status: number };

/** One event of a stream. */
export interface DaemonEvent {
  readonly id: string | null;
  readonly event: string;
  readonly data: unknown;
}

export interface FollowOrder {
  readonly path: string;
  /** The id of the last event that was seen; null to begin now. */
  readonly after: string | null;
  /** Whatever happens from here on is told. */
  readonly onOpen: () => void;
  readonly onEvent: (event: DaemonEvent) => void;
  readonly signal: AbortSignal;
}

/** `ended`: the stream is over, since the gateway closes or the signal was given. */
export type FollowEnd = DaemonAnswer | { readonly kind: 'ended' };

export interface Daemon {
  readonly url: string;
  /** By --url: then nobody else is meant. */
  readonly isNamed: boolean;
  readonly store: string;
  /** What the person should know, such as that no key was found; null if nothing. */
  readonly remark: string | null;
  ask(request: DaemonRequest): Promise<DaemonAnswer>;
  /** A stream of events, until it ends. Not begun again here. */
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

export function sayNotFound(found: FoundDaemon & { kind: 'refused' }, { name }: Command, terminal: Terminal): ExitCode {
  const isUsage = found.because === 'usage';
  terminal.tell(`recourse: ${harmless(found.message)}${isUsage ? `. Try: recourse ${name} --help` : ''}\n`);
  return isUsage ? exitCodes.usage.code : exitCodes.no.code;
}

/** Why there is no answer that could be used. */
export function sayTrouble(answer: DaemonAnswer, daemon: Daemon, terminal: Terminal): ExitCode {
  const [sentence, code] = troubleOf(answer, daemon);
  terminal.tell(`recourse: ${harmless(sentence)}\n`);
  return code;
}

export function troubleOf(answer: DaemonAnswer, { url, remark }: Daemon): readonly [sentence: string, code: ExitCode] {
  switch (answer.kind) {
    case 'nobody':
      return [`nobody listens at ${url}: start it with recourse up, or name another with --url`, exitCodes.store.code];
    case 'lost':
      return [`${url} did not answer: ${answer.reason}`, exitCodes.store.code];
    case 'stranger':
      return [
        `what answers at ${url} is no gateway of recourse (status ${answer.status}): name another with --url`,
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

/** What a problem document, or a refusal of a call, says of itself. */
function problemIn(body: Readonly<Record<string, unknown>>): string | null {
  const { title, detail, message } = body;
  if (typeof message === 'string') return message;
  const words = [title, detail].filter((each) => typeof each === 'string').join(': ');
  return words === '' ? null : `the gateway says: ${words}`;
}

export const isList = (value: unknown): value is readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) && value.every(isObject);
