import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { errorSamples, pendingSample, successSample } from '../../../test/support/reply-samples.ts';
import { httpStatusOf } from './http-status.ts';
import { openapiComponents, responseName } from './openapi.ts';
import type { CommonErrorFields, ErrorReply } from '../call/reply.ts';
import { replySchema } from './reply-schema.ts';
import { codes, type ErrorCode, type ErrorName, errors } from '../taxonomy.ts';

const ajv = new Ajv2020({ strict: true, allErrors: true });
const validate = ajv.compile(replySchema());
const names = Object.keys(errorSamples) as ErrorName[];

/** Compiles only while the interfaces of reply.ts and the fields of the taxonomy name the same members. */
type InReply<Name extends ErrorName> = Exclude<
  keyof Extract<ErrorReply, { error: Name }>,
  keyof CommonErrorFields<Name>
>;
type InTable<Name extends ErrorName> =
  | (typeof errors)[Name]['fields'][number]
  | (typeof errors)[Name]['optional_fields'][number];
type Agree<Name extends ErrorName> = [InReply<Name>, InTable<Name>] extends [InTable<Name>, InReply<Name>]
  ? true
  : never;
const fieldsAgree: { readonly [Name in ErrorName]: Agree<Name> } = {
  invalid_transition: true,
  unknown_action: true,
  validation_failed: true,
  denied: true,
  fenced: true,
  action_timeout: true,
  action_error: true,
  action_in_flight: true,
  cancelled: true,
  session_error: true,
  internal_error: true,
};

function accepts(reply: unknown): void {
  assert.ok(validate(reply), ajv.errorsText(validate.errors));
}

function refuses(reply: unknown, why: string): void {
  assert.equal(validate(reply), false, why);
}

function without(reply: object, field: string): object {
  return Object.fromEntries(Object.entries(reply).filter(([name]) => name !== field));
}

