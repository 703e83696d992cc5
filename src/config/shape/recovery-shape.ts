/** Shapes of what is declared about recovery: playbooks, breakers, retries and reads. Data only. */
import { maxDeclaredReads } from '../../core/evidence/declared-read.ts';
import { defaultBreaker, maxBaseMs, maxRetries } from '../../core/recovery/declared.ts';
import { queuePattern, reasonPattern } from '../../core/recovery/read-playbook.ts';
import { leastWindowMs, maxWindowMs } from '../../core/reversal/declared-reverse.ts';
import { codes, compensations, effectClasses, verdicts } from '../../core/taxonomy.ts';
import { cel, count, duration, type Field, type FieldsShape, flag, listOf, named, type Shape, text } from './shape.ts';

const day = 86_400_000;

const fields = (says: string, of: Readonly<Record<string, Shape>>): FieldsShape => ({
  kind: 'fields',
  says,
  fields: Object.fromEntries(Object.entries(of).map(([name, shape]): [string, Field] => [name, { shape }])),
});

const jitter: Shape = {
  kind: 'number',
  says: 'the share by which a pause may be longer or shorter, such as 0.2',
  least: 0,
  most: 1,
};
const reason = text('why, as the agent is told', {
  pattern: [reasonPattern, 'one line of 1 to 300 characters'],
});

const action: FieldsShape = {
  ...fields('one compensation with its fields', {
    retry_with_backoff: fields('sends the call again after each pause, where that is safe', {
      backoff: listOf('the pauses', duration('a pause', 0, maxBaseMs), 1, maxRetries),
      max_attempts: count('the number of pauses; it follows from them', 1, maxRetries),
      jitter,
    }),
    refresh_evidence: fields('for evidence_stale: reads the evidence again', {
      then: text('retry if it still says the same, or abort', { oneOf: ['retry', 'abort'] }),
    }),
    escalate_to_human: fields('opens a ticket', {
      queue: text('the queue of the ticket', { pattern: [queuePattern, '1 to 64 letters, digits, _ . or -'] }),
    }),
    issue_reversal: fields('reverses the call', { reason }),
    deprecate_tool_call: fields('gives the call up; the agent plans anew', { reason }),
  }),
  oneOf: Object.keys(compensations),
};

const actionName = text('a compensation, with the fields of the default', { oneOf: Object.keys(compensations) });
const anyAction: Shape = {
  kind: 'again',
  name: 'compensation',
  shape: () => ({ kind: 'either', says: 'a compensation', text: actionName, map: action }),
};

const byEffect: FieldsShape = {
  kind: 'fields',
  says: 'a compensation for each effect class',
  fields: Object.fromEntries(
    Object.keys(effectClasses).map((name): [string, Field] => [name, { shape: anyAction, required: true }]),
  ),
};

const entry: Shape = {
  kind: 'either',
  says: 'a compensation, or one for each effect class',
  text: actionName,
  map: action,
  mapWith: byEffect,
};

const playbook: Shape = fields('what is done about a failure, by its verdict', {
  ...Object.fromEntries(
    Object.keys(verdicts).map((verdict): [string, Shape] => [
      verdict,
      { kind: 'again', name: 'playbook_entry', shape: () => entry },
    ]),
  ),
  extends: text('none: every verdict must be written, nothing comes from the default', { oneOf: ['none'] }),
});

/** Written once in the JSON Schema, which is why it is named. */
export const playbookShape: Shape = { kind: 'again', name: 'playbook', shape: () => playbook };

const breakerShape: Shape = {
  kind: 'either',
  says: 'off, or when nothing is sent for a while',
  text: text('no breaker', { oneOf: ['off'] }),
  map: fields('when nothing is sent for a while', {
    failures: count(`failures in a row that open it; ${defaultBreaker.failures} if not given`, 1, 1_000),
    open_for: duration(`for how long; ${defaultBreaker.openMs / 1_000}s if not given`, 1, maxBaseMs),
  }),
};

const classified = text('whether this code is retried', { oneOf: ['retry', 'terminal'] });

