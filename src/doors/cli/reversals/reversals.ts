/** The commands `reverse` and `sessions rollback`. The gateway decides who may, and what is sent. */
import type { ReversalView, RollbackView } from '../../../core/reversal/reversal-view.ts';
import { type Daemon, type DaemonAnswer, reportFailure } from '../daemon.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { type Column, writeTable } from '../print/table.ts';
import { harmless, type Terminal } from '../terminal.ts';
import type { RunApprovals as Run } from '../commands/approvals.ts';

/** The gateway answers before the command gives up waiting. */
const waitSeconds = 20;

const bodyOf = (reason: string | undefined) => ({
  wait_seconds: waitSeconds,
  ...(reason === undefined ? {} : { reason }),
});

export const reverseCall: Run = async ({ argument, said, flags, json }, daemon, _parts, terminal) => {
  if (!flags.has('yes')) return showReversal(argument, json, daemon, terminal);
  const body = { call: argument, ...bodyOf(said.reason) };
  const answer = await daemon.ask({ method: 'POST', path: '/v1/reversals', body });
  const reply = answer.kind === 'answered' ? answer.body : null;
  if (reply === null || !('action' in reply || 'pending' in reply))
    return reportLost(answer, argument, daemon, terminal);
  if (json) terminal.print(`${JSON.stringify(reply)}\n`);
  else terminal.print(`${sentenceOf(argument, reply)}\n`);
  return exitCodes.done.code;
};

function sentenceOf(call: string, reply: Readonly<Record<string, unknown>>): string {
  const by = harmless(String(reply['call_id']));
  if ('pending' in reply)
    return `${harmless(call)} is being undone; look again with: recourse reverse ${harmless(call)}`;
  return `${harmless(call)} is undone by ${by}.`;
}

async function showReversal(id: string, json: boolean, daemon: Daemon, terminal: Terminal): Promise<ExitCode> {
  const answer = await daemon.ask({ method: 'GET', path: `/v1/calls/${encodeURIComponent(id)}/reversal` });
  if (answer.kind !== 'answered' || answer.status !== 200) return reportFailure(answer, daemon, terminal);
  const view = answer.body as unknown as ReversalView;
  if (json) terminal.print(`${JSON.stringify(view)}\n`);
  else terminal.print(`${linesOf(view).map(harmless).join('\n')}\n`);
  if (view.state === 'armed' && view.args !== null)
    terminal.tell(`Nothing was sent. To undo it: recourse reverse ${harmless(view.call_id)} --yes\n`);
  return exitCodes.done.code;
}

function linesOf(view: ReversalView): readonly string[] {
  const would = view.args === null ? `cannot be undone: ${view.problem ?? ''}` : JSON.stringify(view.args);
  return [
    `${view.call_id}  ${view.tool}`,
    `state       ${view.state}${view.reversed_by === null ? '' : `, by ${view.reversed_by}`}`,
    `undone by   ${view.reverser} ${would}`,
    `until       ${view.expires_at ?? 'not yet: the call has not succeeded'}`,
  ];
}

function reportLost(answer: DaemonAnswer, id: string, daemon: Daemon, terminal: Terminal): ExitCode {
  const code = reportFailure(answer, daemon, terminal);
  if (answer.kind === 'lost')
    terminal.tell(`recourse: it may be undone all the same. Try: recourse reverse ${harmless(id)}\n`);
  return code;
}

export const rollBackSession: Run = async ({ argument, said, flags, json }, daemon, _parts, terminal) => {
  const path = `/v1/sessions/${encodeURIComponent(argument)}/rollback`;
  const answer = flags.has('yes')
    ? await daemon.ask({ method: 'POST', path, body: bodyOf(said.reason) })
    : await daemon.ask({ method: 'GET', path });
  if (answer.kind !== 'answered' || answer.status >= 300) return reportFailure(answer, daemon, terminal);
  const view = answer.body as unknown as RollbackView;
  if (json) terminal.print(`${JSON.stringify(view)}\n`);
  else writeRollback(view, terminal);
  return view.left === 0 ? exitCodes.done.code : exitCodes.no.code;
};

type Step = RollbackView['steps'][number];

const columns: readonly Column<Step>[] = [
  { title: 'CALL', text: ({ call_id: id }) => id },
  { title: 'TOOL', text: ({ tool }) => tool },
  { title: 'OUTCOME', text: ({ outcome }) => outcome },
  { title: 'WHY', text: ({ why, reversed_by: by }) => why ?? by ?? '' },
];

function writeRollback(view: RollbackView, terminal: Terminal): void {
  if (view.steps.length > 0) terminal.print(writeTable(columns, view.steps, terminal.paint));
  const end = view.state === 'running' ? 'is being rolled back' : 'is rolled back';
  const left = view.left === 0 ? 'nothing is left' : `${view.left} could not be undone`;
  terminal.tell(`${harmless(view.session)} ${end}; ${left}.\n`);
}
