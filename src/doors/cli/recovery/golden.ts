/** The commands `golden run` and `golden record`: run goldens on the playbook in force, and make one from a failure. */
import { differencesOf, type Golden } from '../../../core/recovery/golden.ts';
import type { ToolRecovery } from '../../../core/recovery/playbook.ts';
import { recordGolden, writeGolden } from '../../../core/recovery/record-golden.ts';
import { runGolden } from '../../../core/recovery/run-golden.ts';
import type { Json } from '../../../core/values/json.ts';
import type { Inspection } from '../../../shell/look/inspect.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { type ToldProblem, writeProblem } from '../commands/check.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { parsed, timeOf } from '../print/shapes.ts';
import { harmless, type Paint, type Terminal } from '../terminal.ts';
import { findRecorded } from './replay.ts';

export interface LoadedGoldens {
  readonly problems: readonly ToldProblem[];
  readonly goldens: readonly Golden[];
  /** What the configuration says about the failures of a tool. */
  readonly recoveryOf: (tool: string) => ToolRecovery;
}

/** Without files: those in the folder `goldens` beside the configuration. */
export type LoadGoldens = (files: readonly string[], config: string | undefined) => Promise<LoadedGoldens>;

export async function runGoldens(command: Command, load: LoadGoldens, terminal: Terminal): Promise<ExitCode> {
  const { problems, goldens, recoveryOf } = await load(command.words, command.config);
  const results = goldens.map((golden) => ({
    golden,
    wrong: differencesOf(golden, runGolden(golden, recoveryOf(golden.call.tool))),
  }));
  const failed = results.filter(({ wrong }) => wrong.length > 0);
  const isGood = problems.length === 0 && failed.length === 0;
  if (command.json) {
    const lines = [
      ...problems.map((problem) => ({ kind: 'problem', ...problem })),
      ...results.map(({ golden: { name, ref }, wrong }) => ({
        kind: 'golden',
        name,
        ref,
        passed: wrong.length === 0,
        wrong,
      })),
      { kind: 'summary', goldens: goldens.length, failed: failed.length, problems: problems.length },
    ];
    for (const line of lines) terminal.print(`${JSON.stringify(line)}\n`);
  } else {
    for (const problem of problems) terminal.print(`${writeProblem(problem, terminal.paint)}\n`);
    for (const each of failed) terminal.print(writeFailure(each, terminal.paint));
    if (problems.length === 0) terminal.print(`${writeSummary(goldens.length, failed.length, terminal.paint)}\n`);
  }
  return isGood ? exitCodes.done.code : exitCodes.no.code;
}

function writeFailure(
  { golden, wrong }: { readonly golden: Golden; readonly wrong: readonly string[] },
  paint: Paint,
): string {
  const lines = wrong.map((each) => `  ${paint('red', '✗')} ${harmless(each)}\n`).join('');
  return `${paint('bold', harmless(golden.ref))} ${paint('red', 'failed')} ${harmless(golden.name)}\n${lines}\n`;
}

function writeSummary(all: number, failed: number, paint: Paint): string {
  const total = `${all} ${all === 1 ? 'golden' : 'goldens'}`;
  return failed === 0
    ? paint('green', `✓ ${total} came out as expected`)
    : paint('red', `✗ ${failed} of ${total} came out otherwise`);
}

type Write = (file: string, text: string) => Promise<string | null>;

export async function makeGolden(
  command: Command,
  inspection: Inspection,
  write: Write,
  terminal: Terminal,
): Promise<ExitCode> {
  const found = await findRecorded(command, inspection, terminal);
  if (typeof found === 'number') return found;
  const { story, playbooks } = found;
  const args = story.args.kind === 'text' ? (parsed(story.args.text) as Json) : {};
  const made = recordGolden(story.call, args, story.records, playbooks);
  if (!made.ok) {
    terminal.tell(`recourse: no golden can be made of '${harmless(story.call.id)}': ${harmless(made.problem)}\n`);
    return exitCodes.no.code;
  }
  const text = writeGolden(made.golden, timeOf(made.golden.clockMs));
  const file = command.said.output;
  if (file === undefined) terminal.print(text);
  const problem = file === undefined ? null : await write(file, text);
  if (problem === null) return exitCodes.done.code;
  terminal.tell(`recourse: ${harmless(problem)}\n`);
  return exitCodes.no.code;
}
