/** Shape of a workflow in YAML. Data only; what its parts mean together is checked elsewhere. */
import { effectClasses } from '../../core/taxonomy.ts';
import { matchable } from '../../core/workflow/match-error.ts';
import { cel, count, duration, type FieldsShape, flag, listOf, named, type Shape, text } from '../shape/shape.ts';

const year = 366 * 86_400_000;
const stateName = [
  '^[A-Za-z_][A-Za-z0-9_-]{0,63}$',
  'a letter or _ first, then letters, digits, _ or -, at most 64 in all',
] as const;
/** An action, or how its step ended. */
const eventName = [
  '^[A-Za-z_][A-Za-z0-9_-]{0,63}(?:\\.[A-Za-z_][A-Za-z0-9_-]{0,63})?$',
  'the name of an action, or <action>.failed',
] as const;
const fieldName = [
  '^[A-Za-z_][A-Za-z0-9_]{0,63}$',
  'a letter or _ first, then letters, digits or _, at most 64 in all',
] as const;
const argumentName = ['^[^\\s]{1,128}$', 'a name without spaces, at most 128 characters'] as const;
const share = (says: string): Shape => ({ kind: 'number', says, least: 0, most: 1 });
const durationKey = ['^[0-9]{1,9}(?:\\.[0-9]{1,3})?(?:ms|s|m|h|d)$', 'a duration such as 30s or 5m'] as const;
const targetName = [
  '^\\.?[A-Za-z_][A-Za-z0-9_-]*(?:\\.[A-Za-z_][A-Za-z0-9_-]*)*$',
  'the name of a state, .child or parent.child',
] as const;

const target = text('the state to go to', { pattern: targetName });
const assign = named('fields of the context and what they become', cel('over context, inputs and result'), fieldName);
const quietAssign = named('fields of the context and what they become', cel('over context'), fieldName);

const raised = text('an event that the machine answers itself, by an edge under on', { pattern: stateName });

/** Only under `<action>.failed` and other outcomes of a step. */
const errorFields = {
  error: { shape: text('the error that the step ended with', { oneOf: matchable.error }) },
  class: { shape: text('the class of the error', { oneOf: matchable.class }) },
  code: { shape: text('the code of the error', { oneOf: matchable.code }) },
  verdict: { shape: text('what the failure means', { oneOf: matchable.verdict }) },
  effect: { shape: text('what is known of its effect', { oneOf: matchable.effect }) },
} as const;

const edge = (guardOver: string, assigned: Shape, more: FieldsShape['fields'] = {}): Shape => ({
  kind: 'fields',
  says: 'where to go, when, and what changes',
  fields: {
    ...more,
    target: { shape: target },
    guard: { shape: cel(`over ${guardOver}: true lets it through`) },
    assign: { shape: assigned },
    raise: { shape: raised },
    reenter: { shape: flag('leave and enter the state again') },
    description: { shape: text('what it means') },
  },
});

/** A target, an edge, or several that are tried in order. */
const edges = (name: string, guardOver: string, assigned: Shape, more: FieldsShape['fields'] = {}): Shape => {
  const one: Shape = {
    kind: 'either',
    says: 'a target or { target, guard, assign, raise }',
    text: target,
    map: edge(guardOver, assigned, more),
  };
  const says = 'a target, { target, guard, assign, raise }, or a list of them';
  return { kind: 'again', name, shape: () => ({ ...one, says, list: listOf('tried in order', one, 1) }) };
};

const loudEdges = edges('edges', 'context and inputs, of a failure also error', assign, errorFields);
const quietEdges = edges('quiet_edges', 'context', quietAssign);
const change: Shape = {
  kind: 'fields',
  says: 'what changes, and what the machine is told of',
  fields: { assign: { shape: quietAssign }, raise: { shape: raised } },
};

const state: Shape = {
  kind: 'fields',
  says: 'a state',
  fields: {
    type: { shape: text('what sort of state', { oneOf: ['parallel', 'final', 'history'] }) },
    description: { shape: text('what it means') },
    initial: { shape: text('the child that is entered first', { pattern: stateName }) },
    states: { shape: { kind: 'again', name: 'states', shape: () => states } },
    on: { shape: named('what each action leads to', loudEdges, eventName) },
    after: { shape: named('what happens when time has passed', quietEdges, durationKey) },
    always: { shape: quietEdges },
    on_done: { shape: quietEdges },
    entry: { shape: change },
    exit: { shape: change },
    history: { shape: text('how deep a history state remembers', { oneOf: ['shallow', 'deep'] }) },
    target: { shape: target },
  },
};

/** An empty state is valid. */
const maybeState: Shape = {
  kind: 'either',
  says: 'a state',
  text: { kind: 'nothing', says: 'nothing, or a map with on, after, …' },
  map: state,
};
const states: Shape = named('the states by name', maybeState, stateName);

const rule: Shape = {
  kind: 'fields',
  says: 'what must hold, and what to say if it does not',
  fields: {
    when: { shape: cel('over inputs and context: must be true'), required: true },
    field: { shape: text('the field that is to blame') },
    reason: { shape: text('what an agent is told'), required: true },
  },
};

