/** The commands of the improvement loop: add, list and show feedback, propose, release, roll back, verify. */
import type { ImprovementsView } from '../../../core/improvement/improvement-view.ts';
import { isObject } from '../../../core/values/json.ts';
import type { ShownImprovement, WrittenChange } from '../../../shell/improvement/show-improvements.ts';
import type { Inspection } from '../../../shell/look/inspect.ts';
import type { Command } from '../arguments/read-command-line.ts';
import type { ApprovalsParts, RunApprovals as RunFeedback } from '../commands/approvals.ts';
import { type Daemon, type DaemonAnswer, reportFailure } from '../daemon.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { harmless, type Terminal } from '../terminal.ts';
import { writeImprovement, writeImprovements, writeReport } from './write-improvement.ts';

const pathOf = (what: string, id: string, act = ''): string => `/v1/${what}/${encodeURIComponent(id)}${act}`;

export const addFeedback: RunFeedback = async (command, daemon, _parts, terminal) => {
  const body = { call_id: command.argument, note: command.said.note };
  const answer = await daemon.ask({ method: 'POST', path: '/v1/feedback', body });
  return tellOne(answer, { command, daemon, terminal }, ({ feedback }) => {
    const id = feedback?.feedback_id ?? '';
    return `${id} is on record. Next: recourse feedback propose ${id} --set … | --playbook … | --changed …\n`;
  });
};

export const listFeedback: RunFeedback = async ({ json }, daemon, _parts, terminal) => {
  const answer = await daemon.ask({ method: 'GET', path: '/v1/feedback' });
  const found = answer.kind === 'answered' && answer.status === 200 ? answer.body : null;
  if (found === null || !Array.isArray(found['feedback'])) return reportFailure(answer, daemon, terminal);
  const view = found as unknown as ImprovementsView;
  if (json) terminal.print(`${JSON.stringify(view)}\n`);
  else terminal.print(writeImprovements(view, terminal.paint));
  return exitCodes.done.code;
};

export const showFeedback: RunFeedback = async (command, daemon, _parts, terminal) => {
  const answer = await daemon.ask({ method: 'GET', path: pathOf('feedback', command.argument) });
  return tellOne(answer, { command, daemon, terminal }, (shown) => writeImprovement(shown, terminal.paint));
};

export const proposeChange: RunFeedback = async (command, daemon, parts, terminal) => {
  const change = await changeIn(command, parts);
  if (typeof change === 'string') {
    terminal.tell(`recourse: ${harmless(change)}. Try: recourse feedback propose --help\n`);
    return exitCodes.usage.code;
  }
  const body = { feedback: command.words, ...change };
  const answer = await daemon.ask({ method: 'POST', path: '/v1/proposals', body, waitSeconds: longestReplaySeconds });
  return tellOne(answer, { command, daemon, terminal }, ({ proposal, report }) => {
    const id = proposal?.proposal_id ?? '';
    return `${writeReport(report, terminal.paint)}${id} is on record. Next: recourse feedback release ${id}\n`;
  });
};

/** Hundreds of calls are replayed. */
const longestReplaySeconds = 120;

/** What is proposed; or a sentence that says what is wrong. */
async function changeIn(
  { said }: Command,
  { readText }: Pick<ApprovalsParts, 'readText'>,
): Promise<WrittenChange | string> {
  const { set, playbook, changed } = said;
  const given = [set, playbook, changed].filter((each) => each !== undefined);
  if (given.length !== 1) return 'propose one of --set, --playbook and --changed';
  if (set !== undefined) {
    const [, verdict, entry] = /^([^=]+)=(.+)$/s.exec(set) ?? [];
    return verdict === undefined || entry === undefined
      ? '--set is <verdict>=<entry>, such as rate_limited=escalate_to_human'
      : { playbook: `${verdict.trim()}: ${entry.trim()}` };
  }
  const read = await readText(playbook ?? changed ?? '');
  if ('problem' in read) return read.problem;
  return playbook === undefined ? { config: read.text } : { playbook: read.text };
}

export const releaseChange: RunFeedback = async (command, daemon, _parts, terminal) => {
  const { flags, said } = command;
  const body = {
    ...(flags.has('force') ? { force: true } : {}),
    ...(said.note === undefined ? {} : { note: said.note }),
  };
  const answer = await daemon.ask({ method: 'POST', path: pathOf('proposals', command.argument, '/release'), body });
  return tellOne(answer, { command, daemon, terminal }, ({ release }) => {
    const forced = release?.forced === true ? ' (forced: goldens come out otherwise)' : '';
    return `${release?.release_id ?? ''} is released${forced}. Write it into recourse.yaml, then: recourse apply\n`;
  });
};

export const rollBackRelease: RunFeedback = async (command, daemon, _parts, terminal) => {
  const body = command.said.note === undefined ? {} : { note: command.said.note };
  const answer = await daemon.ask({ method: 'POST', path: pathOf('releases', command.argument, '/rollback'), body });
  return tellOne(answer, { command, daemon, terminal }, ({ release }) => {
    const id = release?.release_id ?? '';
    return `${id} is rolled back. Write the playbook before it into recourse.yaml, then: recourse apply\n`;
  });
};

interface Telling {
  readonly command: Command;
  readonly daemon: Daemon;
  readonly terminal: Terminal;
}

function tellOne(
  answer: DaemonAnswer,
  { command, daemon, terminal }: Telling,
  write: (shown: ShownImprovement) => string,
): ExitCode {
  const isThere = answer.kind === 'answered' && answer.status === 200 && isObject(answer.body);
  if (!isThere) {
    const code = reportFailure(answer, daemon, terminal);
    if (answer.kind === 'lost')
      terminal.tell('recourse: it may be on record all the same. Try: recourse feedback ls\n');
    return code;
  }
  const shown = answer.body as unknown as ShownImprovement;
  terminal.print(command.json ? `${JSON.stringify(shown)}\n` : write(shown));
  return exitCodes.done.code;
}

export async function verifyFeedback(command: Command, inspection: Inspection, terminal: Terminal): Promise<ExitCode> {
  const { steps, head, problems } = await inspection.improvements();
  if (command.json) terminal.print(`${JSON.stringify({ steps: steps.length, head, problems })}\n`);
  else {
    for (const { record, problem } of problems)
      terminal.print(`  ${terminal.paint('red', `record ${record}`)}  ${harmless(problem)}\n`);
    const verdict =
      problems.length === 0
        ? terminal.paint('green', `✓ ${steps.length} steps follow each other`)
        : terminal.paint('red', `✗ ${problems.length} records do not follow the step before them`);
    terminal.print(`${verdict}\n${head === null ? '' : `  head ${terminal.paint('dim', head)}\n`}`);
  }
  return problems.length === 0 ? exitCodes.done.code : exitCodes.no.code;
}
