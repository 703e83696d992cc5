/** The commands `audit verify` and `audit tail`: verify the journal, and print its newest records. */
import { hex } from '../../../core/journal/verify.ts';
import type { Inspection, ExplainedRecord, VerifyReport } from '../../../shell/look/inspect.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { recordShape, reportShape } from '../print/shapes.ts';
import { harmless, type Paint, pollUntilStopped, type Terminal, type Timer } from '../terminal.ts';
import { writeRecordLine } from '../print/write-record.ts';

/** No progress is shown for a shorter journal. */
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
  const print = (record: ExplainedRecord) =>
    terminal.print(command.json ? `${JSON.stringify(recordShape(record))}\n` : writeRecordLine(record, terminal.paint));
  if (!command.follow) {
    const newest = await inspection.newest(command.lines);
    for (const record of newest) print(record);
    if (newest.length === 0 && command.lines > 0) terminal.tell('no record is in the journal yet.\n');
    return exitCodes.done.code;
  }
  // Ctrl-C is a regular end, also before the first line.
  const { wait, stopListening } = pollUntilStopped(terminal, timer);
  // At least one, to know where to continue.
  const newest = await inspection.newest(Math.max(1, command.lines));
  for (const record of command.lines === 0 ? [] : newest) print(record);
  for await (const record of inspection.follow(newest.at(-1) ?? null, wait)) print(record);
  stopListening();
  return exitCodes.done.code;
}

const number = (value: number): string => value.toLocaleString('en-US');
const counted = (count: number, what: string): string => `${number(count)} ${what}${count === 1 ? '' : 's'}`;

/** What each problem that core/journal/verify.ts can report means to an operator. */
const meanings: readonly (readonly [RegExp, string])[] = [
  [/^the hash does not match/, 'the record, or its place in the chain, was changed after it was written'],
  [/^record \d+ is missing/, 'a record was taken out of the chain'],
  [/^the epoch starts at record/, 'the first records of this epoch were taken out'],
  [/^the epoch does not start|^epoch_open cannot/, 'the first record of this epoch was changed or taken out'],
  [/^epoch_open names/, 'the end of the epoch before was cut off, changed or replaced'],
  [/^the header says/, 'the record was moved to another place'],
  [/^the record belongs to another chain/, 'the record was copied here from another journal'],
  [/^payload '.*' does not match/, 'the arguments, the reply or another part was changed after it was written'],
  [/^payload '.*' is missing/, 'the part was deleted outside of the gateway'],
  [/^a payload has no commitment/, 'a part was added after the record was written'],
  [/^the row (?:names|is called)/, 'the record was filed under another call or kind than it was written for'],
  [/^the store was opened/, 'the journal was cut: records of whole epochs are gone'],
  [/is not known$/, 'the record was changed, or a newer version wrote it'],
  [/^the header (?:ends|has)|^a number in the header/, 'the record is damaged'],
];

/** For a problem that is not in the list. */
export const anyMeaning = 'the record is not what was written';

export function meaningOf(problem: string): string {
  return meanings.find(([pattern]) => pattern.test(problem))?.[1] ?? anyMeaning;
}
