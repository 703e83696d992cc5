/**
 * Writes a mail about the events of a batch, as plain text: what happened, about whom, and where a person finds it.
 * Arguments and results are left out. The same batch gives the same mail at every try. Pure.
 */
import type { WebhookEvent } from '../../../core/http/webhook-message.ts';
import { spellOut } from '../../../core/values/quote.ts';
import type { Described, Message } from '../follow/describe-occurrence.ts';
import { linkTo } from '../follow/link-to.ts';
import { titleOf } from '../follow/title-of.ts';
import type { Mailing } from './mailing.ts';

export interface Mail {
  readonly messageId: string;
  readonly subject: string;
  readonly date: Date;
  readonly text: string;
}

const maxValueChars = 500;
/** Events that the subject names; the rest is in the text. */
const maxNamed = 4;

export function writeMail(
  { id, batch, told }: Message,
  { name, from, link }: Pick<Mailing, 'name' | 'from' | 'link'>,
  maxChars: number,
): Mail {
  const rest = batch.count - told.length;
  const omitted = Object.entries(batch.omitted).map(([event, count]) => `${count} ${event}`);
  const lines = [
    ...told.flatMap((each) => linesOf(each, link)),
    ...(rest === 0 ? [] : [`And ${rest} more that are only counted: ${omitted.join(', ')}.`, '']),
    `Told to '${name}' of notify in recourse.yaml. Id: ${id}`,
  ];
  const text = lines.join('\n');
  return {
    // INVARIANT: a header holds only words, counts and names of our own: nothing that an agent or a tool wrote.
    messageId: `<${id}.${name}@${domainOf(from)}>`,
    subject: `[recourse] ${subjectOf(told, batch)}`,
    date: new Date(batch.lastMs),
    text: text.length <= maxChars ? text : `${text.slice(0, maxChars)}…\n(cut here)`,
  };
}

function subjectOf(told: Message['told'], { count, omitted }: Message['batch']): string {
  if (count === 1) return titleOf(told[0]);
  const counts = new Map<WebhookEvent, number>(Object.entries(omitted) as [WebhookEvent, number][]);
  for (const { event } of told) counts.set(event, (counts.get(event) ?? 0) + 1);
  const all = [...counts].toSorted(([, one], [, other]) => other - one).map(([event, each]) => `${each} ${event}`);
  return `${count} events: ${all.slice(0, maxNamed).join(', ')}${all.length > maxNamed ? ', …' : ''}`;
}

function linesOf(each: Described, link: string | null): readonly string[] {
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
    ['link', linkTo(link, approval?.approval_id ?? null)],
  ];
  return [
    `${titleOf(each)} (${each.event}, ${each.kind}) at ${each.at}`,
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
