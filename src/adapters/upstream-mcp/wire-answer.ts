/**
 * How a request to a server can end. Each end says what is certain about the request having been sent. Reads the
 * errors of transports and of the network by their codes; messages are only for the audit.
 */
import type { RpcError } from './rpc-message.ts';
import { denialIn } from '../shared/egress-connector.ts';
import { HttpRefusal, MessageTooLarge, NotSent } from './transport-faults.ts';

export type WireAnswer =
  /** `result` is what the server sent, untouched. */
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data: unknown }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly retryAfterSeconds: number | null;
      readonly cause: string;
      /** The JSON-RPC error that came with the status. */
      readonly said: RpcError | null;
      /** Where a redirect points, as it may be shown. */
      readonly redirectsTo: string | null;
    }
  /** Nothing of it left this process, or no connection was made that could carry it. */
  | {
      readonly kind: 'unsent';
      readonly reason: string;
      readonly cause: string;
      readonly retryAfterSeconds?: number;
      /** Our own list did not let the connection out. */
      readonly isDenied?: true;
    }
  /** It may have arrived; no answer will come. */
  | { readonly kind: 'lost'; readonly reason: string; readonly cause: string }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'aborted'; readonly sent: boolean };

/** A certificate that we refuse, and a connection that was not made: both happen before the first byte is sent. */
const beforeSending =
  /^(?:UND_ERR_CONNECT_TIMEOUT|ERR_TLS_CERT_ALTNAME_INVALID|CERT_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/;
const ranOutOfTime = /^(?:UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT)$/;

/** Reads what a transport threw while it sent a request or waited for its answer. */
export function answerOfFault(error: unknown, maxCauseChars: number): WireAnswer {
  const cause = messageIn(error, maxCauseChars);
  const denied = denialIn(error);
  if (denied !== null) return { kind: 'unsent', reason: denied.message, cause, isDenied: true };
  if (error instanceof NotSent) return { kind: 'unsent', reason: error.message, cause };
  if (error instanceof HttpRefusal) {
    const { status, retryAfterSeconds, said, redirectsTo } = error;
    return { kind: 'refused', status, retryAfterSeconds, cause, said, redirectsTo };
  }
  if (error instanceof MessageTooLarge) return { kind: 'lost', reason: error.message, cause };
  const faults = faultsIn(error);
  const code = faults[0]?.code;
  // INVARIANT: never sent is only what provably was not; a fault of an open connection proves nothing.
  if (code !== undefined && faults.every(isBeforeSending)) {
    return { kind: 'unsent', reason: `the server cannot be reached (${code})`, cause };
  }
  if (faults.some((fault) => ranOutOfTime.test(fault.code))) return { kind: 'timed_out' };
  const how = code === undefined ? 'with something that is no answer' : `by breaking the connection (${code})`;
  return { kind: 'lost', reason: `the server answered ${how}`, cause };
}

function isBeforeSending({ code, syscall }: SystemFault): boolean {
  return syscall === 'connect' || syscall === 'getaddrinfo' || beforeSending.test(code);
}

const maxChain = 8;

export interface SystemFault {
  readonly code: string;
  /** What was being done; null if unknown. */
  readonly syscall: string | null;
}

/** Codes of the system and the network; those of the SDK do not count. */
const systemCode = /^(?:E[A-Z0-9]+|EAI_\w+|ERR_(?:TLS|SSL)_\w+|UND_ERR_\w+|CERT_\w+|DEPTH_\w+|SELF_\w+|UNABLE_\w+)$/;

/** The system's faults in an error and its causes; several if several addresses of a host were tried. */
export function faultsIn(error: unknown): readonly SystemFault[] {
  return chain(error).flatMap((link) => {
    const gathered = link['errors'];
    const all: readonly unknown[] =
      Array.isArray(gathered) && gathered.length > 0 ? gathered.slice(0, maxChain) : [link];
    return all.map(faultIn).filter((fault) => fault !== null);
  });
}

export function messageIn(error: unknown, maxChars: number): string {
  const lines = chain(error).map((link) => `${String(link['name'])}: ${String(link['message'])}`);
  return (lines.length === 0 ? String(error) : lines.join('\ncaused by: ')).slice(0, maxChars).toWellFormed();
}

function faultIn(value: unknown): SystemFault | null {
  if (typeof value !== 'object' || value === null) return null;
  const { code, syscall } = value as { code?: unknown; syscall?: unknown };
  if (typeof code !== 'string' || !systemCode.test(code)) return null;
  return { code, syscall: typeof syscall === 'string' ? syscall : null };
}

function chain(error: unknown): readonly Readonly<Record<string, unknown>>[] {
  const links: Record<string, unknown>[] = [];
  let next = error;
  while (typeof next === 'object' && next !== null && links.length < maxChain) {
    const link = next as Record<string, unknown>;
    links.push(link);
    next = link['cause'];
  }
  return links;
}
