/** The commands `sessions ls`, `show`, `tail` and `diff`: lists sessions, and shows the state and history of one. */
import { laterType } from '../../../core/workflow/stage-rule.ts';
import { cut } from '../../../core/values/canonical.ts';
import { isObject, type Json } from '../../../core/values/json.ts';
import { nearest } from '../../../core/values/nearest.ts';
import { quoteValue, quoteWord } from '../../../core/values/quote.ts';
import {
  type HistoryEntry,
  type SessionInspection,
  type SessionStatus,
  sessionStatuses,
  type SessionStory,
  type StateAt,
  type WalkedSession,
} from '../../../shell/look/inspect-sessions.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { diffStates } from '../print/diff-states.ts';
import { type Difference, sessionShape, sessionStoryShape, stateShape, timeOf } from '../print/shapes.ts';
import { type Column, type Pair, valueLines, writePairs, writeTable } from '../print/table.ts';
import { harmless, type Paint, pollUntilStopped, type Style, type Terminal, type Timer } from '../terminal.ts';
import { resolveId } from '../resolve-id.ts';
import { writeEntry } from '../print/write-entry.ts';

export async function listSessions(
  { limit, filter, said, json }: Command,
  inspection: SessionInspection,
  terminal: Terminal,
): Promise<ExitCode> {
  const asked = said.state?.toLowerCase();
  const status = sessionStatuses.find((each) => each === asked);
  if (asked !== undefined && status === undefined) {
    const near = nearest(asked, sessionStatuses);
    const says = near === null ? `there are ${sessionStatuses.join(', ')}` : `did you mean ${near}?`;
    terminal.tell(`recourse: no session is ever '${harmless(asked)}'; ${says}\n`);
    return exitCodes.usage.code;
  }
  const wanted = {
    limit,
    ...(status === undefined ? {} : { status }),
    ...(said.workflow === undefined ? {} : { workflow: said.workflow }),
    ...(filter.agent === undefined ? {} : { agent: filter.agent }),
  };
  const { found, complete } = await inspection.sessions(wanted);
  if (json) for (const session of found) terminal.print(`${JSON.stringify(sessionShape(session))}\n`);
  else if (found.length > 0) terminal.print(writeTable(sessionColumns, found, terminal.paint));
  if (!complete) terminal.tell('only the 10000 open sessions that were used last were looked at.\n');
  if (json || found.length > 0) return exitCodes.done.code;
  const any = Object.keys(wanted).length > 1;
  terminal.tell(any ? 'no session matches these options.\n' : 'no workflow session is on record yet.\n');
  return exitCodes.done.code;
}

const sessionColumns: readonly Column<WalkedSession>[] = [
  { title: 'LAST USED', text: ({ usedAtMs }) => timeOf(usedAtMs) },
  { title: 'SESSION', text: ({ id }) => id, style: () => 'cyan' },
  { title: 'STATUS', text: ({ status }) => status, style: ({ status }) => styles[status] },
  { title: 'WORKFLOW', text: ({ workflow }) => workflow.name, style: () => 'bold' },
  { title: 'SEQ', text: ({ seq }) => String(seq) },
  { title: 'AGENT', text: ({ agent }) => agent },
];

const styles: Readonly<Record<SessionStatus, Style>> = {
  open: 'cyan',
  done: 'green',
  stopped: 'red',
  cancelled: 'yellow',
  closed: 'dim',
};

export async function showSession(
  { argument: given, limit, json }: Command,
  inspection: SessionInspection,
  terminal: Terminal,
): Promise<ExitCode> {
  const argument = await resolveId(given, 'look', inspection.meant, terminal);
  if (typeof argument === 'number') return argument;
  const story = await inspection.session(argument, limit);
  if (story === null) return reportNoSession(argument, terminal);
  terminal.print(json ? `${JSON.stringify(sessionStoryShape(story))}\n` : writeStory(story, terminal.paint));
  return exitCodes.done.code;
}

