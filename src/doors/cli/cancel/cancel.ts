/** The commands `calls cancel` and `sessions cancel`. The gateway decides who may. */
import { isObject } from '../../../core/values/json.ts';
import { type Daemon, reportFailure } from '../daemon.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { harmless, type Terminal } from '../terminal.ts';
import type { RunApprovals as RunCancel } from '../commands/approvals.ts';

export const cancelCall: RunCancel = ({ argument, json }, daemon, _parts, terminal) =>
  cancel(`/v1/calls/${encodeURIComponent(argument)}/cancel`, {}, { json, daemon, terminal });

export const cancelSession: RunCancel = ({ argument, said, json }, daemon, _parts, terminal) =>
  cancel(`/v1/sessions/${encodeURIComponent(argument)}/cancel`, said.turn === undefined ? {} : { turn: said.turn }, {
    json,
    daemon,
    terminal,
  });

interface Asking {
  readonly json: boolean;
  readonly daemon: Daemon;
  readonly terminal: Terminal;
}

async function cancel(path: string, body: object, { json, daemon, terminal }: Asking): Promise<ExitCode> {
  const answer = await daemon.ask({ method: 'POST', path, body });
  const done = answer.kind === 'answered' && isObject(answer.body) ? answer.body : null;
  if (done === null || typeof done['cancelled'] !== 'string') return reportFailure(answer, daemon, terminal);
  if (json) terminal.print(`${JSON.stringify(done)}\n`);
  else terminal.print(`${harmless(String(done['id']))}: the ${done['cancelled']} is cancelled.\n`);
  return exitCodes.done.code;
}
