/**
 * The commands `approvals ls`, `show`, `approve`, `deny` and `revoke`. A decision is sent with the hash of what was
 * shown. The gateway decides who may decide.
 */
import { approvalStates } from '../../../core/approval/approval.ts';
import type { ApprovalView } from '../../../core/approval/approval-view.ts';
import { maxPage } from '../../../core/http/http-routes.ts';
import { nearest } from '../../../core/values/nearest.ts';
import { type Daemon, type FindDaemon, reportFailure } from '../daemon.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { readApproval, readApprovals } from '../watch/read-approval.ts';
import { type Column, writePairs, writeTable } from '../print/table.ts';
import { harmless, type Style, type Terminal, type Timer } from '../terminal.ts';
import { consequence, pairsOf, stateNow, timeLeft } from '../print/write-approval.ts';

export interface ApprovalsParts {
  readonly findDaemon: FindDaemon;
  readonly timer: Timer;
  readonly nowMs: () => number;
  /** The text of a file, or a sentence that says why it cannot be read. */
  readonly readText: (file: string) => Promise<{ readonly text: string } | { readonly problem: string }>;
}

export type RunApprovals = (
  command: Command,
  daemon: Daemon,
  parts: ApprovalsParts,
  terminal: Terminal,
) => Promise<ExitCode>;

const pathOf = (id: string, act = ''): string => `/v1/approvals/${encodeURIComponent(id)}${act}`;

export const listApprovals: RunApprovals = async (command, daemon, parts, terminal) => {
  const { said, json, limit } = command;
  const state = said.state?.toLowerCase();
  if (state !== undefined && !Object.hasOwn(approvalStates, state)) {
    const near = nearest(state, Object.keys(approvalStates));
    const hint = near === null ? `there are ${Object.keys(approvalStates).join(', ')}` : `did you mean ${near}?`;
    return reportUsage(`no approval is ever in the state '${said.state}'; ${hint}`, command, terminal);
  }
  if (limit > maxPage) return reportUsage(`--limit is a whole number from 1 to ${maxPage}`, command, terminal);
  const { agent, session, before } = said;
  const wish = Object.entries({ state, agent, session, before, limit: String(limit) });
  const query = new URLSearchParams(wish.filter((pair): pair is [string, string] => pair[1] !== undefined));
  const answer = await daemon.ask({ method: 'GET', path: `/v1/approvals?${query}` });
  const found = answer.kind === 'answered' ? readApprovals(answer.body) : null;
  if (found === null) return reportFailure(answer, daemon, terminal);
  if (json) {
    for (const each of found) terminal.print(`${JSON.stringify(each)}\n`);
    return exitCodes.done.code;
  }
  if (found.length > 0) terminal.print(writeTable(columnsAt(parts.nowMs()), found, terminal.paint));
  const last = found.at(-1);
  if (last === undefined) terminal.tell('no approval matches.\n');
  else if (found.length === limit)
    terminal.tell(
      terminal.paintTold('dim', `\n${found.length} shown; older ones: --before ${harmless(last.approval_id)}\n`),
    );
  return exitCodes.done.code;
};

const styles: Readonly<Partial<Record<ApprovalView['state'], Style>>> = {
  pending: 'cyan',
  granted: 'green',
  used: 'green',
  denied: 'red',
};

const columnsAt = (nowMs: number): readonly Column<ApprovalView>[] => [
  { title: 'APPROVAL', text: (each) => each.approval_id, style: () => 'cyan' },
  {
    title: 'STATE',
    text: (each) => stateNow(each, nowMs),
    style: (each) => styles[stateNow(each, nowMs)] ?? 'yellow',
  },
  { title: 'AGENT', text: (each) => each.agent },
  { title: 'TOOL', text: (each) => each.tool, style: () => 'bold' },
  { title: 'APPROVED', text: (each) => `${each.approved_by.length} of ${each.needed}` },
  { title: 'LEFT', text: (each) => (stateNow(each, nowMs) === 'pending' ? timeLeft(each, nowMs) : '-') },
  { title: 'RULE', text: (each) => each.rule_ref },
];

export const showApproval: RunApprovals = async (command, daemon, { nowMs }, terminal) => {
  const found = await look(command.argument, daemon, terminal);
  if (typeof found === 'number') return found;
  if (command.json) terminal.print(`${JSON.stringify(found)}\n`);
  else terminal.print(writeShown(found, nowMs(), terminal, commandsFor(found, nowMs())));
  return exitCodes.done.code;
};