function writeStory({ session, version, state, fences, history }: SessionStory, paint: Paint): string {
  const { workflow } = session;
  const { value, context, timers } = isObject(state) ? state : { value: state, context: null, timers: [] };
  const title = `${paint('cyan', harmless(session.id))}  ${paint('bold', harmless(workflow.name))}`;
  const reason = workflow.reason === null ? '' : `  ${harmless(workflow.reason)}`;
  const pairs: Pair[] = [
    ['agent', `${session.agent} (tenant ${session.tenant})`],
    ['seq', `${session.seq}, after ${session.entries} records`],
    ['opened', timeOf(session.openedAtMs)],
    ['last used', timeOf(session.usedAtMs)],
    ['version', `${version ?? '(not kept)'}, manifest ${workflow.manifest.slice(0, 12)}`],
    ['turn', workflow.turn === null ? 'nobody has it' : `${workflow.turn.call} has it, for ${workflow.turn.operation}`],
    ['state', state === null ? '(not kept)' : valueLines(value, longest)],
    ['context', valueLines(context, longest)],
  ];
  return [
    `${title}  ${paint(styles[session.status], session.status)}${reason}\n`,
    writePairs(pairs, paint),
    section('Timers', Array.isArray(timers) ? timers.map(writeTimer) : [], 'no timer waits', paint),
    section(
      'Fences',
      fences.map(({ operation, call }) => `${call.id}  ${call.state}  ${operation}  ${fenceAdvice(call.state)}`),
      'nothing is fenced',
      paint,
    ),
    `${paint('bold', 'History')}\n${history.length === 0 ? '  nothing yet\n' : history.map((entry) => `  ${writeEntry(entry, paint)}`).join('')}`,
  ].join('\n');
}

const fenceAdvice = (state: string): string =>
  state === 'IN_DOUBT' ? 'settle it: recourse calls settle' : 'the next equal step takes its result';

function section(title: string, lines: readonly string[], none: string, paint: Paint): string {
  const shown = lines.length === 0 ? [paint('dim', none)] : lines.map(harmless);
  return `${paint('bold', title)}\n${shown.map((line) => `  ${line}\n`).join('')}`;
}

function writeTimer(timer: unknown): string {
  const { id, dueAtMs, event } = isObject(timer) ? timer : { id: timer, dueAtMs: null, event: null };
  const at = typeof dueAtMs === 'number' ? timeOf(dueAtMs) : '?';
  const { type, action, call } = isObject(event) ? event : {};
  // A stage that could not be recovered, and is taken again by itself.
  if (type === laterType) return `${at}  ${quoteWord(action)} is tried again, as in ${String(call)}`;
  return `${at}  ${quoteWord(id)}`;
}

const longest = 8_000;

export async function tailSession(
  { argument: given, lines, follow, json }: Command,
  inspection: SessionInspection,
  terminal: Terminal,
  timer: Timer,
): Promise<ExitCode> {
  const argument = await resolveId(given, 'look', inspection.meant, terminal);
  if (typeof argument === 'number') return argument;
  const print = (entry: HistoryEntry) =>
    terminal.print(json ? `${JSON.stringify(entry)}\n` : writeEntry(entry, terminal.paint));
  if (!follow) {
    const newest = await inspection.history(argument, lines);
    if (newest === null) return reportNoSession(argument, terminal);
    for (const entry of newest) print(entry);
    return exitCodes.done.code;
  }
  // Ctrl-C is a regular end, also before the first line.
  const { wait, stopListening } = pollUntilStopped(terminal, timer);
  try {
    // At least one, to know where to continue.
    const newest = await inspection.history(argument, Math.max(1, lines));
    if (newest === null) return reportNoSession(argument, terminal);
    for (const entry of lines === 0 ? [] : newest) print(entry);
    const running = newest.flatMap(({ entry, outcome }) => (outcome === 'running' ? [entry] : []));
    for await (const entry of inspection.follow(argument, newest.at(-1)?.entry ?? 0, running, wait)) print(entry);
  } finally {
    stopListening();
  }
  return exitCodes.done.code;
}

