/**
 * The command `primer`: runs the refund, or the whole story with --all, and prints it for a person or, with --json,
 * for a program.
 */
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { writeReport } from '../commands/audit.ts';
import { playStory, type Stage, type Told } from './play-primer.ts';
import { type BarTool, createBar, type MakePartial } from './primer-bar.ts';
import { type Step, story } from './primer-story.ts';
import { createRefunds, linesOfRefund, playRefund, wentAsTold, writeRefund } from './primer-refund.ts';
import type { Command } from '../arguments/read-command-line.ts';
import type { Paint, Terminal } from '../terminal.ts';
import { createPrimerWriter, opening } from './write-primer.ts';

/** From the composition root: a gateway with these tools on a temporary store. */
export interface PrimerParts {
  readonly partial: MakePartial;
  readonly openStage: (tools: readonly BarTool[]) => Promise<OpenedStage | { readonly refused: string }>;
}

export interface OpenedStage extends Omit<Stage, 'bar'> {
  /** Notices of the gateway: none if all went well. */
  readonly complaints: () => readonly string[];
  readonly remove: () => Promise<void>;
}

export async function runPrimer(command: Command, parts: PrimerParts, terminal: Terminal): Promise<ExitCode> {
  return command.flags.has('all') ? runWalk(command, parts, terminal) : runRefund(command, parts, terminal);
}

/** The short primer, on one screen. */
async function runRefund(command: Command, parts: PrimerParts, terminal: Terminal): Promise<ExitCode> {
  const refunds = createRefunds();
  const stage = await parts.openStage([refunds.tool]);
  if ('refused' in stage) return cannotOpen(stage.refused, terminal);
  try {
    const played = await playRefund(refunds, (request) => stage.gateway.handle(request));
    await stage.gateway.close();
    if (command.json)
      for (const { say, request, reply } of linesOfRefund(played)) terminal.print(lineOf(say, request, reply));
    else terminal.print(`${writeRefund(played, terminal.paint)}\n${writeNext(afterRefund, terminal.paint)}`);
    const complaints = [...stage.complaints(), ...(wentAsTold(played) ? [] : ['the refund went otherwise'])];
    for (const complaint of complaints) terminal.tell(`recourse: ${complaint}\n`);
    return complaints.length === 0 ? exitCodes.done.code : exitCodes.no.code;
  } finally {
    await stage.remove();
  }
}

/** One of each kind of reply. */
export async function runWalk(
  command: Command,
  parts: PrimerParts,
  terminal: Terminal,
  steps: readonly Step[] = story,
): Promise<ExitCode> {
  const { paint } = terminal;
  const bar = createBar(parts.partial);
  const stage = await parts.openStage(bar.tools);
  if ('refused' in stage) return cannotOpen(stage.refused, terminal);
  try {
    const { gates } = stage.gateway.status();
    if (!command.json) terminal.print(`${paint('bold', 'recourse primer')}\n\n${opening.join('\n')}\n`);
    const writeStep = createPrimerWriter(paint);
    const wrong: Told[] = [];
    await playStory(steps, { ...stage, bar }, (told) => {
      if (!told.asExpected) wrong.push(told);
      terminal.print(command.json ? lineOf(sayOf(told), told.request, told.reply) : writeStep(told));
    });
    const report = await stage.verify();
    // Hashes are salted and so differ from run to run; counts do not.
    const { records, epochs, payloads, erased, problems } = report;
    if (command.json) {
      terminal.print(lineOf('The gates of the ladder, in order.', { status: {} }, { gates }));
      terminal.print(lineOf('The journal, verified.', { verify: {} }, { records, epochs, payloads, erased, problems }));
    } else {
      terminal.print(`\n${writeLadder(gates, paint)}\n${paint('bold', 'The journal')}\n`);
      terminal.print(
        `  ${writeReport(
          { ...report, head: null },
          problems.map((each) => ({ ...each, meaning: '' })),
          paint,
        )}`,
      );
      terminal.print(`\n${writeNext(afterWalk, paint)}`);
    }
    const complaints = [...stage.complaints(), ...wrong.map(({ step }) => `step '${step.say}' went otherwise`)];
    for (const complaint of complaints) terminal.tell(`recourse: ${complaint}\n`);
    return complaints.length === 0 && problems.length === 0 ? exitCodes.done.code : exitCodes.no.code;
  } finally {
    await stage.remove();
  }
}

function cannotOpen(message: string, terminal: Terminal): ExitCode {
  terminal.tell(`recourse: ${message}\n`);
  return exitCodes.store.code;
}

const writeNext = (lines: readonly string[], paint: Paint): string =>
  `${paint('bold', 'Next')}\n${lines.map((line) => `  ${line}\n`).join('')}`;

const afterRefund = [
  'recourse primer --all       one of each kind of reply, explained',
  'recourse init               put it before the MCP servers that you use already',
];

const afterWalk = [
  'recourse primer --all --json   the same, as it is on the wire',
  'README.md                      two lines that put a function of yours behind a gateway',
  'recourse calls ls              what went through it',
  'recourse audit verify          the same proof, on that store',
];

function writeLadder(gates: readonly { readonly gate: string; readonly configured: boolean }[], paint: Paint): string {
  const rungs = gates.map(({ gate, configured }, index) => {
    const place = String(index + 1).padStart(4);
    return configured
      ? `${place}  ${paint('green', `✓ ${gate}`)}\n`
      : `${place}  ${paint('dim', `– ${gate}  not configured`)}\n`;
  });
  const title = 'The ladder: the gates of this gateway, in order; the first that does not pass speaks';
  return `${paint('bold', title)}\n${rungs.join('')}`;
}

const sayOf = ({ step }: Told): string => `${step.say} ${step.learn}`;

const lineOf = (say: string, request: unknown, reply: unknown): string =>
  `${JSON.stringify({ say, request, reply })}\n`;
