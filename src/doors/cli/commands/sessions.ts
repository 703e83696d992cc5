/** The commands `sessions ls`, `show` and `tail`: which sessions there are, where one stands, how it came there. */
import { isObject } from '../../../core/values/json.ts';
import { nearest } from '../../../core/values/nearest.ts';
import { quoteWord } from '../../../core/values/quote.ts';
import {
  type HistoryEntry,
  type SessionInspection,
  type SessionStatus,
  sessionStatuses,
  type SessionStory,
  type WalkedSession,
} from '../../../shell/look/inspect-sessions.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { sessionShape, sessionStoryShape } from '../print/session-shapes.ts';
import { timeOf } from '../print/shapes.ts';
import { type Column, type Pair, valueLines, writePairs, writeTable } from '../print/table.ts';
import { harmless, type Paint, type Style, type Terminal } from '../terminal.ts';
import { type Timer, untilStopped } from '../until-stopped.ts';
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
  terminal.tell(any ? 'no session fits these options.\n' : 'no workflow session is on record yet.\n');
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
  if (story === null) return sayNoSession(argument, terminal);
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
  const { id, dueAtMs } = isObject(timer) ? timer : { id: timer, dueAtMs: null };
  return `${typeof dueAtMs === 'number' ? timeOf(dueAtMs) : '?'}  ${quoteWord(id)}`;
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
    if (newest === null) return sayNoSession(argument, terminal);
    for (const entry of newest) print(entry);
    return exitCodes.done.code;
  }
  // From before the first line on, Ctrl-C is an end in good order.
  const { wait, stopListening } = untilStopped(terminal, timer);
  try {
    // One at least, to know where to go on from.
    const newest = await inspection.history(argument, Math.max(1, lines));
    if (newest === null) return sayNoSession(argument, terminal);
    for (const entry of lines === 0 ? [] : newest) print(entry);
    const running = newest.flatMap(({ entry, outcome }) => (outcome === 'running' ? [entry] : []));
    for await (const entry of inspection.follow(argument, newest.at(-1)?.entry ?? 0, running, wait)) print(entry);
  } finally {
    stopListening();
  }
  return exitCodes.done.code;
}

export function sayNoSession(handle: string, terminal: Terminal): ExitCode {
  const advice = 'check the handle, or look for it with: recourse sessions ls';
  terminal.tell(`recourse: no workflow session '${harmless(handle)}' is on record; ${advice}\n`);
  return exitCodes.no.code;
}