const retryShape: Shape = fields('when a call is sent again, in place of what the playbook says about retries', {
  retryable: flag('false: it is sent once; true if not given'),
  max_attempts: count('how many retries; 3 if not given', 0, maxRetries),
  backoff: text('how the pauses grow; exponential if not given', { oneOf: ['fixed', 'linear', 'exponential'] }),
  base: duration('the first pause; 1s if not given', 0, maxBaseMs),
  jitter,
  classifier: named('by code; one that is not named follows from its verdict', classified, [
    `^(?:${Object.keys(codes).join('|')})$`,
    'a code of a failure, such as ResourceBusy or ExecutionTimeout',
  ]),
});

const reconcileShape: Shape = {
  kind: 'fields',
  says: 'the read that tells whether a call in doubt took effect',
  fields: {
    tool: {
      shape: text('a tool that only reads', {
        pattern: ['^[^\\s/*]{1,64}/[^\\s*]{1,128}$', 'the whole name of a tool, such as payments/find_refund'],
      }),
      required: true,
    },
    args: { shape: cel('over args: the arguments of the read'), required: true },
    happened: { shape: cel('over args and result: true if the call took effect'), required: true },
    result: { shape: cel('over args and result: what the call returned; null if not given') },
  },
};

const fieldPath = (root: 'args' | 'result', says: string): Shape =>
  text(says, { pattern: [`^${root}(?:\\.[A-Za-z_][A-Za-z0-9_]*)*$`, `a path such as ${root}.list`] });

const partialShape: Shape = fields('how its partial results are read, and whether failed items are sent again', {
  items: fieldPath('args', 'where the arguments list the items'),
  name: cel('over item: how an item is named; by itself, or by its place, if not given'),
  entries: cel('over args and result: the list of entries of an answer'),
  failed: cel('over entry, index and args: whether an entry is a failed item; every entry is one if not given'),
  item: cel('over entry, index and args: which item it is about; the one at its place if not given'),
  kind: cel('over entry, index and args: a kind of failure, or an HTTP status; unknown if not given'),
  message: cel('over entry, index and args: what is told of it'),
  results: fieldPath('result', 'where a result lists what was done'),
  retry: flag('true: failed items are sent again by themselves; false if not given'),
  keys: text('item: the upstream deduplicates each item by itself; request if not given', {
    oneOf: ['request', 'item'],
  }),
});
const reverseShape: Shape = {
  kind: 'fields',
  says: 'how a call of it is undone: by a call of another tool',
  fields: {
    tool: {
      shape: text('the tool that undoes it', {
        pattern: ['^[^\\s/*]{1,64}/[^\\s*]{1,128}$', 'the whole name of a tool, such as payments/refund'],
      }),
      required: true,
    },
    args: {
      shape: named('its arguments by name', cel('over args and result of the call: one argument'), [
        '^[^\\u0000]{1,128}$',
        'the name of an argument',
      ]),
      required: true,
    },
    window: {
      shape: duration('how long after its success it can be undone', leastWindowMs, maxWindowMs),
      required: true,
    },
  },
};

const evidenceShape: Shape = listOf(
  'the reads that its calls rely on, which the gateway makes before each of them',
  {
    kind: 'fields',
    says: 'a read',
    fields: {
      tool: {
        shape: text('a tool that only reads', {
          pattern: ['^[^\\s/*]{1,64}/[^\\s*]{1,128}$', 'the whole name of a tool, such as shop/price'],
        }),
        required: true,
      },
      args: { shape: cel('over args: the arguments of the read'), required: true },
    },
  },
  1,
  maxDeclaredReads,
);

/** Keys of a server. */
export const serverRecoveryFields: Readonly<Record<string, Field>> = {
  playbook: { shape: playbookShape },
  breaker: { shape: breakerShape },
};

/** Keys of a provider of models. */
export const providerRecoveryFields: Readonly<Record<string, Field>> = {
  ...serverRecoveryFields,
  retry: { shape: retryShape },
};

/** Keys of a tool. */
export const toolRecoveryFields: Readonly<Record<string, Field>> = {
  playbook: { shape: playbookShape },
  retry: { shape: retryShape },
  reconcile: { shape: reconcileShape },
  reverse: { shape: reverseShape },
  quarantine: {
    shape: duration('how long after a doubt a call may still be carried out; 60s if not given', 1_000, day),
  },
  partial: { shape: partialShape },
  evidence: { shape: evidenceShape },
  operation_key: { shape: cel('over args, giving a text: calls with the same text are the same operation') },
};
