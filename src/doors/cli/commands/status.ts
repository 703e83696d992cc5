/**
 * The command `status`: prints the report of a running gateway or, if none listens, what the store says. Accepts any
 * report: the gateway may be older or newer than the command.
 */
import { isObject } from '../../../core/values/json.ts';
import type { Inspection } from '../../../shell/look/inspect.ts';
import { type Daemon, type FindDaemon, reportNotFound, reportFailure, wishOf } from '../daemon.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { timeOf } from '../print/shapes.ts';
import { writePairs } from '../print/table.ts';
import { harmless, type Terminal } from '../terminal.ts';
import { writeStatus } from '../print/write-status.ts';

export interface StatusParts {
  readonly findDaemon: FindDaemon;
  readonly openStore: (
    file: string,
  ) => Promise<
    | { readonly kind: 'opened'; readonly inspection: Inspection; readonly close: () => void }
    | { readonly kind: 'refused'; readonly message: string }
  >;
}

/** Calls are counted up to this number. */
const maxCounted = 200;
const unfinishedStates = ['PREPARED', 'DISPATCHED', 'RETRY_WAIT'] as const;

export async function runStatus(command: Command, parts: StatusParts, terminal: Terminal): Promise<ExitCode> {
  const found = await parts.findDaemon(wishOf(command, 'operator', terminal));
  if (found.kind === 'refused') return reportNotFound(found, command, terminal);
  const { daemon } = found;
  const answer = await daemon.ask({ method: 'GET', path: '/v1/status' });
  if (answer.kind === 'nobody') return reportNotListening(command, daemon, parts, terminal);
  if (answer.kind === 'answered' && answer.body['code'] === 'DAEMON_NOT_READY')
    return reportNotReady(command, daemon, terminal);
  if (answer.kind !== 'answered' || typeof answer.body['ready'] !== 'boolean') {
    reportFailure(answer, daemon, terminal);
    return exitCodes.no.code;
  }
  const [policy, inDoubt, budgets] = [await policyIn(daemon), await inDoubtAt(daemon), await budgetsAt(daemon)];
  const report = { url: daemon.url, listening: true, ...answer.body, in_doubt: inDoubt, budgets, ...policy };
  terminal.print(command.json ? `${JSON.stringify(report)}\n` : writeStatus(report, terminal.paint));
  return answer.body['ready'] ? exitCodes.done.code : exitCodes.no.code;
}

/** `governed` is null if there is no policy. */
async function policyIn(daemon: Daemon) {
  const answer = await daemon.ask({ method: 'GET', path: '/v1/policy' });
  if (answer.kind !== 'answered' || !('policy' in answer.body)) return {};
  const { policy } = answer.body;
  if (!isObject(policy) || !Array.isArray(policy['agents'])) return { governed: null };
  const agents = policy['agents'].filter(isObject).map(({ agent, rules, default: otherwise }) => {
    const effect = isObject(otherwise) ? otherwise['effect'] : 'deny';
    return { agent, rules: Array.isArray(rules) ? rules.length : 0, default: effect };
  });
  return { governed: { mode: policy['mode'], ref: policy['ref'], agents } };
}

async function inDoubtAt(daemon: Daemon): Promise<number | null> {
  const answer = await daemon.ask({ method: 'GET', path: `/v1/calls?state=IN_DOUBT&limit=${maxCounted}` });
  return answer.kind === 'answered' && Array.isArray(answer.body['calls']) ? answer.body['calls'].length : null;
}

/** Null if the gateway does not tell: it may be older. */
async function budgetsAt(daemon: Daemon) {
  const answer = await daemon.ask({ method: 'GET', path: '/v1/budgets' });
  if (answer.kind !== 'answered' || !Array.isArray(answer.body['budgets'])) return null;
  const states = answer.body['budgets'].filter(isObject).map(({ state }) => state);
  const count = (wanted: string) => states.filter((state) => state === wanted).length;
  return { all: states.length, warned: count('warned'), used_up: count('used_up') };
}

async function reportNotReady({ json }: Command, daemon: Daemon, terminal: Terminal): Promise<ExitCode> {
  const health = await daemon.ask({ method: 'GET', path: '/healthz' });
  const doing =
    health.kind === 'answered' && typeof health.body['status'] === 'string' ? health.body['status'] : 'starting';
  if (json) terminal.print(`${JSON.stringify({ url: daemon.url, listening: true, ready: false, doing })}\n`);
  else terminal.print(`${terminal.paint('yellow', `✗ not ready at ${daemon.url}: it is ${harmless(doing)}`)}\n`);
  return exitCodes.no.code;
}

async function reportNotListening(
  { json }: Command,
  daemon: Daemon,
  parts: StatusParts,
  terminal: Terminal,
): Promise<ExitCode> {
  const { url, store } = daemon;
  const kept = await lookInto(store, parts);
  if (json) {
    terminal.print(`${JSON.stringify({ url, listening: false, ready: false, store: { file: store, ...kept } })}\n`);
    return exitCodes.no.code;
  }
  terminal.print(`${terminal.paint('red', `✗ no gateway is listening at ${url}`)}: start it with recourse up\n`);
  if ('problem' in kept) terminal.tell(`recourse: ${harmless(kept.problem)}\n`);
  else
    terminal.print(
      writePairs(
        [
          ['store', store],
          ['last call', kept.last_call_at ?? 'none yet'],
          ['unfinished', `${amount(kept.unfinished)}${kept.unfinished === 0 ? '' : ': the next start settles them'}`],
          ...(kept.awaiting_approval === 0
            ? []
            : [
                [
                  'waiting',
                  `${amount(kept.awaiting_approval)} for a person: start it, then recourse approvals ls`,
                ] as const,
              ]),
          ['in doubt', `${amount(kept.in_doubt)}${kept.in_doubt === 0 ? '' : ': recourse calls ls --state IN_DOUBT'}`],
        ],
        terminal.paint,
      ),
    );
  return exitCodes.no.code;
}

const amount = (count: number): string => (count >= maxCounted ? `${maxCounted} or more` : String(count));

async function lookInto(store: string, { openStore }: StatusParts) {
  const opened = await openStore(store);
  if (opened.kind === 'refused') return { problem: opened.message };
  try {
    const { inspection } = opened;
    const count = async (state: (typeof unfinishedStates)[number] | 'AWAITING_APPROVAL' | 'IN_DOUBT') =>
      (await inspection.calls({ state, limit: maxCounted })).length;
    const counts = await Promise.all(unfinishedStates.map(count));
    const [last] = await inspection.calls({ limit: 1 });
    return {
      last_call_at: last === undefined ? null : timeOf(last.createdAtMs),
      unfinished: counts.reduce((sum, each) => sum + each, 0),
      awaiting_approval: await count('AWAITING_APPROVAL'),
      in_doubt: await count('IN_DOUBT'),
    };
  } finally {
    opened.close();
  }
}
