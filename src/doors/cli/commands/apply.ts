/**
 * The command `apply`: puts the policy of the files into force in a running gateway, once or whenever they change. The
 * files are checked here first; the gateway checks them again and applies all or nothing.
 */
import type { Direction, PolicyChange } from '../../../core/policy/diff/policy-change.ts';
import { type ToldProblem, writeProblem } from './check.ts';
import { type Daemon, type FindDaemon, isList, reportNotFound, reportFailure, wishOf } from '../daemon.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { harmless, type Paint, type Terminal } from '../terminal.ts';

export interface CheckedFiles {
  readonly problems: readonly ToldProblem[];
  /** Readable, but proven to be wrong. */
  readonly errors: readonly ToldProblem[];
  readonly warnings: readonly string[];
}

export interface ApplyParts {
  readonly findDaemon: FindDaemon;
  readonly checkFiles: (config: string | undefined) => Promise<CheckedFiles>;
  /** Calls back a moment after the last of several changes. Returns how to stop it, or why it cannot be done. */
  readonly watchFiles: (
    config: string | undefined,
    onChange: () => void,
  ) => Promise<{ readonly stop: () => void } | { readonly problem: string }>;
}

export async function runApply(command: Command, parts: ApplyParts, terminal: Terminal): Promise<ExitCode> {
  const found = await parts.findDaemon(wishOf(command, 'operator', terminal));
  if (found.kind === 'refused') return reportNotFound(found, command, terminal);
  const apply = () => applyOnce(command, found.daemon, parts, terminal);
  return command.flags.has('watch') ? watch(command, apply, parts, terminal) : apply();
}

async function applyOnce(command: Command, daemon: Daemon, parts: ApplyParts, terminal: Terminal): Promise<ExitCode> {
  const { problems, errors, warnings } = await parts.checkFiles(command.config);
  const force = command.flags.has('force');
  if (problems.length > 0) return reportProblems(problems, false, command, terminal);
  if (errors.length > 0 && !force) return reportProblems(errors, true, command, terminal);
  if (!command.json)
    for (const each of warnings) terminal.tell(`${terminal.paintTold('yellow', 'warning')} ${harmless(each)}\n`);
  const body = force ? { force } : {};
  const answer = await daemon.ask({ method: 'POST', path: '/v1/policy/apply', body });
  if (answer.kind !== 'answered') return reportFailure(answer, daemon, terminal);
  const { problems: refused, forcible, applied, changes, forced } = answer.body;
  if (isList(refused))
    return reportProblems(refused as unknown as readonly ToldProblem[], forcible === true, command, terminal);
  if (applied !== true) return reportFailure(answer, daemon, terminal);
  const told = isList(changes) ? (changes as unknown as readonly PolicyChange[]) : null;
  const spite = Array.isArray(forced) ? forced.map(String) : [];
  if (command.json) terminal.print(`${JSON.stringify({ applied: true, changes: told, forced: spite })}\n`);
  else {
    for (const each of spite) terminal.tell(`${terminal.paintTold('red', 'FORCED')} ${harmless(each)}\n`);
    terminal.print(writeApplied(told, daemon, terminal));
  }
  return exitCodes.done.code;
}

function reportProblems(
  problems: readonly ToldProblem[],
  forcible: boolean,
  { json }: Command,
  terminal: Terminal,
): ExitCode {
  if (json) {
    terminal.print(`${JSON.stringify({ applied: false, problems, forcible })}\n`);
    return exitCodes.no.code;
  }
  for (const problem of problems)
    terminal.tell(`${writeProblem({ ...problem, text: problem.text ?? '' }, terminal.paintTold)}\n`);
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
  const anyway = forcible ? '; recourse apply --force applies it nevertheless, on record' : '';
  terminal.tell(`${terminal.paintTold('red', `✗ ${count}: nothing was changed${anyway}`)}\n`);
  return exitCodes.no.code;
}

const signs = { added: ['+', 'green'], removed: ['-', 'red'], changed: ['~', 'yellow'] } as const;
const marks: Readonly<Record<Direction, string>> = {
  weaker: '! weaker: ',
  maybe_weaker: '! may be weaker: ',
  other: '',
  stronger: '',
};

function writeApplied(changes: readonly PolicyChange[] | null, { url }: Daemon, { paint }: Terminal): string {
  if (changes === null) return `${paint('green', `✓ the policy is in force at ${url}`)}\n`;
  if (changes.length === 0) return `${paint('green', `✓ nothing changed: the policy was in force at ${url}`)}\n`;
  return `${changes.map((each) => writeChange(each, paint)).join('')}${paint('green', `✓ the policy is in force at ${url}`)}\n`;
}

function writeChange({ change, agent, details }: PolicyChange, paint: Paint): string {
  const [sign, style] = signs[change];
  const lines = details.map(({ says, direction }) => {
    const said = `${marks[direction]}${harmless(says)}`;
    return `      ${marks[direction] === '' ? said : paint('red', said)}\n`;
  });
  return `  ${paint(style, sign)} ${agent === null ? 'all agents' : harmless(agent)}  ${change}\n${lines.join('')}`;
}

/** One at a time: a change during an apply is applied after it. */
async function watch(
  { config }: Command,
  apply: () => Promise<ExitCode>,
  parts: ApplyParts,
  terminal: Terminal,
): Promise<ExitCode> {
  const ended = Promise.withResolvers<void>();
  const stopListening = terminal.onStop(() => ended.resolve());
  let turn: Promise<unknown> = Promise.resolve();
  const watching = await parts.watchFiles(config, () => void (turn = turn.then(apply)));
  if ('problem' in watching) {
    stopListening();
    terminal.tell(`recourse: ${harmless(watching.problem)}\n`);
    return exitCodes.no.code;
  }
  turn = turn.then(apply);
  terminal.tell('recourse: watching; Ctrl-C ends it\n');
  await ended.promise;
  watching.stop();
  stopListening();
  await turn;
  return exitCodes.done.code;
}
