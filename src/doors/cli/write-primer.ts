/** How does the primer look on paper? The first success and the first refusal in full, later ones without what repeats. */
import { isObject } from '../../core/json.ts';
import type { Told } from './play-primer.ts';
import { harmless, type Paint, type Style } from './terminal.ts';

export const opening = [
  'A real gateway runs here, in this process, on a temporary store. An agent runs a coffee bar and meets',
  'every kind of reply there is so far. → is what it sends, ← what it gets, ✎ what it learns.',
];

/** In every reply, and the same nearly every time. */
const repeats = new Set(['requested', 'class', 'session', 'valid_next_actions', 'known_actions', 'human_message', 'state']);
const first = ['code', 'effect', 'message', 'reason'];

export function createPrimerWriter(paint: Paint) {
  let number = 0;
  const shownInFull = new Set<string>();

  return (told: Told): string => {
    const { step, request, reply, asExpected } = told;
    number += 1;
    const sort = isObject(reply) && 'error' in reply ? 'refusal' : 'success';
    const full = isObject(reply) && 'call_id' in reply && !shownInFull.has(sort);
    if (full) shownInFull.add(sort);
    const fields = isObject(reply) ? fieldsOf(reply, full) : [];
    const width = Math.max(0, ...fields.map(([name]) => name.length));
    return [
      step.chapter === undefined ? '' : `\n${paint('bold', step.chapter)}\n`,
      `\n${String(number).padStart(3)}  ${step.say}\n`,
      `     → ${writeRequest(request, paint)}\n`,
      `     ← ${headOf(reply, paint)}\n`,
      ...fields.map(([name, value]) => `         ${paint('dim', name.padEnd(width))}  ${indented(value, width + 11)}\n`),
      `     ✎ ${paint('green', step.learn)}\n`,
      asExpected ? '' : `     ${paint('red', `✗ the story expected ${JSON.stringify(step.expect)}`)}\n`,
    ].join('');
  };
}

function writeRequest(request: unknown, paint: Paint): string {
  if (!isObject(request)) return written(request);
  const { tool, args, ...rest } = request;
  if (tool === undefined) return written(request);
  const more = Object.entries(rest).map(([name, value]) => `  ${paint('dim', name)} ${written(value)}`);
  return `${paint('bold', String(tool))} ${written(args)}${more.join('')}`;
}

function headOf(reply: unknown, paint: Paint): string {
  if (!isObject(reply)) return written(reply);
  const say = (style: Style, text: string) => paint(style, text) + (reply['replayed'] === true ? paint('dim', ' (replayed)') : '');
  if (typeof reply['error'] === 'string') return say(reply['effect'] === 'unknown' ? 'red' : 'yellow', reply['error']);
  if (reply['pending'] === true) return say('cyan', 'pending');
  return say('green', Array.isArray(reply['errors']) ? 'success, in part' : 'success');
}

function fieldsOf(reply: Readonly<Record<string, unknown>>, full: boolean): readonly (readonly [string, string])[] {
  const inHead = new Set(['error', 'pending', 'replayed']);
  const isShown = ([name, value]: readonly [string, unknown]) => {
    if (inHead.has(name)) return false;
    if (full) return true;
    if (name === 'valid_next_actions' || name === 'requested') return value === null || (Array.isArray(value) && value.length === 0);
    return !repeats.has(name) && value !== null && name !== 'action';
  };
  const rank = ([name]: readonly [string, unknown]) => (first.includes(name) ? first.indexOf(name) : first.length);
  const shown = Object.entries(reply).filter(isShown);
  return shown.sort((a, b) => rank(a) - rank(b)).map(([name, value]) => [name, writeValue(name, value)]);
}

function writeValue(name: string, value: unknown): string {
  if (name === 'errors' && Array.isArray(value)) return value.map(written).join('\n');
  return typeof value === 'string' ? harmless(value) : written(value);
}

const indented = (value: string, by: number): string => value.split('\n').join(`\n${' '.repeat(by)}`);

/** JSON, with long texts cut where a person would stop reading. */
function written(value: unknown): string {
  const cut = (_: string, each: unknown) =>
    typeof each === 'string' && each.length > 60 ? `${each.slice(0, 20)}… (${each.length} characters)` : each;
  return harmless(JSON.stringify(value, cut) ?? 'undefined');
}
