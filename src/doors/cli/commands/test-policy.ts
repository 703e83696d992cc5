/** The command `test`: runs the test cases of a policy, and prints which rules they cover. */
import { durationText } from '../../../core/values/duration.ts';
import type { Json } from '../../../core/values/json.ts';
import type { Policy, RuleLook } from '../../../core/policy/policy.ts';
import {
  type AgentCoverage,
  type CaseDecision,
  type CaseResult,
  type CaseTool,
  type PolicyCase,
  type PolicyTestReport,
  standardNowMs,
  testPolicy,
} from '../../../core/policy/test-policy.ts';
import { unreachable } from '../../../core/values/unreachable.ts';
import { type ToldProblem, writeProblem } from './check.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { harmless, type Paint, type Terminal } from '../terminal.ts';

export interface LoadedTests {
  readonly problems: readonly ToldProblem[];
  /** Null with problems. */
  readonly policy: Policy | null;
  readonly cases: readonly PolicyCase[];
  readonly toolNamed: (name: string) => CaseTool;
  readonly isPinned: (name: string) => boolean;
  /** Why the tool's schema refuses these arguments; null if it does not. */
  readonly refusalOf: (name: string, args: Json) => string | null;
  readonly files: readonly string[];
}

export type LoadTests = (files: readonly string[], config: string | undefined) => Promise<LoadedTests>;

export async function runTest(command: Command, load: LoadTests, terminal: Terminal): Promise<ExitCode> {
  const loaded = await load(command.words, command.config);
  const { policy, cases, toolNamed } = loaded;
  if (policy === null) {
    for (const problem of loaded.problems)
      terminal.print(
        command.json
          ? `${JSON.stringify({ kind: 'problem', ...problem })}\n`
          : `${writeProblem(problem, terminal.paint)}\n`,
      );
    return exitCodes.no.code;
  }
  const report = testPolicy(policy, cases, toolNamed);
  const doubts = doubtsAbout(loaded);
  if (command.json) for (const line of linesOf(report, doubts)) terminal.print(`${JSON.stringify(line)}\n`);
  else terminal.print(writeReport(report, doubts, loaded, terminal.paint));
  return failuresIn(report).length === 0 ? exitCodes.done.code : exitCodes.usage.code;
}

const standardNow = `${new Date(standardNowMs).toISOString().slice(0, 19)}Z`;

/** Reasons why a case may prove less than it seems to. */
interface Doubts {
  readonly unpinned: readonly string[];
  /** Calls that would be refused for their arguments before policy is asked. */
  readonly refused: readonly { readonly ref: string; readonly problem: string }[];
}

function doubtsAbout({ cases, isPinned, refusalOf }: LoadedTests): Doubts {
  return {
    unpinned: [...new Set(cases.map(({ tool }) => tool))].filter((name) => !isPinned(name)),
    refused: cases.flatMap(({ ref, tool, args }) => {
      const problem = refusalOf(tool, args);
      return problem === null ? [] : [{ ref, problem }];
    }),
  };
}

const failuresIn = ({ results }: PolicyTestReport): readonly CaseResult[] =>
  results.filter(({ wrong }) => wrong.length > 0);

/** For `--json`: one object a line, with a `kind`; the last is the summary. */
function linesOf(report: PolicyTestReport, { unpinned, refused }: Doubts): readonly object[] {
  const rules = report.coverage.flatMap(({ agent, rules: all }) =>
    all.map(({ ref, effect, match, decided }) => ({ kind: 'rule', agent, ref, effect, match, decided })),
  );
  return [
    ...report.results.map(({ test, wrong, decision, looks, assumedNow }) => ({
      kind: 'case',
      name: test.name,
      ref: test.ref,
      agent: test.agent,
      tool: test.tool,
      passed: wrong.length === 0,
      wrong,
      decision: decisionLine(decision),
      looks: looks.map(({ ref, result, problem }) => ({ ref, result, problem })),
      now: assumedNow ? standardNow : null,
    })),
    ...rules,
    ...unpinned.map((tool) => ({ kind: 'unpinned', tool })),
    ...refused.map((each) => ({ kind: 'refused_args', ...each })),
    {
      kind: 'summary',
      cases: report.results.length,
      failed: failuresIn(report).length,
      rules: rules.length,
      exercised: rules.filter(({ decided }) => decided > 0).length,
    },
  ];
}

