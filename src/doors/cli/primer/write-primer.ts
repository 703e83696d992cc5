/**
 * Writes the steps of the primer. The first success and the first refusal are shown whole, later ones without what
 * repeats.
 */
import { isObject } from '../../../core/values/json.ts';
import type { Told } from './play-primer.ts';
import { harmless, type Paint, type Style } from '../terminal.ts';

export const opening = [
  'A real gateway runs here, in this process, on a temporary store. An agent runs a coffee bar with it and meets',
  'one of each kind of reply that a call without a workflow can get.',
  '',
  '  → what it sends    ← what it gets    ✎ what it learns',
  '',
  'The first success and the first refusal are whole; later ones leave out what repeats (--json never does).',
];

/** Shown in the head of a reply. */
const inHead = new Set(['error', 'pending', 'replayed']);
/** Nearly always the same, or repeated by another field; shown only if empty. */
const repeated = new Set(['requested', 'class', 'session', 'valid_next_actions', 'known_actions']);
const doubled = new Set(['action', 'state', 'details', 'error_message', 'human_message']);
const order = ['code', 'effect', 'message', 'reason', 'result', 'errors'];
const last = ['resolution', 'call_id', 'seq'];

type Reply = Readonly<Record<string, unknown>>;

export function createPrimerWriter(paint: Paint) {
  let number = 0;
  const shownInFull = new Set<string>();

  return ({ step, request, reply, asExpected }: Told): string => {
    number += 1;
    const fields = isObject(reply) ? fieldsOf(reply, isWhole(reply)) : [];
    const width = Math.max(0, ...fields.map(([name]) => name.length));
    return [
      step.chapter === undefined ? '' : `\n${paint('bold', step.chapter)}\n`,
      `\n${String(number).padStart(3)}  ${step.say}\n`,
      `     → ${writeRequest(request, paint)}\n`,
      `     ← ${headOf(reply, paint)}\n`,
      ...fields.map(
        ([name, value]) => `         ${paint('dim', name.padEnd(width))}  ${indented(value, width + 11)}\n`,
      ),
      `     ✎ ${paint('green', step.learn)}\n`,
      asExpected ? '' : `     ${paint('red', `✗ the story expected ${JSON.stringify(step.expect)}`)}\n`,
    ].join('');
  };

  function isWhole(reply: Reply): boolean {
    if (!('call_id' in reply)) return true;
    const sort = 'error' in reply ? 'refusal' : 'success';
    if (shownInFull.has(sort)) return false;
    shownInFull.add(sort);
    return true;
  }
}

function writeRequest(request: unknown, paint: Paint): string {
  if (!isObject(request)) return written(request);
  const { tool, args, ...rest } = request;
  if (tool === undefined) {
    const [[verb, what] = ['', {}]] = Object.entries(request);
    return `${paint('bold', verb)} ${written(what)}`;
  }
  const more = Object.entries(rest).map(([name, value]) => `  ${paint('dim', name)} ${plain(value)}`);
  return `${paint('bold', String(tool))} ${written(args)}${more.join('')}`;
}

function headOf(reply: unknown, paint: Paint): string {
  if (!isObject(reply)) return written(reply);
  const again = reply['replayed'] === true ? paint('dim', '  replayed: true') : '';
  const say = (style: Style, text: string) => `${paint(style, text)}${again}`;
  if (typeof reply['error'] === 'string') return say(reply['effect'] === 'unknown' ? 'red' : 'yellow', reply['error']);
  if (reply['pending'] === true) return say('cyan', 'pending');
  if (!('call_id' in reply)) return say('green', 'done');
  return say('green', Array.isArray(reply['errors']) ? 'success, in part' : 'success');
}

function fieldsOf(reply: Reply, whole: boolean): readonly (readonly [name: string, value: string])[] {
  const isEmpty = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0);
  const shown = Object.entries(reply).filter(([name, value]) => {
    if (inHead.has(name)) return false;
    if (whole) return true;
    return repeated.has(name) ? isEmpty(value) && name !== 'session' : !doubled.has(name) && value !== null;
  });
  return shown
    .sort(([a], [b]) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1))
    .map(([name, value]) => [name, writeValue(name, value, whole)]);
}

function rankOf(name: string): number {
  if (order.includes(name)) return order.indexOf(name);
  return order.length + 1 + last.indexOf(name);
}

function writeValue(name: string, value: unknown, whole: boolean): string {
  if (name === 'errors' && Array.isArray(value)) return value.map(written).join('\n');
  if (name !== 'resolution' || !isObject(value) || whole) return plain(value);
  const { type, actions, ...rest } = value;
  const more = Array.isArray(actions)
    ? '  any of valid_next_actions'
    : Object.entries(rest)
        .map(([key, each]) => `  ${key} ${plain(each)}`)
        .join('');
  return `${String(type)}${more}`;
}

const indented = (value: string, by: number): string => value.split('\n').join(`\n${' '.repeat(by)}`);

const plain = (value: unknown): string => (typeof value === 'string' ? harmless(value) : written(value));

/** JSON, with long texts shortened. */
function written(value: unknown): string {
  const cut = (_: string, each: unknown) =>
    typeof each === 'string' && each.length > 130 ? `${each.slice(0, 20)}… (${each.length} characters)` : each;
  return harmless(JSON.stringify(value, cut) ?? 'undefined');
}