describe('reply schema', () => {
  test('is the same text every time', () => {
    assert.equal(JSON.stringify(replySchema()), JSON.stringify(replySchema()));
  });

  test('knows the fields of every error', () => {
    assert.deepEqual(Object.keys(fieldsAgree), Object.keys(errors));
  });

  test('accepts a success, with and without what is optional', () => {
    accepts(successSample);
    accepts({
      ...successSample,
      session: null,
      state: { name: 'paid' },
      replayed: true,
      reversal_token: 'rev_1',
      errors: [{ class: 'ToolTerminal', code: 'NotFound', item: 'https://example.com/3' }],
      done: true,
      next_action_schemas: { read_order: { type: 'object' } },
      notices: [
        {
          code: 'BUDGET_WARNING',
          human_message: 'budget 80% consumed ($400.00/$500.00 daily)',
          resolution: { type: 'budget_reset', resets_at: '2026-05-18T00:00:00Z' },
          budget_id: 'daily',
        },
        { code: 'RUNTIME_GAP', human_message: "unknown method 'x/y'", resolution: { type: 'manual_audit' } },
      ],
    });
  });

  test('accepts a pending call', () => accepts(pendingSample));

  for (const name of names) {
    const sample = errorSamples[name];
    const { fields, codes: carried } = errors[name];

    test(`[C3-reply-1] ${name}: accepts its sample, also when it is replayed or the call could not be read`, () => {
      accepts(sample);
      accepts({ ...sample, replayed: true, requested: null, session: null, notices: [] });
    });

    test(`${name}: refuses a missing field`, () => {
      const common = ['requested', 'class', 'code', 'message', 'effect', 'resolution', 'valid_next_actions', 'call_id'];
      for (const field of [...common, 'session', ...fields]) refuses(without(sample, field), field);
    });

    test(`${name}: refuses a key that is not its own`, () => {
      refuses({ ...sample, stack: 'at line 1' }, 'stack');
      refuses({ ...sample, action: 'refund' }, 'action');
    });

    test(`[C3-reply-2] ${name}: accepts each of its codes with the class of that code, and refuses every other code`, () => {
      for (const code of Object.keys(codes) as ErrorCode[]) {
        const reply = { ...sample, class: codes[code].class, code };
        const isCarried = (carried as readonly ErrorCode[]).includes(code);
        if (isCarried) accepts(reply);
        else refuses(reply, code);
        refuses({ ...reply, class: codes[code].class === 'Internal' ? 'Session' : 'Internal' }, `${code}, wrong class`);
      }
    });

    test(`${name}: ${errors[name].effect === 'none' ? 'refuses' : 'accepts'} a possible effect`, () => {
      const reply = { ...sample, effect: 'unknown' };
      if (errors[name].effect === 'none') refuses(reply, 'effect');
      else accepts(reply);
      refuses({ ...sample, effect: 'probably' }, 'an effect that does not exist');
    });
  }

  test('refuses fields of the wrong type', () => {
    refuses({ ...errorSamples.action_timeout, timeout_seconds: '30' }, 'seconds as text');
    refuses({ ...errorSamples.action_error, verdict: 'bad_luck' }, 'an unknown verdict');
    refuses({ ...errorSamples.denied, resolution: { type: 'rule_block' } }, 'a resolution without its field');
    refuses({ ...errorSamples.denied, resolution: { type: 'give_up' } }, 'an unknown resolution');
    refuses({ ...errorSamples.denied, resolution: { type: 'budget_reset', resets_at: 'tomorrow' } }, 'not an instant');
    refuses({ ...successSample, seq: -1 }, 'a negative sequence');
    refuses({ ...successSample, replayed: false }, 'replayed is true or absent');
  });

  test('refuses a code with the class of another code', () => {
    refuses({ ...errorSamples.session_error, class: 'Workflow' }, 'UnknownSession is of class Session');
    refuses({ ...errorSamples.action_error, class: 'ToolTerminal' }, 'Provider5xx is of class ProviderTransient');
    refuses({ ...successSample, errors: [{ class: 'Session', code: 'NotFound', item: 1 }] }, 'of a failed item');
  });

  test('a fence names a call, a ticket or both', () => {
    const bare = without(errorSamples.fenced, 'blocking_call_id');
    refuses(bare, 'nothing named');
    accepts({ ...bare, ticket_id: 'tic_1' });
    accepts({ ...errorSamples.fenced, ticket_id: 'tic_1' });
  });

  for (const kind of ['compensation', 'outcome']) {
    test(`an action error whose playbook has not decided has the ${kind} null`, () => {
      accepts({ ...errorSamples.action_error, [kind]: null });
      refuses({ ...errorSamples.action_error, [kind]: { kind: 'pray' } }, kind);
    });
  }

  test('no reply is two things at once', () => {
    refuses({ ...successSample, ...errorSamples.denied }, 'success and denial');
    refuses({ ...pendingSample, ...successSample }, 'pending and success');
    refuses(null, 'nothing');
  });
});

describe('openapi components', () => {
  const document = openapiComponents();
  const openapi = new Ajv2020({ strict: false, validateFormats: false });
  openapi.addSchema({ $id: 'urn:recourse:openapi', components: document.components });

  for (const name of names) {
    const sample = errorSamples[name];
    const status = httpStatusOf(sample);

    test(`${name} as a problem is what the response of status ${status} describes`, () => {
      const response = `urn:recourse:openapi#/components/responses/${responseName(status)}`;
      const check = openapi.compile({ $ref: `${response}/content/application~1problem+json/schema` });
      const problem = { type: 'about:blank', title: errors[name].title, status, ...sample };
      assert.ok(check(problem), openapi.errorsText(check.errors));
      assert.equal(check(sample), false, 'a problem has type, title and status');
    });
  }

  test('a deferred call and a pending call are plain JSON with status 202, and no other denial is', () => {
    const check = openapi.compile({
      $ref: `urn:recourse:openapi#/components/responses/${responseName(202)}/content/application~1json/schema`,
    });
    const resolution = { type: 'pending_approval', approval_id: 'apr_1' };
    assert.ok(check({ ...errorSamples.denied, code: 'POLICY_DEFER', resolution }));
    assert.ok(check(pendingSample));
    assert.equal(check(errorSamples.denied), false);
  });

  test('429 and 503 announce when to ask again', () => {
    for (const [name, response] of Object.entries(document.components.responses)) {
      assert.equal('headers' in response, name === 'Status429' || name === 'Status503', name);
    }
  });
});
