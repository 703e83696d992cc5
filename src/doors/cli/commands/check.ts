/**
 * The command `check`: prints problems of the configuration, and what can be proven about its workflows and its
 * policy.
 */
import type { PolicyAnalysis, PolicyFinding } from '../../../core/policy/analyse/policy-analysis.ts';
import { analyseWorkflow } from '../../../core/workflow/analyse/analyse-workflow.ts';
import type { Analysis, Finding } from '../../../core/workflow/analyse/analysis.ts';
import type { WorkflowGraph } from '../../../core/workflow/graph.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { harmless, type Paint, type Terminal } from '../terminal.ts';

/** A warning at a place of a file. */
export interface ToldWarning {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The line as it is written; empty if there is none to show. */
  readonly text: string;
  readonly message: string;
  readonly fix: string;
}

/** A problem at a place of a file. */
export interface ToldProblem extends ToldWarning {
  readonly code: string;
}

/** With problems, `workflows` are those that could still be read. */
export interface LoadedGraphs {
  readonly problems: readonly ToldProblem[];
  readonly warnings: readonly ToldWarning[];
  readonly workflows: readonly { readonly name: string; readonly graph: WorkflowGraph }[];
  /** Analyses the policy; null without one, or for a single workflow. */
  readonly analysePolicy: (() => PolicyAnalysis) | null;
  /** The configuration file or module that was checked. */
  readonly source: string;
}

/** `argument` is a configuration, a workflow's name or a module; empty for ./recourse.yaml. */
export type LoadGraphs = (argument: string, config: string | undefined) => Promise<LoadedGraphs>;

export async function runCheck(command: Command, load: LoadGraphs, terminal: Terminal): Promise<ExitCode> {
  const loaded = await load(command.argument, command.config);
  const checked = loaded.workflows.map(({ name, graph }) => ({ name, graph, analysis: analyseWorkflow(graph) }));
  const policy = loaded.problems.length === 0 ? (loaded.analysePolicy?.() ?? null) : null;
  const proven = { workflows: checked, policy };
  const found = [...checked.flatMap(({ analysis }) => analysis.findings), ...(policy?.findings ?? [])];
  const holds = loaded.problems.length === 0 && found.every(({ severity }) => severity !== 'error');
  if (command.json) {
    for (const line of linesOf(loaded, proven, holds)) terminal.print(`${JSON.stringify(line)}\n`);
  } else terminal.print(writeCheck(loaded, proven, holds, terminal.paint));
  return holds ? exitCodes.done.code : exitCodes.no.code;
}

interface Proven {
  readonly workflows: readonly Checked[];
  readonly policy: PolicyAnalysis | null;
}

interface Checked {
  readonly name: string;
  readonly graph: WorkflowGraph;
  readonly analysis: Analysis;
}

/** For `--json`: one object a line, with a `kind`; the last is the summary. */
function linesOf(
  { problems, warnings, source }: LoadedGraphs,
  { workflows, policy }: Proven,
  holds: boolean,
): object[] {
  return [
    ...problems.map(({ code, file, line, column, text, message, fix }) => {
      return { kind: 'problem', severity: 'error', code, file, line, column, text, message, fix };
    }),
    ...warnings.map(({ file, line, column, text, message, fix }) => {
      return { kind: 'warning', severity: 'warning', file, line, column, text, message, fix };
    }),
    ...workflows.flatMap(({ name, graph, analysis }) => [
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
    ...(policy?.findings ?? []).map(({ kind: code, mayBreak, ...finding }) => ({
      kind: 'policy_finding',
      code,
      ...finding,
      may_break: mayBreak,
    })),
    ...(policy?.undecided ?? []).map((message) => ({ kind: 'policy_undecided', message })),
    {
      kind: 'summary',
      holds,
      source,
      problems: problems.length,
      warnings: warnings.length,
      workflows: workflows.length,
    },
  ];
}

function writeCheck(loaded: LoadedGraphs, { workflows, policy }: Proven, holds: boolean, paint: Paint): string {
  const { problems, warnings } = loaded;
  const parts = [
    ...problems.map((problem) => writeProblem(problem, paint)),
    ...warnings.map((warning) => writeWarning(warning, paint)),
    ...workflows.map((each) => writeAnalysis(each, paint)),
    ...(policy === null ? [] : [writePolicy(policy, paint)]),
  ];
  const source = harmless(loaded.source);
  const and = [
    ...(workflows.length === 0 ? [] : [counted(workflows.length, 'workflow')]),
    ...(warnings.length === 0 ? [] : [counted(warnings.length, 'warning')]),
  ];
  const wrong = policy?.findings.some(({ severity }) => severity === 'error') ? 'policy' : 'workflow';
  const what = problems.length === 0 ? `a ${wrong} that can go wrong` : counted(problems.length, 'problem');
  const verdict = holds
    ? paint('green', `✓ ${[`${source} holds`, ...and].join(', ')}`)
    : paint('red', `✗ ${source} has ${what}`);
  return [...parts, `${verdict}\n`].join('\n');
}

export function writeProblem({ code, ...problem }: ToldProblem, paint: Paint): string {
  return writePlace(problem, `${paint('red', 'error')} ${code}`, 'red', paint);
}

function writeWarning(warning: ToldWarning, paint: Paint): string {
  return writePlace(warning, paint('yellow', 'warning'), 'yellow', paint);
}

function writePlace(told: ToldWarning, sort: string, style: 'red' | 'yellow', paint: Paint): string {
  const { file, line, column, text, message, fix } = told;
  const place = `${harmless(file)}:${line}:${column}`;
  const shown =
    text.trim() === ''
      ? []
      : [paint('dim', `  ${harmless(text)}`), paint(style, `  ${' '.repeat(indentTo(text, column))}^`)];
  return [
    `${paint('bold', place)} ${sort} ${harmless(message)}`,
    ...shown,
    `  ${paint('cyan', 'fix')} ${harmless(fix)}`,
    '',
  ].join('\n');
}

/** The width of the text before the column, after escaping. */
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

function writePolicy({ findings, undecided }: PolicyAnalysis, paint: Paint): string {
  return [
    paint('bold', 'policy'),
    ...findings.flatMap((finding) => writePolicyFinding(finding, paint)),
    ...(findings.length === 0 ? [`  ${paint('green', '✓')} nothing was found against it`] : []),
    ...undecided.map((each) => `  ${paint('dim', `not decided: ${harmless(each)}`)}`),
    '',
  ].join('\n');
}

function writePolicyFinding(finding: PolicyFinding, paint: Paint): readonly string[] {
  const { kind, severity, refs, message, fix, counterexample } = finding;
  return [
    `  ${paint(styles[severity], severity)} ${kind} ${harmless(refs[0] ?? '')} ${harmless(message)}`,
    paint('dim', `      ${harmless(counterexample.says)}`),
    `      ${paint('cyan', 'fix')} ${harmless(fix)}`,
  ];
}

const counted = (count: number, what: string): string =>
  `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`;
