/** The command `check`: what is wrong with the configuration, and what can be proven about its workflows? */
import { analyseWorkflow } from '../../core/workflow/analyse/analyse-workflow.ts';
import type { Analysis, Finding } from '../../core/workflow/analyse/analysis.ts';
import type { WorkflowGraph } from '../../core/workflow/graph.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import type { Command } from './read-command-line.ts';
import { harmless, type Paint, type Terminal } from './terminal.ts';

/** What is wrong at a place of a file. */
export interface ToldProblem {
  readonly code: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The line as it is written; empty if there is none to show. */
  readonly text: string;
  readonly message: string;
  readonly fix: string;
}

/** With problems, the workflows are those that could be read nevertheless. */
export interface LoadedGraphs {
  readonly problems: readonly ToldProblem[];
  readonly warnings: readonly string[];
  readonly workflows: readonly { readonly name: string; readonly graph: WorkflowGraph }[];
  /** What was looked at: a file of configuration, or a module. */
  readonly source: string;
}

/** `argument` is a configuration, a workflow's name or a module; empty for what lies in this folder. */
export type LoadGraphs = (argument: string, config: string | undefined) => Promise<LoadedGraphs>;

export async function runCheck(command: Command, load: LoadGraphs, terminal: Terminal): Promise<ExitCode> {
  const loaded = await load(command.argument, command.config);
  const checked = loaded.workflows.map(({ name, graph }) => ({ name, graph, analysis: analyseWorkflow(graph) }));
  const wrong = checked.some(({ analysis }) => analysis.findings.some(({ severity }) => severity === 'error'));
  const holds = loaded.problems.length === 0 && !wrong;
  if (command.json) {
    for (const line of linesOf(loaded, checked, holds)) terminal.print(`${JSON.stringify(line)}\n`);
  } else terminal.print(writeCheck(loaded, checked, holds, terminal.paint));
  return holds ? exitCodes.done.code : exitCodes.no.code;
}

interface Checked {
  readonly name: string;
  readonly graph: WorkflowGraph;
  readonly analysis: Analysis;
}

/** For programs: one object a line, told apart by `kind`; the last one sums up. */
function linesOf({ problems, warnings, source }: LoadedGraphs, checked: readonly Checked[], holds: boolean): object[] {
  return [
    ...problems.map(({ code, file, line, column, text, message, fix }) => {
      return { kind: 'problem', severity: 'error', code, file, line, column, text, message, fix };
    }),
    ...warnings.map((message) => ({ kind: 'warning', severity: 'warning', message })),
    ...checked.flatMap(({ name, graph, analysis }) => [
      ...analysis.findings.map((finding) => ({ kind: 'finding', workflow: name, ...finding })),
      ...analysis.undecided.map((message) => ({ kind: 'undecided', workflow: name, message })),
      {
        kind: 'workflow',
        workflow: name,
        states: graph.states.length,
        edges: graph.edges.length,
        searched: analysis.searched,
      },
    ]),
    { kind: 'summary', holds, source, problems: problems.length, workflows: checked.length },
  ];
}

function writeCheck(
  { problems, warnings, source }: LoadedGraphs,
  checked: readonly Checked[],
  holds: boolean,
  paint: Paint,
): string {
  const parts = [
    ...problems.map((problem) => writeProblem(problem, paint)),
    ...warnings.map((each) => `${paint('yellow', 'warning')} ${harmless(each)}\n`),
    ...checked.map((each) => writeAnalysis(each, paint)),
  ];
  const what = checked.length === 0 ? '' : `, ${counted(checked.length, 'workflow')}`;
  const verdict = holds
    ? paint('green', `✓ ${harmless(source)} holds${what}`)
    : paint(
        'red',
        `✗ ${harmless(source)} has ${problems.length === 0 ? 'a workflow that can go wrong' : counted(problems.length, 'problem')}`,
      );
  return [...parts, `${verdict}\n`].join('\n');
}

export function writeProblem({ code, file, line, column, text, message, fix }: ToldProblem, paint: Paint): string {
  const place = `${harmless(file)}:${line}:${column}`;
  const shown =
    text.trim() === ''
      ? []
      : [paint('dim', `  ${harmless(text)}`), paint('red', `  ${' '.repeat(indentTo(text, column))}^`)];
  return [
    `${paint('bold', place)} ${paint('red', 'error')} ${code} ${harmless(message)}`,
    ...shown,
    `  ${paint('cyan', 'fix')} ${harmless(fix)}`,
    '',
  ].join('\n');
}

/** As wide as what stands before it, once that is spelt out. */
function indentTo(text: string, column: number): number {
  return column > text.length + 1 ? harmless(text).length : harmless(text.slice(0, column - 1)).length;
}

function writeAnalysis({ name, graph, analysis }: Checked, paint: Paint): string {
  const { findings, undecided, searched } = analysis;
  const looked = `${counted(searched.configurations, 'configuration')} and ${counted(searched.edges, 'step')} searched`;
  return [
    `${paint('bold', `workflow ${harmless(name)}`)}: ${counted(graph.states.length, 'state')}, ${looked}${searched.complete ? ', all of them' : ''}`,
    ...findings.flatMap((finding) => writeFinding(finding, paint)),
    ...(findings.length === 0
      ? [`  ${paint('green', '✓')} no dead end, no livelock, nothing unreachable was found`]
      : []),
    ...undecided.map((each) => `  ${paint('dim', `not decided: ${harmless(each)}`)}`),
    '',
  ].join('\n');
}

const styles = { error: 'red', warning: 'yellow', info: 'cyan' } as const;

function writeFinding({ code, severity, message, counterexample, proven }: Finding, paint: Paint): readonly string[] {
  const path =
    counterexample.length === 0 ? [] : [paint('dim', `      by ${counterexample.map(harmless).join(' → ')}`)];
  return [`  ${paint(styles[severity], severity)} ${code} ${harmless(message)}${proven ? ' (proven)' : ''}`, ...path];
}

const counted = (count: number, what: string): string =>
  `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`;
