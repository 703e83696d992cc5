/**
 * The commands `calls ls` and `calls show`: lists calls, and shows one with its arguments, reply, gates and records.
 */
import { cut } from '../../../core/values/canonical.ts';
import type { ErrorReply } from '../../../core/call/reply.ts';
import { renderForPerson } from '../../../core/recovery/render-error.ts';
import { isObject } from '../../../core/values/json.ts';
import { quoteWord } from '../../../core/values/quote.ts';
import { callStates, type CallState } from '../../../core/taxonomy/call-states.ts';
import type { CallStory, GateAnswered, Inspection, StoredCall, StoredText } from '../../../shell/look/inspect.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { callShape, parsed, storyShape, timeOf } from '../print/shapes.ts';
import { type Column, type Pair, valueLines, writePairs, writeTable } from '../print/table.ts';
import { harmless, type Paint, type Style, type Terminal } from '../terminal.ts';
import { resolveId } from '../resolve-id.ts';
import { writeRecordStory } from '../print/write-record.ts';
import { timelineOf } from '../../../core/recovery/timeline.ts';
import { writeTimeline } from '../recovery/write-timeline.ts';

export async function listCalls(command: Command, inspection: Inspection, terminal: Terminal): Promise<ExitCode> {
  const { limit, filter, json } = command;
  const calls = await inspection.calls({ ...filter, limit });
  if (json) for (const call of calls) terminal.print(`${JSON.stringify(callShape(call))}\n`);
  else if (calls.length > 0) terminal.print(writeTable(callColumns, calls, terminal.paint));
  if (json) return exitCodes.done.code;
  const last = calls.at(-1);
  if (last === undefined) {
    const asked = Object.keys(filter).length > 0;
    terminal.tell(asked ? 'no call matches these options.\n' : 'no call is on record yet.\n');
  } else if (calls.length === limit) {
    terminal.tell(terminal.paintTold('dim', `\n${calls.length} shown; older ones: --before ${harmless(last.id)}\n`));
  }
  return exitCodes.done.code;
}

const callColumns: readonly Column<StoredCall>[] = [
  { title: 'CREATED', text: (call) => timeOf(call.createdAtMs) },
  { title: 'CALL', text: (call) => call.id, style: () => 'cyan' },
  { title: 'STATE', text: (call) => call.state, style: (call) => styleOfState(call.state) },
  { title: 'TOOL', text: (call) => call.tool || '(unreadable)', style: () => 'bold' },
  { title: 'SENT', text: (call) => `${call.attempt}×` },
  { title: 'AGENT', text: (call) => call.agent },
  { title: 'SESSION', text: (call) => call.session ?? '-' },
];

const styles: Readonly<Partial<Record<CallState, Style>>> = {
  SUCCEEDED: 'green',
  IN_DOUBT: 'red',
  CLOSED_UNKNOWN: 'red',
  DENIED: 'yellow',
  FAILED: 'yellow',
  REJECTED: 'yellow',
  EXPIRED: 'yellow',
};

const styleOfState = (state: CallState): Style => styles[state] ?? 'cyan';

export async function showCall(command: Command, inspection: Inspection, terminal: Terminal): Promise<ExitCode> {
  const id = await resolveId(command.argument, 'look', inspection.meant, terminal);
  if (typeof id === 'number') return id;
  const story = await inspection.call(id);
  if (story === null) {
    const advice = 'check the id, or look for it with: recourse calls ls';
    terminal.tell(`recourse: no call '${harmless(id)}' is on record; ${advice}\n`);
    return exitCodes.no.code;
  }
  terminal.print(command.json ? `${JSON.stringify(storyShape(story))}\n` : writeStory(story, terminal.paint));
  return exitCodes.done.code;
}

/** The step whose result this one adopted; null if it was sent itself. */
function adopted({ records }: CallStory): string | null {
  for (const { kind, body } of records) {
    const { from } = kind === 'adopted' ? (JSON.parse(body) as { from?: string }) : {};
    if (from !== undefined) return from;
  }
  return null;
}