const stageCall: Shape = {
  kind: 'fields',
  says: 'a call of the stage',
  fields: {
    call: {
      shape: text('the tool it calls, as server/tool', { pattern: ['^[A-Za-z0-9_-]{1,64}/.{1,128}$', 'server/tool'] }),
      required: true,
    },
    args: { shape: named('its arguments', cel('over context, inputs, acted, errors and item'), argumentName) },
    as: { shape: text('the name of its result in acted', { pattern: fieldName }) },
    each: { shape: cel('gives a list: one call for each item') },
    when: { shape: cel('must be true, or the call is left out') },
    may_fail: { shape: flag('if it fails the stage goes on, and errors has its error') },
  },
};

const stageRoute: Shape = {
  kind: 'fields',
  says: 'where the stage leads',
  fields: {
    when: { shape: cel('over context, inputs, outcome, error and result: must be true') },
    event: { shape: text('the edge <action>.<event>', { pattern: stateName }) },
    again: { shape: flag('act once more') },
  },
  oneOf: ['event', 'again'],
};

const stage: Shape = {
  kind: 'fields',
  says: 'phases instead of a tool',
  fields: {
    setup: { shape: named('fields of the context and what they become', cel('over context and inputs'), fieldName) },
    act: { shape: listOf('the calls, one after the other', stageCall, 1, 100), required: true },
    assert: {
      shape: listOf('what must hold, or the attempt has failed', {
        kind: 'fields',
        says: 'what must hold, and what to say if it does not',
        fields: {
          when: { shape: cel('over context, inputs, acted and errors: must be true'), required: true },
          reason: { shape: text('why the attempt has failed'), required: true },
        },
      }),
    },
    exit: { shape: named('the result of the step', cel('over context, inputs, acted and errors'), argumentName) },
    next: { shape: listOf('where it leads, tried in order', stageRoute) },
    retry: {
      shape: {
        kind: 'fields',
        says: 'how often it begins again at setup',
        fields: {
          max_attempts: { shape: count('how many retries', 0, 20), required: true },
          backoff: { shape: text('how the pauses grow', { oneOf: ['fixed', 'linear', 'exponential'] }) },
          base: { shape: duration('the first pause', 1, 3_600_000) },
          jitter: { shape: share('the share by which a pause may differ') },
        },
      },
    },
    unrecoverable: {
      shape: {
        kind: 'either',
        says: 'skip, abort-workflow or { retry_later }',
        text: text('what is done about a failure', { oneOf: ['skip', 'abort-workflow'] }),
        map: {
          kind: 'fields',
          says: 'when it is tried again',
          fields: { retry_later: { shape: duration('after how long', 1, 7 * 86_400_000), required: true } },
        },
      },
    },
  },
};

const action: Shape = {
  kind: 'fields',
  says: 'what an agent can do',
  fields: {
    description: { shape: text('what it does, in a sentence') },
    input: { shape: { kind: 'json', says: 'JSON Schema of its inputs', sort: 'map' } },
    tool: {
      shape: text('the tool it calls, as server/tool', { pattern: ['^[A-Za-z0-9_-]{1,64}/.{1,128}$', 'server/tool'] }),
    },
    stage: { shape: stage },
    effect: { shape: text('what a call does', { oneOf: Object.keys(effectClasses) }) },
    dedupe_window: { shape: duration('how long the tool remembers our key', 1, year) },
    timeout: { shape: duration('how long it may take') },
    atomic: { shape: flag('a failure has had no effect') },
    overlap: { shape: flag('a step may begin while a timed-out one still runs') },
    operation_key: { shape: cel('over inputs: what is fenced while a step is in doubt') },
    validate: { shape: listOf('what must hold of the inputs', rule) },
    result: { shape: cel('over inputs and context: the result of an action without a tool') },
    update: { shape: assign },
  },
};

export const workflowShape: Shape = {
  kind: 'fields',
  says: 'a workflow',
  fields: {
    version: { shape: text('changes when sessions of the old one cannot go on') },
    description: { shape: text('what it is for') },
    context: { shape: { kind: 'json', says: 'the fields a session starts with', sort: 'map' } },
    state: {
      shape: {
        kind: 'either',
        says: 'full, none, or a list of fields',
        text: text('how much of the state agents see', { oneOf: ['full', 'none'] }),
        list: listOf('the fields that agents see', text('a field of the context')),
      },
    },
    refusals: {
      shape: {
        kind: 'fields',
        says: 'what happens after refusals in a row',
        fields: {
          sharpen_after: { shape: count('from here on the message says again what to do', 1, 1_000_000) },
          stop_after: { shape: count('the session is stopped', 1, 1_000_000) },
        },
      },
    },
    action_timeout: { shape: duration('for actions without a timeout of their own') },
    debug_messages: { shape: flag('agents see where an error came from') },
    max_state_bytes: { shape: count('how large the state may become', 1_024, 4 << 20) },
    type: { shape: text('parallel: all of the states at once', { oneOf: ['parallel'] }) },
    initial: { shape: text('the state that is entered first', { pattern: stateName }) },
    on: {
      shape: named('what each action leads to, wherever the session stands', loudEdges, eventName),
    },
    actions: {
      shape: named('what an agent can do, in the order in which it is listed', action, stateName),
      required: true,
    },
    states: { shape: states, required: true },
  },
};
