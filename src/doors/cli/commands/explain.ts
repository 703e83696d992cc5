/**
 * The command `explain`: prints how one call would be decided, and why. Asks the gateway; without one it is decided
 * from the files.
 */
import type { Explanation } from '../../../core/gates/explain.ts';
import { unreachable } from '../../../core/values/unreachable.ts';
import { type ToldProblem, writeProblem } from './check.ts';
import { type Daemon, type FindDaemon, isList, reportNotFound, reportFailure, wishOf } from '../daemon.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { readArgs } from '../arguments/read-args.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { harmless, type Terminal } from '../terminal.ts';
import { writeExplanation } from '../print/write-explanation.ts';

export interface OfflineOrder {
  readonly config: string | undefined;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly agent: string | undefined;
  readonly model: string | undefined;
  readonly nowMs: number | null;
}

export type OfflineExplained =
  /** `remarks`: what could not be checked. */
  | { readonly kind: 'explained'; readonly explanation: Explanation; readonly remarks: readonly string[] }
  | { readonly kind: 'problems'; readonly problems: readonly ToldProblem[] }
  | { readonly kind: 'which_agent'; readonly agents: readonly string[] }
  | { readonly kind: 'refused'; readonly message: string };

export interface ExplainParts {
  readonly findDaemon: FindDaemon;
  readonly explainOffline: (order: OfflineOrder) => Promise<OfflineExplained>;
  /** The agent of recourse.yaml, if it declares exactly one. */
  readonly onlyAgent: (config: string | undefined) => Promise<string | undefined>;
}

export async function runExplain(command: Command, parts: ExplainParts, terminal: Terminal): Promise<ExitCode> {
  const { said, words, config, flags } = command;
  const args = readArgs(words.slice(1));
  if (!args.ok) return reportUsage(args.problem, terminal);
  const nowMs = said.now === undefined ? null : timeIn(said.now);
  if (Number.isNaN(nowMs)) return reportUsage('--now is a time such as 2026-05-18T09:00:00Z', terminal);
  const { argument: tool } = command;
  const order: OfflineOrder = { config, tool, args: args.args, agent: said.agent, model: said.model, nowMs };
  const isOffline = flags.has('offline') || nowMs !== null;
  if (isOffline && said.session !== undefined)
    return reportUsage('--session needs a gateway: leave out --offline and --now', terminal);
  if (isOffline) return explainAlone(order, command, parts, terminal);
  const found = await parts.findDaemon(wishOf(command, 'operator', terminal));
  if (found.kind === 'refused') return reportNotFound(found, command, terminal);
  const { daemon } = found;
  const answer = await askDaemon(order, command, daemon, parts);
  if (answer.kind === 'nobody' && !daemon.isNamed && said.session === undefined) {
    terminal.tell(`recourse: no gateway is listening at ${daemon.url}\n`);
    return explainAlone(order, command, parts, terminal);
  }
  if (answer.kind !== 'answered' || !isExplanation(answer.body)) return reportFailure(answer, daemon, terminal);
  return show(answer.body, command, terminal);
}

async function askDaemon(
  { tool, args, agent, model, config }: OfflineOrder,
  { said }: Command,
  daemon: Daemon,
  { onlyAgent }: ExplainParts,
) {
  const ask = (named: string | undefined) => {
    const known = { agent: named, session: said.session, model };
    return daemon.ask({ method: 'POST', path: '/v1/evaluate', body: { tool, args, ...given(known) } });
  };
  const first = await ask(agent);
  // An operator must name the agent; a file with a single agent names it.
  const isUnnamed = agent === undefined && first.kind === 'answered' && asksForAgent(first.body);
  const only = isUnnamed ? await onlyAgent(config) : undefined;
  return only === undefined ? first : ask(only);
}

const asksForAgent = ({ errors }: Readonly<Record<string, unknown>>): boolean =>
  isList(errors) && errors.some(({ path }) => path === '/agent');

async function explainAlone(
  order: OfflineOrder,
  command: Command,
  { explainOffline }: ExplainParts,
  terminal: Terminal,
): Promise<ExitCode> {
  const explained = await explainOffline(order);
  switch (explained.kind) {
    case 'explained':
      terminal.tell(
        'recourse: offline: decided from recourse.yaml and recourse.lock, for a session that has just begun\n',
      );
      for (const remark of explained.remarks) terminal.tell(`recourse: ${harmless(remark)}\n`);
      return show(explained.explanation, command, terminal);
    case 'problems':
      for (const problem of explained.problems) terminal.tell(`${writeProblem(problem, terminal.paintTold)}\n`);
      return exitCodes.no.code;
    case 'which_agent': {
      const names = explained.agents.map((name) => harmless(name)).join(', ');
      return reportUsage(
        names === '' ? '--agent names who would call; none is declared' : `--agent names who would call: ${names}`,
        terminal,
      );
    }
    case 'refused':
      terminal.tell(`recourse: ${harmless(explained.message)}\n`);
      return exitCodes.no.code;
    default:
      return unreachable(explained);
  }
}

function show(explanation: Explanation, { json }: Command, terminal: Terminal): ExitCode {
  terminal.print(json ? `${JSON.stringify(explanation)}\n` : writeExplanation(explanation, terminal.paint));
  return explanation.decision === 'run' ? exitCodes.done.code : exitCodes.no.code;
}

function isExplanation(body: object): body is Explanation {
  const { decision, rungs, rules } = body as Readonly<Record<string, unknown>>;
  return typeof decision === 'string' && isList(rungs) && isList(rules);
}

/** RFC 3339, or a date; NaN for anything else. */
const timeIn = (text: string): number =>
  /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text)
    ? Date.parse(text)
    : Number.NaN;

const given = (fields: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

function reportUsage(problem: string, terminal: Terminal): ExitCode {
  terminal.tell(`recourse: ${harmless(problem)}. Try: recourse explain --help\n`);
  return exitCodes.usage.code;
}
