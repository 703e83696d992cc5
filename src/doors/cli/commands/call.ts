/**
 * The command `call`: makes one call through a running gateway. Waits while the gateway starts and while the call
 * runs, up to --wait, and never repeats a request that may have run.
 */
import { isObject } from '../../../core/values/json.ts';
import { isPending, isRefusal, isSuccess, type Reply } from '../../../core/call/reply.ts';
import { type Daemon, type DaemonAnswer, type FindDaemon, reportNotFound, reportFailure, wishOf } from '../daemon.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { readArgs } from '../arguments/read-args.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { harmless, type Terminal, type Timer } from '../terminal.ts';
import { writeReply } from '../print/write-reply.ts';

export interface CallParts {
  readonly findDaemon: FindDaemon;
  readonly timer: Timer;
  readonly nowMs: () => number;
  /** A key for a call without one, so that it can be repeated if its answer is lost. */
  readonly newKey: () => string;
}

const maxWaitSeconds = 3_600;
const defaultWaitSeconds = 30;
/** Less than the minute after which many proxies close a silent connection. */
const longestWaitSeconds = 30;
const shortestPollSeconds = 0.1;
const longestPollSeconds = 30;

export async function runCall(command: Command, parts: CallParts, terminal: Terminal): Promise<ExitCode> {
  const args = readArgs(command.words.slice(1));
  if (!args.ok) return reportUsage(args.problem, terminal);
  const wait = readWait(command.said.wait);
  if (wait === null) return reportUsage(`--wait is a number of seconds from 0 to ${maxWaitSeconds}`, terminal);
  const found = await parts.findDaemon(wishOf(command, 'agent', terminal));
  if (found.kind === 'refused') return reportNotFound(found, command, terminal);
  const { daemon } = found;
  const order = orderOf(command, args.args, parts);
  const answer = await deliver(order, daemon, parts.nowMs() + wait * 1_000, parts);
  const reply = answer.kind === 'answered' ? replyIn(answer.body) : null;
  if (reply !== null) return printReply(reply, command, terminal);
  const code = reportFailure(answer, daemon, terminal);
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

function printReply(reply: Reply, { json }: Command, terminal: Terminal): ExitCode {
  terminal.print(json ? `${JSON.stringify(reply)}\n` : writeReply(reply, terminal.paint));
  if (isPending(reply) && !json) terminal.tell(`still running: recourse calls show ${harmless(reply.call_id)}\n`);
  return isSuccess(reply) ? exitCodes.done.code : exitCodes.no.code;
}

/** Sends the call until the gateway is ready, and waits for its outcome, until the time is over. */
async function deliver(order: object, daemon: Daemon, untilMs: number, parts: CallParts): Promise<DaemonAnswer> {
  const leftSeconds = () => Math.max(0, (untilMs - parts.nowMs()) / 1_000);
  for (;;) {
    const waitSeconds = Math.min(leftSeconds(), longestWaitSeconds);
    const body = { ...order, wait_seconds: waitSeconds };
    const answer = await daemon.ask({ method: 'POST', path: '/v1/calls', body, waitSeconds });
    const again = answer.kind === 'answered' ? notReadySeconds(replyIn(answer.body)) : null;
    // INVARIANT: sent again only if the gateway says that nothing ran, and with the same key.
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
    // A lost answer can be asked for again: the call is known.
    if (next.kind === 'answered') answer = next;
    else if (next.kind === 'stranger') return next;
  }
}

function notReadySeconds(reply: Reply | null): number | null {
  if (reply === null || !isRefusal(reply) || reply.code !== 'DAEMON_NOT_READY') return null;
  return reply.resolution.type === 'retry_after' ? reply.resolution.retry_after_seconds : 1;
}

/** The members that RFC 9457 adds to a reply. */
const problemMembers = ['type', 'title', 'status', 'detail', 'instance'];

/** Null if it is not a reply to a call, such as for an unknown key. */
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

function reportUsage(problem: string, terminal: Terminal): ExitCode {
  terminal.tell(`recourse: ${harmless(problem)}. Try: recourse call --help\n`);
  return exitCodes.usage.code;
}
