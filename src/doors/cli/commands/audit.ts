/** The commands `audit verify` and `audit tail`: does the journal hold, and what does it say? */
import { hex } from '../../../core/journal/verify.ts';
import type { Inspection, ToldRecord, VerifyReport } from '../../../shell/look/inspect.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { meaningOf } from '../print/problem-meaning.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { recordShape, reportShape } from '../print/shapes.ts';
import { harmless, type Paint, type Terminal } from '../terminal.ts';
import { type Timer, untilStopped } from '../until-stopped.ts';
import { writeRecordLine } from '../print/write-record.ts';

/** A journal shorter than this is verified before anybody wonders. */
const worthTelling = 5_000;

export async function verifyJournal(command: Command, inspection: Inspection, terminal: Terminal): Promise<ExitCode> {
  const { progress } = terminal;
  const report = await inspection.verify((records) => {
    if (records >= worthTelling && records % 1_000 === 0) progress?.(`${number(records)} records verified`);
  });
  if (report.records >= worthTelling) progress?.('');
  const problems = report.problems.map((each) => ({ ...each, meaning: meaningOf(each.problem) }));
  if (command.json) terminal.print(`${JSON.stringify(reportShape(report, problems))}\n`);
  else terminal.print(writeReport(report, problems, terminal.paint));
  return problems.length === 0 ? exitCodes.done.code : exitCodes.no.code;
}

type Meant = VerifyReport['problems'][number] & { readonly meaning: string };

export function writeReport(report: VerifyReport, problems: readonly Meant[], paint: Paint): string {
  const { records, epochs, payloads, erased, head } = report;
  const [first] = problems;
  const verdict =
    first === undefined
      ? paint('green', '✓ the journal holds')
      : paint('red', `✗ the journal does not hold from record ${first.epoch}/${first.seq} on`);
  const counts = [
    counted(records, 'record'),
    counted(epochs, 'epoch'),
    counted(payloads, 'payload'),
    `${number(erased)} of them erased`,
  ];
  return [
    `${verdict}\n  ${counts.join(', ')}\n`,
    ...problems.map(({ epoch, seq, problem, meaning }) => {
      return `  ${paint('red', `${epoch}/${seq}`)}  ${harmless(problem)}\n      ${meaning}\n`;
    }),
    head === null ? '' : `  head ${head.epoch}/${head.seq} ${paint('dim', hex(head.hash))}\n`,
    first === undefined
      ? ''
      : '  keep a copy of the file as it is, and compare it with a backup and with a head kept elsewhere.\n',
  ].join('');
}

export async function tailJournal(
  command: Command,
  inspection: Inspection,
  terminal: Terminal,
  timer: Timer,
): Promise<ExitCode> {
  const print = (record: ToldRecord) =>
    terminal.print(command.json ? `${JSON.stringify(recordShape(record))}\n` : writeRecordLine(record, terminal.paint));
  if (!command.follow) {
    const newest = await inspection.newest(command.lines);
    for (const record of newest) print(record);
    if (newest.length === 0 && command.lines > 0) terminal.tell('no record is in the journal yet.\n');
    return exitCodes.done.code;
  }
  // From before the first line on, Ctrl-C is an end in good order.
  const { wait, stopListening } = untilStopped(terminal, timer);
  // One at least, to know where to go on from.
  const newest = await inspection.newest(Math.max(1, command.lines));
  for (const record of command.lines === 0 ? [] : newest) print(record);
  for await (const record of inspection.follow(newest.at(-1) ?? null, wait)) print(record);
  stopListening();
  return exitCodes.done.code;
}

const number = (value: number): string => value.toLocaleString('en-US');
const counted = (count: number, what: string): string => `${number(count)} ${what}${count === 1 ? '' : 's'}`;
