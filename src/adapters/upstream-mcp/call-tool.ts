/**
 * Sends one attempt of a call to its server and returns how it ended. Waits a moment for a server that is
 * reconnecting, and opens a session again that the server no longer knows. Never rejects, and never sends an attempt
 * twice that may have been carried out.
 */
import { isObject, type JsonObject } from '../../core/values/json.ts';
import { type Attempt, type HearLate, keyOf, type UpstreamResult } from '../../ports/upstream.ts';
import { checkOutput } from './tools/check-output.ts';
import { errorMeaning } from './mcp-config.ts';
import type { McpLimits } from './mcp-limits.ts';
import type { OpenWire } from './open-wire.ts';
import { paramHeaders } from './http/param-headers.ts';
import { revealAll } from './reveal-credentials.ts';
import type { ServerLink } from './server-link.ts';
import { deniedOnTheWay, describeAnswer, failed, interpretAnswer } from './interpret-answer.ts';
import type { WireAnswer } from './wire-answer.ts';

const unsupportedVersion = -32_022;
const methodNotFound = -32_601;
const invalidParams = -32_602;
const codesOfChange: readonly number[] = [unsupportedVersion, methodNotFound, invalidParams];

/** Who waits for the attempt, and receives an answer that comes later. */
interface Asker {
  readonly signal: AbortSignal;
  readonly late: HearLate | undefined;
}

/** `tool` is the server's own name of the tool. */
export async function callTool(
  link: ServerLink,
  tool: string,
  attempt: Attempt,
  { signal, late }: Asker,
  limits: McpLimits,
): Promise<UpstreamResult> {
  const { name } = link.config;
  const { args } = attempt;
  const entry = link.entry(attempt.tool);
  if (args !== null && !isObject(args)) {
    const more = { subject: 'request', errorType: 'InputInvalid', effect: 'none' } as const;
    return failed('schema_validation', 'the arguments of a tool of an MCP server are an object', more);
  }
  const { connect } = link.config;
  const denied = connect.kind === 'stdio' ? connect.confinement?.denied : undefined;
  const before = denied?.().count ?? 0;
  const interpret = (answer: WireAnswer) => {
    const result = checkOutput(interpretAnswer(answer, name, limits, errorMeaning(link.config, tool)), entry, limits);
    const now = denied?.() ?? { count: 0, host: '' };
    return now.count > before ? deniedOnTheWay(result, now.host) : result;
  };
  // The late answer of a read is of no use.
  const isWrite = entry?.effectClass !== 'pure';
  const receiveLate = (answer: WireAnswer) => late?.(interpret(answer));
  // INVARIANT: nothing is sent after this moment; by then another process may have taken the attempt over.
  // It is early enough that the caller still waits when there is no connection.
  const sendBy = performance.now() + Math.min(limits.maxSendDelayMs, attempt.timeoutMs / 2);
  const ask = (wire: OpenWire): Promise<WireAnswer> => {
    if (performance.now() > sendBy) return Promise.resolve(notInTime);
    const secrets = revealAll(attempt.credentials ?? []);
    if (secrets === null) return Promise.resolve(withoutSecret);
    const own = wire.protocolVersion >= '2026' ? paramHeaders(entry?.inputSchema ?? null, args) : {};
    const headers = { ...own, ...secrets.headers };
    const _meta = { ...secrets.meta, ...metaOf(attempt) };
    const params: JsonObject = { name: tool, ...(args === null ? {} : { arguments: args }), _meta };
    const timeoutMs = attempt.timeoutMs + limits.answerGraceMs;
    return wire.ask({
      method: 'tools/call',
      params,
      timeoutMs,
      signal,
      headers,
      ...(late && isWrite ? { late: receiveLate } : {}),
    });
  };

  const wire = await link.connection(sendBy - performance.now(), signal);
  if (wire === null) return interpretAnswer(signal.aborted ? abortedUnsent : away(link), name, limits);
  let answer = await ask(wire);
  if (await lostSession(wire, answer, limits)) {
    const anew = await link.renew(wire, sendBy - performance.now(), signal);
    answer = anew === null ? (signal.aborted ? abortedUnsent : forgotten) : await ask(anew);
  }
  // A server that refuses the request is not reported as healthy.
  if (!isBadRequest(answer)) link.note(problemIn(answer));
  if (mayHaveChanged(answer)) link.relist();
  return interpret(answer);
}

const notInTime: WireAnswer = {
  kind: 'unsent',
  reason: 'it was not connected in time',
  cause: 'the time to send was over',
};
const withoutSecret: WireAnswer = {
  kind: 'unsent',
  reason: 'its credential is not available',
  cause: 'there was no secret when it was to be sent',
};
const forgotten: WireAnswer = {
  kind: 'unsent',
  reason: 'it forgot its session and no other could be opened',
  cause: 'the session was refused',
};
const abortedUnsent: WireAnswer = { kind: 'aborted', sent: false };

function away(link: ServerLink): WireAnswer {
  const { state, problem } = link.status();
  const retryAfterSeconds = link.retryAfterSeconds();
  return { kind: 'unsent', reason: `it is not connected (${state})`, cause: problem ?? state, retryAfterSeconds };
}

/** Wires whose session a ping found unknown; later calls need no ping of their own. */
const wiresWithoutSession = new WeakSet<OpenWire>();

/**
 * Whether the server refused the session or the version, so that nothing was done. A status of 404 or 400 may be about
 * the session or about the call: a ping in the same session tells. An unsupported version has a code of its own with
 * 400.
 */
async function lostSession(wire: OpenWire, answer: WireAnswer, limits: McpLimits): Promise<boolean> {
  if (answer.kind !== 'refused') return false;
  if (answer.status === 400 && answer.said?.code === unsupportedVersion) return true;
  if (!wire.hasSession() || !isBadRequest(answer)) return false;
  if (wiresWithoutSession.has(wire)) return true;
  const ping = await wire.ask({ method: 'ping', params: {}, timeoutMs: limits.courtesyTimeoutMs });
  if (isBadRequest(ping)) wiresWithoutSession.add(wire);
  return wiresWithoutSession.has(wire);
}

function isBadRequest(answer: WireAnswer): boolean {
  return answer.kind === 'refused' && (answer.status === 400 || answer.status === 404);
}

/** The tool may be gone, or another server may stand at the address: the tools are listed again. */
function mayHaveChanged(answer: WireAnswer): boolean {
  return isBadRequest(answer) || (answer.kind === 'error' && codesOfChange.includes(answer.code));
}

/** The problem of the server that an answer shows; null if it is only about the call. */
function problemIn(answer: WireAnswer): string | null {
  const isTrouble =
    answer.kind === 'unsent' ||
    answer.kind === 'lost' ||
    (answer.kind === 'refused' && (answer.status >= 500 || answer.redirectsTo !== null));
  return isTrouble ? describeAnswer(answer) : null;
}

/** The key is the same for every attempt that sends the same, for servers that deduplicate. */
function metaOf(attempt: Attempt): JsonObject {
  return {
    'recourse/call_id': attempt.callId,
    'recourse/idempotency_key': keyOf(attempt),
    'recourse/attempt': attempt.attempt,
  };
}
