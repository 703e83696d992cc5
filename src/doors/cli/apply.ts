/**
 * The command `apply`: puts the policy of the files into force in a gateway that runs, once or whenever they change. The files are
 * checked here first; the gateway checks them again, and changes everything or nothing.
 */
import { isObject } from '../../core/json.ts';
import type { WrittenPolicy } from '../../core/policy/policy.ts';
import { type ToldProblem, writeProblem } from './check.ts';
import { type Daemon, type DaemonAnswer, type FindDaemon, isList, sayNotFound, sayTrouble, wishOf } from './daemon.ts';
import { diffPolicies, type PolicyChange } from './diff-policies.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import type { Command } from './read-command-line.ts';
import { harmless, type Terminal } from './terminal.ts';

export interface CheckedFiles {
  readonly problems: readonly ToldProblem[];
  readonly warnings: readonly string[];
}

export interface ApplyParts {
  readonly findDaemon: FindDaemon;
  readonly checkFiles: (config: string | undefined) => Promise<CheckedFiles>;
  /** Calls back some time after the last of several changes; gives how to end it, or why it cannot be done. */
  readonly watchFiles: (
    config: string | undefined,
    onChange: () => void,
  ) => Promise<{ readonly stop: () => void } | { readonly problem: string }>;
}

export async function runApply(command: Command, parts: ApplyParts, terminal: Terminal): Promise<ExitCode> {
  const found = await parts.findDaemon(wishOf(command, 'operator', terminal));
  if (found.kind === 'refused') return sayNotFound(found, command, terminal);
  const apply = () => applyOnce(command, found.daemon, parts, terminal);
  return command.flags.has('watch') ? watch(command, apply, parts, terminal) : apply();
}

async function applyOnce(command: Command, daemon: Daemon, parts: ApplyParts, terminal: Terminal): Promise<ExitCode> {
  const { problems, warnings } = await parts.checkFiles(command.config);
  if (problems.length > 0) return sayProblems(problems, command, terminal);
  if (!command.json)
    for (const each of warnings) terminal.tell(`${terminal.paintTold('yellow', 'warning')} ${harmless(each)}\n`);
  const before = await policyIn(daemon);
  const answer = await daemon.ask({ method: 'POST', path: '/v1/policy/apply', body: {} });
  if (answer.kind !== 'answered') return sayTrouble(answer, daemon, terminal);
  if (isList(answer.body['problems']))
    return sayProblems(answer.body['problems'] as unknown as readonly ToldProblem[], command, terminal);
  if (answer.body['applied'] !== true) return sayTrouble(answer, daemon, terminal);
  const after = await policyIn(daemon);
  const changes = before === undefined || after === undefined ? null : diffPolicies(before, after);
  if (command.json) terminal.print(`${JSON.stringify({ applied: true, changes })}\n`);
  else terminal.print(writeApplied(changes, daemon, terminal));
  return exitCodes.done.code;
}

/** Undefined if it cannot be known: then what changed is not told. */
async function policyIn(daemon: Daemon): Promise<WrittenPolicy | null | undefined> {
  const answer: DaemonAnswer = await daemon.ask({ method: 'GET', path: '/v1/policy' });
  if (answer.kind !== 'answered' || !('policy' in answer.body)) return undefined;
  const { policy } = answer.body;
  if (policy === null) return null;
  return isObject(policy) && isList(policy['agents']) ? (policy as unknown as WrittenPolicy) : undefined;
}

function sayProblems(problems: readonly ToldProblem[], { json }: Command, terminal: Terminal): ExitCode {
  if (json) {
    terminal.print(`${JSON.stringify({ applied: false, problems })}\n`);
    return exitCodes.no.code;
  }
  for (const problem of problems)
    terminal.tell(`${writeProblem({ ...problem, text: problem.text ?? '' }, terminal.paintTold)}\n`);
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
  terminal.tell(`${terminal.paintTold('red', `✗ ${count}: nothing was changed`)}\n`);
  return exitCodes.no.code;
}

const signs = { added: ['+', 'green'], removed: ['-', 'red'], changed: ['~', 'yellow'] } as const;

function writeApplied(changes: readonly PolicyChange[] | null, { url }: Daemon, { paint }: Terminal): string {
  if (changes === null) return `${paint('green', `✓ the policy is in force at ${url}`)}\n`;
  if (changes.length === 0) return `${paint('green', `✓ nothing changed: the policy was in force at ${url}`)}\n`;
  const lines = changes.flatMap(({ change, agent, details }) => {
    const [sign, style] = signs[change];
    const name = agent === null ? 'all agents' : harmless(agent);
    return [`  ${paint(style, sign)} ${name}  ${change}\n`, ...details.map((each) => `      ${harmless(each)}\n`)];
  });
  return `${lines.join('')}${paint('green', `✓ the policy is in force at ${url}`)}\n`;
}

/** One at a time: a change that comes while one is being applied is applied after it. */
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
