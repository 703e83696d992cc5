/**
 * Sends one attempt of a call to its server and returns how it ended. Waits a moment for a server that is
 * reconnecting, and opens a session again that the server no longer knows. Never rejects, and never sends an attempt
 * twice that may have been carried out.
 */
import { isObject, type JsonObject } from '../../core/values/json.ts';
import type { Attempt, HearLate, UpstreamResult } from '../../ports/upstream.ts';
import { checkOutput } from './tools/check-output.ts';
import { errorMeaning } from './mcp-config.ts';
import type { McpLimits } from './mcp-limits.ts';
import type { OpenWire } from './open-wire.ts';
import { paramHeaders } from './http/param-headers.ts';
import type { ServerLink } from './server-link.ts';
import { describeAnswer, failed, interpretAnswer } from './interpret-answer.ts';
import type { WireAnswer } from './wire-answer.ts';

const unsupportedVersion = -32_022;
const methodNotFound = -32_601;
const invalidParams = -32_602;
const estranging: readonly number[] = [unsupportedVersion, methodNotFound, invalidParams];

/** Who waits for the attempt, and hears of it afterwards. */
interface Asker {
  readonly signal: AbortSignal;
  readonly late: HearLate | undefined;
}

/** `tool` is the server's own name for it. */
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
  const weighed = (answer: WireAnswer) =>
    checkOutput(interpretAnswer(answer, name, limits, errorMeaning(link.config, tool)), entry, limits);
  // What a read says late is of no use to anybody.
  const isWrite = entry?.effectClass !== 'pure';
  const hear = (answer: WireAnswer) => late?.(weighed(answer));
  // INVARIANT: nothing is sent after this moment; by then the attempt may belong to somebody else.
  // Who waits for the answer must still be there to hear that there was nobody to send it to.
  const sendBy = performance.now() + Math.min(limits.maxSendDelayMs, attempt.timeoutMs / 2);
  const ask = (wire: OpenWire): Promise<WireAnswer> => {
    if (performance.now() > sendBy) return Promise.resolve(notInTime);
    const headers = wire.protocolVersion >= '2026' ? paramHeaders(entry?.inputSchema ?? null, args) : {};
    const params: JsonObject = { name: tool, ...(args === null ? {} : { arguments: args }), _meta: metaOf(attempt) };
    const timeoutMs = attempt.timeoutMs + limits.answerGraceMs;
    return wire.ask({
      method: 'tools/call',
      params,
      timeoutMs,
      signal,
      headers,
      ...(late && isWrite ? { late: hear } : {}),
    });
  };

  const wire = await link.connection(sendBy - performance.now(), signal);
  if (wire === null) return interpretAnswer(signal.aborted ? abortedUnsent : away(link), name, limits);
  let answer = await ask(wire);
  if (await isForgotten(wire, answer, limits)) {
    const anew = await link.renew(wire, sendBy - performance.now(), signal);
    answer = anew === null ? (signal.aborted ? abortedUnsent : forgotten) : await ask(anew);
  }
  // Of a server that refuses us it is not said that all is well.
  if (!isUnwelcome(answer)) link.note(troubleIn(answer));
  if (isEstranged(answer)) link.relist();
  return weighed(answer);
}

const notInTime: WireAnswer = {
  kind: 'unsent',
  reason: 'it was not connected in time',
  cause: 'the time to send was over',
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

/** Those whose session a ping found forgotten: whoever comes after it would find them closed. */
const forgottenWires = new WeakSet<OpenWire>();

/**
 * The server refused because of whom it took us for, so nothing was done. A status of 404 or 400 may mean the session or
 * the call, so a ping under the same session tells which of them it was. Of the version the revision has 400 say it.
 */
async function isForgotten(wire: OpenWire, answer: WireAnswer, limits: McpLimits): Promise<boolean> {
  if (answer.kind !== 'refused') return false;
  if (answer.status === 400 && answer.said?.code === unsupportedVersion) return true;
  if (!wire.hasSession() || !isUnwelcome(answer)) return false;
  if (forgottenWires.has(wire)) return true;
  const ping = await wire.ask({ method: 'ping', params: {}, timeoutMs: limits.courtesyTimeoutMs });
  if (isUnwelcome(ping)) forgottenWires.add(wire);
  return forgottenWires.has(wire);
}

function isUnwelcome(answer: WireAnswer): boolean {
  return answer.kind === 'refused' && (answer.status === 400 || answer.status === 404);
}

/** Perhaps the tool is gone, or the server speaks another revision than when it was connected; listing its tools tells. */
function isEstranged(answer: WireAnswer): boolean {
  return isUnwelcome(answer) || (answer.kind === 'error' && estranging.includes(answer.code));
}

/** What an answer says about the server, not about the call. */
function troubleIn(answer: WireAnswer): string | null {
  const isTrouble =
    answer.kind === 'unsent' ||
    answer.kind === 'lost' ||
    (answer.kind === 'refused' && (answer.status >= 500 || answer.redirectsTo !== null));
  return isTrouble ? describeAnswer(answer) : null;
}

/** The same key for every attempt of the call: a server that deduplicates can use it. */
function metaOf({ callId, attempt }: Attempt): JsonObject {
  return { 'recourse/call_id': callId, 'recourse/idempotency_key': callId, 'recourse/attempt': attempt };
}
