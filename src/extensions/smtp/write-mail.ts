/**
 * Writes a mail about the events of a batch, as plain text: what happened, about whom, and where a person finds it.
 * Arguments and results are left out. The same batch gives the same mail at every try. Pure.
 */
import { type Notice, spellOut, type ToldEvent } from '../../extension/index.ts';

export interface Mail {
  readonly messageId: string;
  readonly subject: string;
  readonly date: Date;
  readonly text: string;
}

const maxValueChars = 500;
/** Events that the subject names; the rest is in the text. */
const maxNamed = 4;

/** A mail that is longer ends with a note. */
const maxMailChars = 100_000;

export function writeMail(notice: Notice, from: string): Mail {
  const { id, subscriber, told, count } = notice;
  const rest = count - told.length;
  const omitted = Object.entries(notice.omitted).map(([event, each]) => `${each} ${event}`);
  const lines = [
    ...told.flatMap((each) => linesOf(each)),
    ...(rest === 0 ? [] : [`And ${rest} more that are only counted: ${omitted.join(', ')}.`, '']),
    `Told to '${subscriber}' of notify in recourse.yaml. Id: ${id}`,
  ];
  const text = lines.join('\n');
  return {
    // INVARIANT: a header holds only words, counts and names of our own: nothing that an agent or a tool wrote.
    messageId: `<${id}.${subscriber}@${domainOf(from)}>`,
    subject: `[recourse] ${subjectOf(notice)}`,
    date: new Date(notice.lastMs),
    text: text.length <= maxMailChars ? text : `${text.slice(0, maxMailChars)}…\n(cut here)`,
  };
}

function subjectOf({ told, count, omitted }: Notice): string {
  if (count === 1) return told[0].title;
  const counts = new Map<string, number>(Object.entries(omitted));
  for (const { event } of told) counts.set(event, (counts.get(event) ?? 0) + 1);
  const all = [...counts].toSorted(([, one], [, other]) => other - one).map(([event, each]) => `${each} ${event}`);
  return `${count} events: ${all.slice(0, maxNamed).join(', ')}${all.length > maxNamed ? ', …' : ''}`;
}

function linesOf(each: ToldEvent): readonly string[] {
  const { approval, ticket } = each;
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ['tool', each.tool],
    ['agent', each.agent],
    ['tenant', each.tenant],
    ['upstream', each.upstream],
    ['call', each.call_id],
    ['approval', approval?.approval_id],
    ['reason', approval?.reason],
    ['ticket', ticket?.ticket_id],
    ['queue', ticket?.queue],
    ['link', each.link],
  ];
  return [
    `${each.title} (${each.event}, ${each.kind}) at ${each.at}`,
    `  ${short(each.message)}`,
    ...facts.flatMap(([name, value]) => (value === null || value === undefined ? [] : [`  ${name}: ${short(value)}`])),
    '',
  ];
}

/** On one line: what others wrote makes no line of its own. */
function short(value: string): string {
  const seen = spellOut(value);
  return seen.length <= maxValueChars ? seen : `${seen.slice(0, maxValueChars)}…`;
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);