export function reportNoSession(handle: string, terminal: Terminal): ExitCode {
  const advice = 'check the handle, or look for it with: recourse sessions ls';
  terminal.tell(`recourse: no workflow session '${harmless(handle)}' is on record; ${advice}\n`);
  return exitCodes.no.code;
}

const mostLines = 1_000;
const longestValue = 200;

export async function diffSessions(
  command: Command,
  inspection: SessionInspection,
  terminal: Terminal,
): Promise<ExitCode> {
  const found = await statesToCompare(command, inspection, terminal);
  if (typeof found === 'number') return found;
  const { handle, other, before, after } = found;
  const differences = diffStates(stateShape(before.state), stateShape(after.state));
  if (command.json) {
    for (const each of differences) terminal.print(`${JSON.stringify(each)}\n`);
    return exitCodes.done.code;
  }
  const shown = differences.slice(0, mostLines).map((each) => writeDifference(each, terminal.paint));
  terminal.print(shown.join(''));
  const said = differences.length === 0 ? 'nothing differs' : counted(differences.length);
  const more = differences.length > mostLines ? `; ${mostLines} shown, --json shows all of them` : '';
  const places = `${harmless(handle)} at ${before.seq} and ${other === handle ? '' : `${harmless(other)} at `}${after.seq}`;
  terminal.tell(terminal.paintTold('dim', `${said} between ${places}${more}.\n`));
  return exitCodes.done.code;
}

type KeptState = Extract<StateAt, { kind: 'state' }>;

interface ComparedStates {
  readonly handle: string;
  readonly other: string;
  readonly before: KeptState;
  readonly after: KeptState;
}

/** The exit code if one of them cannot be found. */
async function statesToCompare(
  { words }: Command,
  inspection: SessionInspection,
  terminal: Terminal,
): Promise<ComparedStates | ExitCode> {
  const [given = '', from = '', to] = words;
  const seq = seqOf(from);
  if (seq === null) {
    terminal.tell(
      `recourse: '${harmless(from)}' is not a sequence number: name a step of ${harmless(given)}, from 0. Try: recourse sessions diff --help\n`,
    );
    return exitCodes.usage.code;
  }
  const otherSeq = to === undefined ? null : seqOf(to);
  const handle = await resolveId(given, 'look', inspection.meant, terminal);
  if (typeof handle === 'number') return handle;
  const isOther = to !== undefined && otherSeq === null;
  const other = isOther ? await resolveId(to, 'look', inspection.meant, terminal) : handle;
  if (typeof other === 'number') return other;
  const before = await inspection.stateAt(handle, seq);
  if (before.kind !== 'state') return reportNoState(handle, before, terminal);
  const after = await inspection.stateAt(other, otherSeq);
  return after.kind === 'state' ? { handle, other, before, after } : reportNoState(other, after, terminal);
}

/** Null if it is not a whole number from 0. */
function seqOf(word: string): number | null {
  return /^\d{1,15}$/.test(word) ? Number(word) : null;
}

function reportNoState(handle: string, found: Exclude<StateAt, { kind: 'state' }>, terminal: Terminal): ExitCode {
  if (found.kind === 'no_session') return reportNoSession(handle, terminal);
  const { seq, first, last } = found;
  const advice = seq > last || first === null ? `the last one is ${last}` : `those from ${first} to ${last} are`;
  terminal.tell(`recourse: the state of ${harmless(handle)} at ${seq} is not kept; ${advice}\n`);
  return exitCodes.no.code;
}

function writeDifference({ op, path, before, after }: Difference, paint: Paint): string {
  const at = harmless(path === '' ? '/' : path);
  if (op === 'add') return `${paint('green', '+')} ${at}  ${brief(after)}\n`;
  if (op === 'remove') return `${paint('red', '-')} ${at}  ${brief(before)}\n`;
  return `${paint('yellow', '~')} ${at}  ${brief(before)} → ${brief(after)}\n`;
}

function brief(value: Json): string {
  const text = quoteValue(value);
  return text.length <= longestValue ? text : `${cut(text, longestValue)}…`;
}

const counted = (count: number): string => (count === 1 ? 'one path differs' : `${count} paths differ`);
