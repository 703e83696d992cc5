/** The command `calls in-doubt`: what nobody knows the outcome of, since when, and what settling it would do. */
import { quoteWord } from '../../../core/values/quote.ts';
import type { Doubt, Inspection } from '../../../shell/look/inspect.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { parsed, timeOf } from '../print/shapes.ts';
import { type Pair, valueLines, writePairs } from '../print/table.ts';
import { harmless, type Paint, type Terminal } from '../terminal.ts';

const longestArgs = 500;

export async function listDoubts(
  { limit, filter, json }: Command,
  inspection: Inspection,
  terminal: Terminal,
  nowMs: number,
): Promise<ExitCode> {
  const doubts = await inspection.doubts({ ...filter, limit });
  if (json) {
    for (const doubt of doubts) terminal.print(`${JSON.stringify(doubtShape(doubt, nowMs))}\n`);
    return exitCodes.done.code;
  }
  if (doubts.length === 0) terminal.tell('no call is in doubt.\n');
  for (const doubt of doubts) terminal.print(`${writeDoubt(doubt, nowMs, terminal.paint)}\n`);
  const last = doubts.at(-1);
  if (last !== undefined && doubts.length === limit)
    terminal.tell(terminal.paintTold('dim', `${limit} shown; older ones: --before ${harmless(last.call.id)}\n`));
  return exitCodes.done.code;
}

const leftSeconds = ({ quarantinedUntilMs }: Doubt, nowMs: number): number =>
  Math.max(0, Math.ceil((quarantinedUntilMs - nowMs) / 1_000));

function doubtShape(doubt: Doubt, nowMs: number) {
  const { call, args, sinceMs, probes } = doubt;
  return {
    call_id: call.id,
    tool: call.tool,
    agent: call.agent,
    session: call.session,
    effect_class: call.effectClass,
    attempts: call.attempt,
    in_doubt_since: timeOf(sinceMs),
    age_seconds: Math.max(0, Math.floor((nowMs - sinceMs) / 1_000)),
    args: args.kind === 'text' ? parsed(args.text) : null,
    probes,
    no_counts_in_seconds: leftSeconds(doubt, nowMs),
  };
}

function writeDoubt(doubt: Doubt, nowMs: number, paint: Paint): string {
  const { call, args, sinceMs, probes } = doubt;
  const left = leftSeconds(doubt, nowMs);
  const settle = `recourse calls settle ${call.id} --happened`;
  const pairs: Pair[] = [
    ['agent', quoteWord(call.agent)],
    ['since', `${timeOf(sinceMs)}, ${ageOf(nowMs - sinceMs)} ago; sent ${call.attempt}×, read ${probes}×`],
    ['arguments', args.kind === 'text' ? valueLines(parsed(args.text), longestArgs) : `(${args.kind})`],
    ['it happened', `${settle} yes: its result answers whoever asks again; nothing is sent`],
    [
      'it did not',
      `${settle} no: it may be asked for again${left === 0 ? '' : `. It may still be carried out for ${left} s: needs --force until then`}`,
    ],
    ['never known', `${settle} unknown: it is closed; the same once more may be a second effect`],
  ];
  return `${paint('cyan', harmless(call.id))}  ${paint('bold', harmless(call.tool))}\n${writePairs(pairs, paint)}`;
}

function ageOf(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} days`;
}
