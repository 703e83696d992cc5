/** The command `render`: draws a workflow, with the active states of a session if one is named. */
import type { Json } from '../../../core/values/json.ts';
import { toDot } from '../../../core/workflow/draw/to-dot.ts';
import { toMermaid } from '../../../core/workflow/draw/to-mermaid.ts';
import { toSvg } from '../../../core/workflow/draw/to-svg.ts';
import { activeIds } from '../../../core/workflow/trace/active-ids.ts';
import type { MeantId } from '../../../core/values/short-id.ts';
import type { WorkflowGraph } from '../../../core/workflow/graph.ts';
import type { LoadGraphs } from './check.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { harmless, type Terminal } from '../terminal.ts';
import { resolveId } from '../resolve-id.ts';

export interface RenderParts {
  readonly load: LoadGraphs;
  /** Resolves the beginning of a session handle; none if the store cannot be read. */
  readonly meant: (file: string, beginning: string) => Promise<MeantId>;
  /** The state of a session as XState writes it, or a sentence that says why there is none. */
  readonly stateOf: (
    session: string,
    workflow: string,
    file: string,
  ) => Promise<{ readonly value: Json } | { readonly refused: string } | { readonly unreadable: string }>;
  /** Null, or a sentence that says why it cannot be written. */
  readonly write: (path: string, text: string) => Promise<string | null>;
}

export async function runRender(
  command: Command,
  file: string,
  parts: RenderParts,
  terminal: Terminal,
): Promise<ExitCode> {
  const refuse = (sentence: string, code: ExitCode = exitCodes.no.code): ExitCode => {
    terminal.tell(`recourse: ${harmless(sentence)}\n`);
    return code;
  };
  const { problems, workflows, source } = await parts.load(command.argument, command.config);
  const [found] = workflows;
  if (problems.length > 0 || found === undefined) {
    const [first] = problems;
    return refuse(
      first === undefined
        ? `${source} has no workflow '${command.argument}'`
        : `${first.file}:${first.line}:${first.column} ${first.message}; ${first.fix}. Try: recourse check`,
    );
  }
  const given = command.filter.session;
  const find = (beginning: string) => parts.meant(file, beginning);
  const session = given === undefined ? undefined : await resolveId(given, 'look', find, terminal);
  if (typeof session === 'number') return session;
  const stands = session === undefined ? null : await parts.stateOf(session, found.name, file);
  if (stands !== null && 'unreadable' in stands) return refuse(stands.unreadable, exitCodes.store.code);
  if (stands !== null && 'refused' in stands) return refuse(stands.refused);
  const drawing = draw(command.said.format ?? 'mermaid', found.graph, stands === null ? [] : activeIds(stands.value));
  if (command.said.output === undefined) {
    terminal.print(drawing);
    return exitCodes.done.code;
  }
  const problem = await parts.write(command.said.output, drawing);
  if (problem !== null) return refuse(problem);
  terminal.tell(`${harmless(command.said.output)} is written.\n`);
  return exitCodes.done.code;
}

function draw(format: string, graph: WorkflowGraph, active: readonly string[]): string {
  // The command line was already checked for these.
  if (format === 'dot') return toDot(graph, active);
  return format === 'svg' ? toSvg(graph, active) : toMermaid(graph, active);
}
