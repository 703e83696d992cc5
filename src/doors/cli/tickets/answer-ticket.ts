/** The commands `tickets take`, `comment` and `resolve`. The gateway decides who may, and what is possible. */
import type { TicketStory } from '../../../core/recovery/ticket-view.ts';
import type { Daemon } from '../daemon.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { harmless, type Terminal } from '../terminal.ts';
import { argsIn, reportUsage, type RunApprovals as RunTickets } from '../commands/approvals.ts';
import { pathOf, reportNotClosed, storyIn } from './tickets.ts';

export const takeTicket: RunTickets = ({ argument, flags, json }, daemon, _parts, terminal) => {
  const body = flags.has('give-back') ? { give_back: true } : {};
  const says = ({ ticket_id: id, assignee }: TicketStory) =>
    assignee === null
      ? `${harmless(id)} is nobody's now.`
      : `${harmless(id)} is yours, ${harmless(assignee)}: recourse tickets show ${harmless(id)}`;
  return act(pathOf(argument, '/take'), body, { says, json, id: argument }, daemon, terminal);
};

export const commentTicket: RunTickets = ({ argument, said, json }, daemon, _parts, terminal) => {
  const says = ({ ticket_id: id, comments }: TicketStory) => `${harmless(id)} has ${comments.length} comments.`;
  return act(pathOf(argument, '/comments'), { text: said.text ?? '' }, { says, json, id: argument }, daemon, terminal);
};

export const resolveTicket: RunTickets = async (command, daemon, { readText }, terminal) => {
  const { argument, said, flags, json } = command;
  const [args, result] = [await argsIn(said.args, readText), await argsIn(said.result, readText)];
  if ('problem' in args) return reportUsage(args.problem, command, terminal);
  if ('problem' in result) return reportUsage(result.problem.replace('--args', '--result'), command, terminal);
  if ((said.answer === 'replace') !== (args.value !== undefined))
    return reportUsage('--args belongs to --answer replace, which needs it', command, terminal);
  const body = {
    answer: said.answer,
    ...(args.value === undefined ? {} : { args: args.value }),
    ...(result.value === undefined ? {} : { result: result.value }),
    ...(flags.has('force') ? { force: true } : {}),
    ...(said.note === undefined ? {} : { note: said.note }),
  };
  return act(pathOf(argument, '/resolve'), body, { says: whatFollows, json, id: argument }, daemon, terminal);
};

function whatFollows({ ticket_id: id, answer, tool, call_id: call, state }: TicketStory): string {
  const name = harmless(id);
  if (state === 'open') return `${name} is still open: recourse tickets show ${name}`;
  const goesOn = answer === 'retry' || answer === 'replace' || answer === 'approve';
  if (goesOn) return `${name} is answered: ${harmless(tool)} goes on. See recourse tickets show ${name}`;
  return `${name} is answered with ${answer ?? ''}. See recourse calls show ${harmless(call)}`;
}

interface Telling {
  readonly says: (story: TicketStory) => string;
  readonly json: boolean;
  readonly id: string;
}

async function act(
  path: string,
  body: object,
  { says, json, id }: Telling,
  daemon: Daemon,
  terminal: Terminal,
): Promise<ExitCode> {
  const answer = await daemon.ask({ method: 'POST', path, body });
  const done = storyIn(answer);
  if (done === null) return reportNotClosed(answer, id, daemon, terminal);
  terminal.print(json ? `${JSON.stringify(done)}\n` : `${says(done)}\n`);
  return exitCodes.done.code;
}
