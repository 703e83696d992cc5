/**
 * The command `call`: one call of an agent through a gateway that runs. Waits while the gateway begins and while the call is under
 * way, as long as it was told to, and never asks twice for anything that may have run.
 */
import { isObject } from '../../../core/values/json.ts';
import { isPending, isRefusal, isSuccess, type Reply } from '../../../core/call/reply.ts';
import { type Daemon, type DaemonAnswer, type FindDaemon, sayNotFound, sayTrouble, wishOf } from '../daemon.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { readArgs } from '../arguments/read-args.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { harmless, type Terminal, type Timer } from '../terminal.ts';
import { writeReply } from '../print/write-reply.ts';

export interface CallParts {
  readonly findDaemon: FindDaemon;
  readonly timer: Timer;
  readonly nowMs: () => number;
  /** For a call that names none: whoever lost the answer can ask again with it. */
  readonly newKey: () => string;
}

const maxWaitSeconds = 3_600;
const defaultWaitSeconds = 30;
/** Below the minute after which many proxies cut a silent connection. */
const holdTheLineSeconds = 30;
const shortestPollSeconds = 0.1;
const longestPollSeconds = 30;

export async function runCall(command: Command, parts: CallParts, terminal: Terminal): Promise<ExitCode> {
  const args = readArgs(command.words.slice(1));
  if (!args.ok) return sayUsage(args.problem, terminal);
  const wait = readWait(command.said.wait);
  if (wait === null) return sayUsage(`--wait is a number of seconds from 0 to ${maxWaitSeconds}`, terminal);
  const found = await parts.findDaemon(wishOf(command, 'agent', terminal));
  if (found.kind === 'refused') return sayNotFound(found, command, terminal);
  const { daemon } = found;
  const order = orderOf(command, args.args, parts);
  const answer = await deliver(order, daemon, parts.nowMs() + wait * 1_000, parts);
  const reply = answer.kind === 'answered' ? replyIn(answer.body) : null;
  if (reply !== null) return sayReply(reply, command, terminal);
  const code = sayTrouble(answer, daemon, terminal);
  if (answer.kind === 'lost') terminal.tell(writeLost(command, order.key));
  return code;
}

/** Null if it is no such number. */
function readWait(said: string | undefined): number | null {
  if (said === undefined) return defaultWaitSeconds;
  const seconds = /^\d+(?:\.\d+)?$/.test(said) ? Number(said) : Infinity;
  return seconds <= maxWaitSeconds ? seconds : null;
}

function orderOf({ argument, said }: Command, args: Readonly<Record<string, unknown>>, { newKey }: CallParts) {
  return {
    tool: argument,
    args,
    key: said['idempotency-key'] ?? newKey(),
    ...(said.session === undefined ? {} : { session: said.session }),
    ...(said.model === undefined ? {} : { model: said.model }),
  };
}

function sayReply(reply: Reply, { json }: Command, terminal: Terminal): ExitCode {
  terminal.print(json ? `${JSON.stringify(reply)}\n` : writeReply(reply, terminal.paint));
  if (isPending(reply) && !json) terminal.tell(`it goes on: recourse calls show ${harmless(reply.call_id)}\n`);
  return isSuccess(reply) ? exitCodes.done.code : exitCodes.no.code;
}

/** Until there is an outcome, or the time is over. */
async function deliver(order: object, daemon: Daemon, untilMs: number, parts: CallParts): Promise<DaemonAnswer> {
  const leftSeconds = () => Math.max(0, (untilMs - parts.nowMs()) / 1_000);
  for (;;) {
    const waitSeconds = Math.min(leftSeconds(), holdTheLineSeconds);
    const body = { ...order, wait_seconds: waitSeconds };
    const answer = await daemon.ask({ method: 'POST', path: '/v1/calls', body, waitSeconds });
    const again = answer.kind === 'answered' ? notReadySeconds(replyIn(answer.body)) : null;
    // INVARIANT: asked again only where the gateway says that nothing ran; and the key is the same.
    if (again === null) return settle(answer, daemon, leftSeconds, parts);
    if (leftSeconds() === 0) return answer;
    await pause(Math.min(Math.max(again, shortestPollSeconds), leftSeconds()), parts.timer);
  }
}

async function settle(
  first: DaemonAnswer,
  daemon: Daemon,
  leftSeconds: () => number,
  { timer }: CallParts,
): Promise<DaemonAnswer> {
  let answer = first;
  for (;;) {
    const reply = answer.kind === 'answered' ? replyIn(answer.body) : null;
    if (reply === null || !isPending(reply) || leftSeconds() === 0) return answer;
    const seconds = Math.min(Math.max(reply.retry_after_seconds, shortestPollSeconds), longestPollSeconds);
    await pause(Math.min(seconds, leftSeconds()), timer);
    const path = `/v1/calls/${encodeURIComponent(reply.call_id)}`;
    const next = await daemon.ask({ method: 'GET', path });
    // What was lost on the way can be looked for again; the call itself is known.
    if (next.kind === 'answered') answer = next;
    else if (next.kind === 'stranger') return next;
  }
}

function notReadySeconds(reply: Reply | null): number | null {
  if (reply === null || !isRefusal(reply) || reply.code !== 'DAEMON_NOT_READY') return null;
  return reply.resolution.type === 'retry_after' ? reply.resolution.retry_after_seconds : 1;
}

/** What RFC 9457 puts beside the members of a reply. */
const problemMembers = ['type', 'title', 'status', 'detail', 'instance'];

/** Null if it is no reply to a call: a key that is not known, a path that is not there. */
function replyIn(body: Readonly<Record<string, unknown>>): Reply | null {
  if (typeof body['call_id'] !== 'string') return null;
  if (body['pending'] === true) return typeof body['retry_after_seconds'] === 'number' ? (body as never) : null;
  if (typeof body['action'] === 'string') return body as never;
  if (typeof body['error'] !== 'string' || !isObject(body['resolution'])) return null;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !problemMembers.includes(name))) as never;
}

const pause = (seconds: number, timer: Timer) =>
  new Promise<void>((resolve) => void timer.schedule(seconds * 1_000, resolve));

function writeLost({ argument }: Command, key: string): string {
  const again = `recourse call ${argument} … --idempotency-key ${key}`;
  return `the call may have run. The same key never runs it twice, so ask again with: ${harmless(again)}\n`;
}

function sayUsage(problem: string, terminal: Terminal): ExitCode {
  terminal.tell(`recourse: ${harmless(problem)}. Try: recourse call --help\n`);
  return exitCodes.usage.code;
}
