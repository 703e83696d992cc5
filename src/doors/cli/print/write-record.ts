/** Writes a record of the journal as one line, or as a few lines of a call's story. */
import { cut } from '../../../core/values/canonical.ts';
import { isObject } from '../../../core/values/json.ts';
import { quoteWord } from '../../../core/values/quote.ts';
import { lineOf } from '../../../core/recovery/timeline.ts';
import type { ExplainedRecord } from '../../../shell/look/inspect.ts';
import { parsed, timeOf } from './shapes.ts';
import { harmless, type Paint } from '../terminal.ts';

/** One line for a list: what happened to which call. */
export function writeRecordLine(record: ExplainedRecord, paint: Paint): string {
  const place = paint('dim', placeOf(record).padEnd(8));
  const kind = paint('bold', harmless(record.kind)) + ' '.repeat(Math.max(0, longestKind - record.kind.length));
  const about = record.call === null ? record.meaning : paint('cyan', harmless(record.call));
  // Messages are payloads, which a list does not show.
  const told = lineOf({ ...record, payloads: [] });
  const says = told === null ? factsOf(record) : `${told.what} ${harmless(told.says)}`;
  const facts = record.call === null ? '' : `  ${paint('dim', says)}`;
  return `${timeOf(record.timeMs)}  ${place}  ${kind}  ${about}${facts}\n`;
}

/** A few lines for the story of one call: its meaning, the decision, the stored parts. */
export function writeRecordStory(record: ExplainedRecord, paint: Paint): string {
  const facts = factsOf(record);
  const kept = record.payloads
    .map(({ part, text }) => `${harmless(part)}${text === null ? ' (erased)' : ''}`)
    .join(', ');
  return [
    `  ${timeOf(record.timeMs)}  ${paint('dim', placeOf(record))}  ${paint('bold', harmless(record.kind))}`,
    `      ${record.meaning}`,
    ...(facts === '' ? [] : [`      ${paint('dim', facts)}`]),
    ...(kept === '' ? [] : [`      ${paint('dim', `keeps: ${kept}`)}`]),
  ].join('\n');
}

const longestKind = 21;
const longestValue = 40;

const placeOf = ({ epoch, seq }: ExplainedRecord): string => `${epoch}/${seq}`;

/** Fields of the body that are not shown, because they are shown elsewhere. */
const elsewhere = new Set(['facts', 'tenant', 'agent', 'turn', 'manifest', 'recognised', 'detail', 'class', 'verdict']);

function factsOf(record: ExplainedRecord): string {
  const body = parsed(record.body);
  return isObject(body) ? pairsOf(body).join(' · ') : harmless(record.body);
}

function pairsOf(fields: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (value === null || elsewhere.has(name)) return [];
    if (isObject(value)) return pairsOf(value);
    const time = name.endsWith('_ms') && typeof value === 'number' && value > 1e12;
    if (time) return [`${harmless(name.slice(0, -'_ms'.length))} ${timeOf(value)}`];
    const text = quoteWord(value);
    return [`${harmless(name)} ${text.length > longestValue ? `${cut(text, longestValue)}…` : text}`];
  });
}
