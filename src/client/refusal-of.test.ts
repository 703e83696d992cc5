import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorSamples } from '../../test/support/reply-samples.ts';
import * as client from './index.ts';
import * as testing from './testing.ts';
import { CallError } from './call-error.ts';
import { refusalOf, tellModel } from './refusal-of.ts';
import { ToolDeniedError } from './tool-denied-error.ts';

const asked = { tool: 'refund', key: 'k1' };

test('a denial has everything that its reply says, in the names of TypeScript', () => {
  const error = refusalOf(errorSamples.denied, asked);
  assert.ok(error instanceof ToolDeniedError && error instanceof Error);
  const { name, code, humanMessage, ruleRef, resolution, approvalId, callId, session, validNextActions, key } = error;
  assert.deepEqual(
    { name, code, humanMessage, ruleRef, resolution, approvalId, callId, session, validNextActions, key },
    {
      name: 'ToolDeniedError',
      code: 'POLICY_DENY',
      humanMessage: 'denied: refund blocked by policy',
      ruleRef: 'recourse.yaml:14',
      resolution: { type: 'rule_block', ruleId: 'recourse.yaml:14' },
      approvalId: null,
      callId: 'call_1',
      session: 'ses_1',
      validNextActions: ['read_order', 'cancel'],
      key: 'k1',
    },
  );
  assert.deepEqual([error.message, error.effect, error.tool], [humanMessage, 'none', 'refund']);
  assert.deepEqual(error.reply, errorSamples.denied);
});

test('an approval that is waited for is named', () => {
  const resolution = { type: 'pending_approval', approval_id: 'apr-9001' } as const;
  const error = refusalOf({ ...errorSamples.denied, code: 'POLICY_DEFER', resolution });
  assert.equal(error instanceof ToolDeniedError && error.approvalId, 'apr-9001');
});

test('a reply that could not read the call is still about the tool that was asked for', () => {
  for (const sample of [errorSamples.denied, errorSamples.session_error])
    assert.equal(refusalOf({ ...sample, requested: null }, asked).tool, 'refund');
});

test('errors can be written down and made again', () => {
  for (const sample of Object.values(errorSamples)) {
    const error = refusalOf(sample, asked);
    const written = JSON.parse(JSON.stringify(error)) as { name: string; message: string; reply: typeof sample };
    assert.deepEqual([written.name, written.message], [error.name, error.message]);
    assert.ok(!('stack' in written) && !('cause' in written));
    assert.deepEqual(JSON.parse(JSON.stringify(refusalOf(written.reply, asked))), written);
  }
});

test('the entries of the package share their classes', () => {
  assert.equal(client.ToolDeniedError, testing.ToolDeniedError);
  assert.equal(client.CallError, testing.CallError);
  assert.ok(!(refusalOf(errorSamples.denied) instanceof CallError));
  assert.ok(!(refusalOf(errorSamples.fenced) instanceof ToolDeniedError));
});

test('a model is told what it needs to choose its next move', () => {
  assert.deepEqual(JSON.parse(tellModel(refusalOf(errorSamples.denied))), {
    error: 'denied',
    code: 'POLICY_DENY',
    message: 'denied: refund blocked by policy',
    effect: 'none',
    resolution: { type: 'rule_block', ruleId: 'recourse.yaml:14' },
    valid_next_actions: ['read_order', 'cancel'],
  });
  assert.equal((JSON.parse(tellModel(refusalOf(errorSamples.fenced))) as { error: string }).error, 'fenced');
});