function writeShown(
  approval: ApprovalView,
  nowMs: number,
  { paint }: Terminal,
  more: readonly (readonly [string, string])[] = [],
): string {
  const head = `${paint('cyan', harmless(approval.approval_id))}  ${paint('bold', harmless(approval.tool))}`;
  return `${head}\n${writePairs([...pairsOf(approval, nowMs), ...more], paint)}`;
}

function commandsFor(approval: ApprovalView, nowMs: number): readonly (readonly [string, string])[] {
  const { approval_id: id, shown } = approval;
  const state = stateNow(approval, nowMs);
  if (state === 'granted' || state === 'denied') return [['take back', `recourse approvals revoke ${id}`]];
  if (state !== 'pending') return [];
  return [
    ['approve', `recourse approvals approve ${id} --shown ${shown}`],
    ['deny', `recourse approvals deny ${id} --shown ${shown} --reason <text>`],
  ];
}

export const approveCall: RunApprovals = async (command, daemon, { nowMs, readText }, terminal) => {
  const { argument, said, json } = command;
  const args = await argsIn(said.args, readText);
  if ('problem' in args) return reportUsage(args.problem, command, terminal);
  const found = await look(argument, daemon, terminal);
  if (typeof found === 'number') return found;
  // INVARIANT: without --shown, what is approved is what is printed here.
  if (!json) terminal.print(writeShown(found, nowMs(), terminal));
  const body = {
    shown: said.shown ?? found.shown,
    ...(args.value === undefined ? {} : { args: args.value }),
    ...(said.reason === undefined ? {} : { reason: said.reason }),
  };
  return decide(command, daemon, '/approve', body, terminal);
};

export const denyCall: RunApprovals = async (command, daemon, _parts, terminal) => {
  const { reason, shown } = command.said;
  return decide(command, daemon, '/deny', { reason, ...(shown === undefined ? {} : { shown }) }, terminal);
};

export const revokeDecision: RunApprovals = async (command, daemon, _parts, terminal) => {
  const { reason } = command.said;
  return decide(command, daemon, '/revoke', reason === undefined ? {} : { reason }, terminal);
};

const signs: Readonly<Partial<Record<ApprovalView['state'], readonly [sign: string, style: Style]>>> = {
  pending: ['… approved', 'cyan'],
  granted: ['✓ approved', 'green'],
  used: ['✓ approved', 'green'],
  denied: ['✗ denied', 'yellow'],
  revoked: ['✗ taken back', 'yellow'],
};

async function decide(
  { argument, json }: Command,
  daemon: Daemon,
  act: '/approve' | '/deny' | '/revoke',
  body: object,
  terminal: Terminal,
): Promise<ExitCode> {
  const answer = await daemon.ask({ method: 'POST', path: pathOf(argument, act), body });
  const decided = answer.kind === 'answered' && answer.status === 200 ? readApproval(answer.body) : null;
  if (decided === null) return reportFailure(answer, daemon, terminal);
  if (json) terminal.print(`${JSON.stringify(decided)}\n`);
  else {
    const [sign, style] = signs[decided.state] ?? [decided.state, 'yellow'];
    terminal.print(`${terminal.paint(style, `${sign}: ${harmless(consequence(decided))}`)}\n`);
  }
  return exitCodes.done.code;
}

/** The approval, or the exit code after reporting why there is none. */
async function look(id: string, daemon: Daemon, terminal: Terminal): Promise<ApprovalView | ExitCode> {
  const answer = await daemon.ask({ method: 'GET', path: pathOf(id) });
  const found = answer.kind === 'answered' && answer.status === 200 ? readApproval(answer.body) : null;
  return found ?? reportFailure(answer, daemon, terminal);
}

export async function argsIn(
  said: string | undefined,
  readText: Parameters<RunApprovals>[2]['readText'],
): Promise<{ readonly value: unknown } | { readonly problem: string }> {
  if (said === undefined) return { value: undefined };
  const read = said.startsWith('@') ? await readText(said.slice(1)) : { text: said };
  if ('problem' in read) return read;
  try {
    return { value: JSON.parse(read.text) as unknown };
  } catch {
    const what = said.startsWith('@') ? `'${said.slice(1)}'` : '--args';
    return { problem: `${what} must be JSON, such as {"amount":50}, or @ and the name of a file with it` };
  }
}

export function reportUsage(problem: string, { name }: Command, terminal: Terminal): ExitCode {
  terminal.tell(`recourse: ${harmless(problem)}${problem.endsWith('?') ? '' : '.'} Try: recourse ${name} --help\n`);
  return exitCodes.usage.code;
}
