/**
 * The story of a call that failed at least once, from its records: attempt, verdict, wait, attempt, outcome, ticket.
 * Pure; a record that cannot be read is left out.
 */
import { isObject, type Json, type JsonObject } from '../values/json.ts';

export interface TimelineRecord {
  readonly kind: string;
  readonly timeMs: number;
  readonly body: string;
  readonly payloads: readonly { readonly part: string; readonly text: string | null }[];
}

export interface TimelineLine {
  /** Since the first record of the call. */
  readonly after_ms: number;
  readonly what: 'attempt' | 'verdict' | 'wait' | 'outcome' | 'ticket' | 'stage';
  readonly says: string;
}

/** Empty if nothing failed and it is no stage. */
export function timelineOf(records: readonly TimelineRecord[]): readonly TimelineLine[] {
  if (!records.some(isTold)) return [];
  const startMs = records[0]?.timeMs ?? 0;
  return records.flatMap((record) => {
    const line = lineOf(record);
    return line === null ? [] : [{ after_ms: record.timeMs - startMs, ...line }];
  });
}

const isTold = ({ kind, body }: TimelineRecord): boolean =>
  kind === 'attempt_finished' || kind === 'stage_phase' || failedItems(fieldsOf(body)) > 0;

/** `attempt 2, act`: the attempt of the stage, above those of its calls. */
function stageSays(body: JsonObject): string {
  const { phase, stage_attempt: attempt, pass, code, outcome } = body;
  const again = pass === 1 ? '' : `, pass ${textOf(pass)}`;
  const how = code === undefined ? '' : ` after ${textOf(code)}`;
  const end = outcome === undefined ? '' : `, ${textOf(outcome)}`;
  return `attempt ${textOf(attempt)}${again}, ${textOf(phase)}${end}${how}`;
}

type Line = Omit<TimelineLine, 'after_ms'>;

/** What one record tells of the recovery of its call; null if nothing. */
export function lineOf(record: TimelineRecord): Line | null {
  const body = fieldsOf(record.body);
  const word = (name: string): string => textOf(body[name]);
  switch (record.kind) {
    case 'attempt_finished':
      return { what: 'attempt', says: attemptSays(body, record) };
    case 'failure_classified': {
      const unknown = body['recognised'] === false ? ', not recognised' : '';
      return { what: 'verdict', says: `${word('verdict')}${unknown}, effect ${word('effect')}` };
    }
    case 'verdict_changed':
      return { what: 'verdict', says: `another than before: ${word('from')}` };
    case 'compensation_selected': {
      const action = isObject(body['compensation']) ? (body['compensation'] as JsonObject) : {};
      return { what: 'verdict', says: `the playbook says ${textOf(action['kind'])}` };
    }
    case 'attempt_scheduled':
      return { what: 'wait', says: `${durationOf(body['pause_ms'])}, then attempt ${word('attempt')}` };
    case 'dispatch_settled':
      return { what: 'outcome', says: outcomeSays(body) };
    case 'ticket_opened':
      return { what: 'ticket', says: `${word('ticket')} in queue ${word('queue')}` };
    case 'retry_planned':
      return keptSays(body);
    case 'stage_phase':
      return { what: 'stage', says: stageSays(body) };
    case 'settled':
      return partialOf(body) ?? successOf(body);
    default:
      return null;
  }
}

const failedItems = ({ end }: JsonObject): number =>
  isObject(end) && typeof (end as JsonObject)['failed_items'] === 'number'
    ? Number((end as JsonObject)['failed_items'])
    : 0;

function keptSays({ items }: JsonObject): Line | null {
  const { of, again } = isObject(items) ? (items as JsonObject) : {};
  if (typeof of !== 'number' || typeof again !== 'number') return null;
  return { what: 'outcome', says: `what was done is kept; ${again} of ${of} items are sent again` };
}

function partialOf(body: JsonObject): Line | null {
  const failed = failedItems(body);
  return failed === 0 ? null : { what: 'outcome', says: `partial result: ${failed} failed` };
}

function successOf(body: JsonObject): Line | null {
  const { attempt, elapsed_ms: elapsed, end } = body;
  // What a read or a person settled says nothing of an answer.
  if (!isObject(end) || !('bytes' in end) || typeof elapsed !== 'number') return null;
  if (typeof attempt !== 'number' || attempt < 2) return null;
  return { what: 'attempt', says: `${attempt}: succeeded after ${durationOf(elapsed)}` };
}

function attemptSays({ attempt, kind, subject }: JsonObject, { payloads }: TimelineRecord): string {
  const stored = payloads.find(({ part }) => part === 'error')?.text ?? null;
  const message = stored === null ? '' : textOf(fieldsOf(stored)['message']);
  const about = typeof subject === 'string' ? ` (${subject})` : '';
  return `${textOf(attempt)}: ${textOf(kind)}${about}${message === '' ? '' : `: ${message}`}`;
}

function outcomeSays({ outcome, reason, queue, why, attempts }: JsonObject): string {
  const more = [reason, why].flatMap((each) => (typeof each === 'string' ? [each] : []));
  const where = typeof queue === 'string' ? ` to ${queue}` : '';
  const sends = typeof attempts === 'number' ? ` after ${attempts} ${attempts === 1 ? 'send' : 'sends'}` : '';
  return `${textOf(outcome)}${where}${sends}${more.length === 0 ? '' : `: ${more.join('; ')}`}`;
}

/** As a person reads it: 200 ms, 7.5 s, 3 min. */
export function durationOf(ms: Json | undefined): string {
  if (typeof ms !== 'number') return '?';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 300_000 ? `${Number((ms / 1_000).toFixed(1))} s` : `${Number((ms / 60_000).toFixed(1))} min`;
}

const textOf = (value: Json | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

function fieldsOf(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}