function writeStory(story: CallStory, paint: Paint): string {
  const { call, effect, facts } = story;
  const { meaning, operator } = meaningOfState(call.state);
  const title = `${paint('cyan', harmless(call.id))}  ${paint('bold', harmless(call.tool || '(unreadable)'))}`;
  const state = `${paint(styleOfState(call.state), call.state)}  effect ${effect}`;
  const left = call.requesterLeftAtMs;
  const adoptedFrom = adopted(story);
  const pairs: Pair[] = [
    ['agent', `${call.agent} (tenant ${call.tenant})`],
    ['session', call.session === null ? '-' : `${call.session}, at sequence ${call.seq}`],
    ...(call.turn === null ? [] : [['turn', call.turn] as const]),
    ['key', call.key ?? '-'],
    ['effect class', call.effectClass],
    ['sent', adoptedFrom === null ? `${call.attempt}×` : `never: it adopted the result of ${adoptedFrom}`],
    ['created', timeOf(call.createdAtMs)],
    ['deadline', timeOf(call.deadlineAtMs)],
    ...(left === null ? [] : [['requester', `left at ${timeOf(left)} without the reply`] as const]),
    ...writeLinks(story),
    ...(call.repeats === 0 ? [] : [['repeated', `the same refusal was given ${call.repeats}× more`] as const]),
    ...writePerson(story.reply),
    ['arguments', writeText(story.args)],
    ['reply', writeText(story.reply)],
  ];
  const seen = Object.entries(facts ?? {}).flatMap(([name, value]) =>
    name === 'gates' ? [] : [[name, brief(value)] as const],
  );
  const recovered = timelineOf(story.records);
  return [
    `${title}  ${state}\n  ${meaning}${operator.startsWith('Nothing') ? '' : ` Operator: ${operator}`}\n`,
    writePairs(pairs, paint),
    ...(recovered.length === 0 ? [] : [`${paint('bold', 'What happened')}\n${writeTimeline(recovered, paint)}`]),
    `${paint('bold', 'Gates')}\n${writeGates(story.gates, paint)}`,
    `${paint('bold', 'Facts')}\n${seen.length === 0 ? '  none on record\n' : writePairs(seen, paint)}`,
    `${paint('bold', 'Timeline')}\n${story.records.map((record) => `${writeRecordStory(record, paint)}\n`).join('')}`,
  ].join('\n');
}

/** The call that this one undoes, and the one that undid it. */
function writeLinks({ links }: CallStory): readonly Pair[] {
  const { reverses, reversedBy } = links;
  return [
    ...(reverses === null ? [] : [['reverses', reverses] as const]),
    ...(reversedBy === null ? [] : [['reversed by', reversedBy] as const]),
  ];
}

/** A file may hold states of another version. */
function meaningOfState(state: string): { readonly meaning: string; readonly operator: string } {
  const entries: Readonly<Record<string, { readonly meaning: string; readonly operator: string }>> = callStates;
  return entries[state] ?? { meaning: 'A state that this version does not know.', operator: 'Use a newer version.' };
}

/** Gates that were asked on one line, those that are not configured on another. */
function writeGates(gates: readonly GateAnswered[], paint: Paint): string {
  const asked = gates.filter(({ answer }) => answer !== 'absent').map((each) => writeGate(each, paint));
  const absent = gates.filter(({ answer }) => answer === 'absent').map(({ gate }) => gate);
  const lines = [asked.join('  '), paint('dim', `– not configured: ${absent.join(', ')}`)];
  const none = ['none was asked: the call was refused while it was admitted'];
  return (asked.length === 0 ? none : lines).map((line) => `  ${line}\n`).join('');
}

function writeGate({ gate, answer }: GateAnswered, paint: Paint): string {
  if (answer === 'passed') return paint('green', `✓ ${gate}`);
  return answer === 'refused' ? paint('red', `✗ ${gate} refused`) : paint('dim', `· ${gate} not asked`);
}

/** What a failure means to a person; nothing for a success. */
function writePerson(stored: StoredText): readonly Pair[] {
  const reply = stored.kind === 'text' ? parsed(stored.text) : null;
  if (!isObject(reply) || !('error' in reply) || !isObject(reply['resolution'])) return [];
  const { sentence, effect, todo } = renderForPerson(reply as unknown as ErrorReply);
  return [
    ['failed', sentence],
    ['effect', effect],
    ['what to do', todo],
  ];
}

const longest = 4_000;

function writeText(stored: StoredText): string | readonly string[] {
  if (stored.kind === 'altered') return '(altered in the file: run recourse audit verify)';
  if (stored.kind !== 'text') return stored.kind === 'erased' ? '(erased)' : '(none)';
  return valueLines(parsed(stored.text), longest);
}

const brief = (value: unknown): string => {
  const text = quoteWord(value);
  return text.length <= longest ? text : `${cut(text, longest)}…`;
};
