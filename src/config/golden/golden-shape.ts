/** The shape of a golden's file. Data only. */
import {
  callStates,
  codes,
  compensations,
  effectClasses,
  effects,
  type ErrorKind,
  kinds,
  verdicts,
} from '../../core/taxonomy.ts';
import { recordKinds } from '../../core/journal/record.ts';
import { count, duration, type Field, flag, listOf, type Shape, text } from '../shape/shape.ts';

const week = 604_800_000;
const maxResults = 100;
const instant = '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,3})?Z$';
const json = (says: string): Shape => ({ kind: 'json', says, sort: 'map' });
const share = (says: string): Shape => ({ kind: 'number', says, least: 0, most: 1 });
const names = (table: object): readonly string[] => Object.keys(table);
const subjects = [...new Set((Object.keys(kinds) as ErrorKind[]).flatMap((kind) => [...kinds[kind].subjects]))];

const errorShape: Shape = {
  kind: 'fields',
  says: 'what the upstream said',
  fields: {
    kind: { shape: text('its kind', { oneOf: names(kinds) }), required: true },
    subject: { shape: text('what it was about', { oneOf: subjects }) },
    message: { shape: { kind: 'json', says: 'in its words', sort: 'text' } },
    retry_after: { shape: { kind: 'number', says: 'the pause that it asks for, in seconds', least: 0, most: 86_400 } },
  },
};

const resultShape: Shape = {
  kind: 'either',
  says: 'ok, timeout, or how the attempt ended',
  text: text('how the attempt ended', { oneOf: ['ok', 'timeout'] }),
  map: {
    kind: 'fields',
    says: 'how the attempt ended',
    fields: {
      status: { shape: text('its status', { oneOf: ['ok', 'partial', 'error', 'timeout'] }), required: true },
      error: { shape: errorShape },
      items: {
        shape: listOf(
          'with partial: the items that failed, of those that were sent',
          {
            kind: 'fields',
            says: 'an item that failed',
            fields: {
              item: { shape: text('its name') },
              kind: { shape: text('the kind of its failure', { oneOf: names(kinds) }), required: true },
              subject: { shape: text('what it was about', { oneOf: subjects }) },
              effect: { shape: text("the tool's own word about its effect", { oneOf: names(effects) }) },
            },
          },
          1,
          maxResults,
        ),
      },
      of: { shape: count('with partial: how many items were sent', 1, 10_000) },
      effect: { shape: text("the tool's own word about its effect", { oneOf: names(effects) }) },
      code: { shape: text('the code that the tool gave it', { oneOf: names(codes) }) },
      took: { shape: duration('how long it took', 0, week) },
      retry_budget: { shape: flag('whether the upstream has retries left') },
    },
  },
};

export const entryShape: Shape = {
  kind: 'fields',
  says: 'what is done about it',
  fields: {
    kind: { shape: text('the compensation', { oneOf: names(compensations) }), required: true },
    max_attempts: { shape: count('how many retries', 0, 20) },
    backoff_ms: { shape: listOf('the pauses', count('a pause in milliseconds', 0, 3_600_000), 0, 20) },
    jitter: { shape: share('the share by which a pause may differ') },
    then: { shape: text('what follows', { oneOf: ['retry', 'abort'] }) },
    queue: { shape: text('who gets the ticket') },
    reason: { shape: text('why') },
    replan: { shape: flag('always true') },
  },
};

const eventShape: Shape = {
  kind: 'either',
  says: 'a kind of record, or one with the fields that matter',
  text: text('a kind of record', { oneOf: names(recordKinds) }),
  map: {
    kind: 'named',
    says: 'a record with the fields that matter',
    key: ['^[a-z_]{1,64}$', 'a kind of record'],
    values: json('its fields'),
  },
};

export const goldenShape: Shape = {
  kind: 'fields',
  says: 'a golden',
  fields: {
    name: { shape: text('what it shows, in a sentence'), required: true },
    call: {
      required: true,
      shape: {
        kind: 'fields',
        says: 'the call',
        fields: {
          tool: { shape: text('its tool'), required: true },
          effect: { shape: text('its effect class', { oneOf: names(effectClasses) }), required: true },
          args: { shape: json('its arguments') },
          deadline: { shape: duration('how long it may take', 1, week) },
          dedupe_window: { shape: duration('how long the upstream knows a key', 1, week) },
        },
      },
    },
    playbook: {
      shape: {
        kind: 'fields',
        says: 'entries that replace those of the playbook, by verdict',
        fields: Object.fromEntries(names(verdicts).map((name): [string, Field] => [name, { shape: entryShape }])),
      },
    },
    retry: { shape: json('the retry rule of the tool') },
    results: { shape: listOf('one result for each send', resultShape, 1, maxResults), required: true },
    probe: { shape: text('what the declared read answers', { oneOf: ['happened', 'did_not', 'unclear'] }) },
    evidence: { shape: text('what the evidence shows when it is read again', { oneOf: ['same', 'changed', 'limit'] }) },
    credential: {
      shape: text('what asking for another secret gives', { oneOf: ['new', 'same', 'unavailable'] }),
    },
    items: {
      shape: {
        kind: 'fields',
        says: 'what the tool declares about failed items',
        fields: {
          retry: { shape: flag('whether they are sent again by themselves') },
          keys: { shape: text('what the upstream deduplicates by', { oneOf: ['request', 'item'] }) },
        },
      },
    },
    clock: { shape: text('when the call is made', { pattern: [instant, 'an instant such as 2026-01-01T12:00:00Z'] }) },
    chance: {
      shape: {
        kind: 'either',
        says: 'where in its jitter a pause falls, from 0 to 1',
        text: share('one for all failures'),
        list: listOf('one for each failure', share('a share'), 1, maxResults),
      },
    },
    expect: {
      required: true,
      shape: {
        kind: 'fields',
        says: 'what must come of it',
        fields: {
          events: { shape: listOf('the records, in order', eventShape, 0, maxResults * 10), required: true },
          outcome: {
            required: true,
            shape: {
              kind: 'either',
              says: 'none, or the outcome with the fields that matter',
              text: text('no compensation', { oneOf: ['none'] }),
              map: json('the outcome'),
            },
          },
          sends: { shape: count('how often it is sent', 1, maxResults), required: true },
          state: { shape: text('the state that it ends in', { oneOf: names(callStates) }), required: true },
          effect: { shape: text('what is known of its effect', { oneOf: names(effects) }), required: true },
        },
      },
    },
  },
};