/** With the field names of the configuration. */
function decisionLine({ terms, ...decision }: CaseDecision): object {
  if (terms === null) return decision;
  const { roles, needed, onApprove, clientMayApprove } = terms;
  const approval = { approvers: roles, needs: needed, on_approve: onApprove, client_may_approve: clientMayApprove };
  return { ...decision, approval: { ...approval, expires: durationText(terms.expiresMs) } };
}

function writeReport(
  report: PolicyTestReport,
  { unpinned, refused }: Doubts,
  { files, policy }: LoadedTests,
  paint: Paint,
): string {
  const failed = failuresIn(report);
  const assumed = report.results.some(({ assumedNow }) => assumedNow);
  const total = counted(report.results.length, 'case');
  const verdict =
    failed.length === 0
      ? paint('green', `✓ ${total} decided as expected (${harmless(files.join(', '))})`)
      : paint('red', `✗ ${failed.length} of ${total} decided otherwise (${harmless(files.join(', '))})`);
  const notes = [
    ...(assumed ? [`where a case says no \`now\`, it is ${standardNow}.`] : []),
    ...(unpinned.length === 0
      ? []
      : [`not pinned, and taken for what the file declares or else for the worst: ${unpinned.join(', ')}.`]),
    ...refused.map(
      ({ ref, problem }) => `${ref}: the tool takes no such arguments (${problem}); policy is not asked then.`,
    ),
    ...(policy?.written.mode === 'audit' ? ['the mode is audit: what is denied here is let pass, and recorded.'] : []),
  ];
  return [
    ...failed.map((result) => writeFailure(result, paint)),
    ...report.coverage.map((each) => writeCoverage(each, paint)),
    [...notes.map((note) => `${paint('dim', `note: ${harmless(note)}`)}\n`), `${verdict}\n`].join(''),
  ].join('\n');
}

function writeFailure({ test, wrong, decision, looks }: CaseResult, paint: Paint): string {
  return [
    `${paint('bold', harmless(test.ref))} ${paint('red', 'failed')} ${harmless(test.name)}`,
    `  ${harmless(test.agent)} calls ${harmless(test.tool)} ${harmless(JSON.stringify(test.args)).slice(0, maxShown)}`,
    ...wrong.map((each) => `  ${paint('red', '✗')} ${harmless(each)}`),
    `  decided: ${decision.effect} at ${harmless(decision.ref)}, ${whyText(decision)}${askedText(decision)}`,
    ...looks.map((look) => `    ${harmless(look.ref)}  ${lookText(look)}`),
    '',
  ].join('\n');
}

const maxShown = 400;

function whyText({ by, problem, reason }: CaseDecision): string {
  switch (by) {
    case 'rule':
      return `which matches${reason === null ? '' : ` (${harmless(reason)})`}`;
    case 'default':
      return 'because no rule matches';
    case 'ceiling':
      return 'because the tool reaches further than the agent may';
    case 'broken_rule':
      return `because its condition broke: ${harmless(problem ?? 'for no known reason')}`;
    case 'models':
      return 'because the model is not permitted';
    default:
      return unreachable(by);
  }
}

/** Who would have to approve. */
function askedText({ terms }: CaseDecision): string {
  if (terms === null) return '';
  const { roles, needed, clientMayApprove, expiresMs } = terms;
  const people = needed === 1 ? 'somebody' : `${needed} people`;
  const who = roles === null ? 'who may approve' : `of ${harmless(roles.join(', '))}`;
  const client = clientMayApprove ? ', or the user of its client,' : '';
  return `; ${people} ${who}${client} must approve within ${durationText(expiresMs)}`;
}

function lookText({ result, problem }: RuleLook): string {
  if (result === 'condition_false') return 'its condition is false';
  if (result === 'broken') return `its condition broke: ${harmless(problem ?? 'for no known reason')}`;
  return result === 'matched' ? 'matches' : 'is for other tools';
}

/** The most uncovered rules listed for one agent. */
const maxListed = 50;

function writeCoverage({ agent, rules }: AgentCoverage, paint: Paint): string {
  const idle = rules.filter(({ decided }) => decided === 0);
  const lines = idle.slice(0, maxListed).map(({ ref, effect, match }) => {
    return `  ${paint('yellow', '·')} not exercised: ${harmless(ref)} ${effect} ${match === null ? 'by default' : harmless(match)}`;
  });
  const more = idle.length > maxListed ? [`  … and ${idle.length - maxListed} more`] : [];
  return [
    `${paint('bold', `agent ${harmless(agent)}`)}: ${rules.length - idle.length} of ${counted(rules.length, 'rule')} exercised`,
    ...lines,
    ...more,
    '',
  ].join('\n');
}

const counted = (count: number, what: string): string =>
  `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`;
