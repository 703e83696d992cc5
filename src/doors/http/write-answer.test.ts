import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { errorSamples, pendingSample, successSample } from '../../../test/support/reply-samples.ts';
import type { ErrorReply, Reply } from '../../core/call/reply.ts';
import type { ErrorName } from '../../core/taxonomy.ts';
import { writeAnswer } from './write-answer.ts';

interface Written {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Record<string, unknown>;
}

/** What would leave, without a socket. */
function written(reply: Reply, isClosing = false): Written {
  let head = { status: 0, headers: {} as Record<string, unknown> };
  let body = '';
  const response = {
    writeHead(status: number, headers: Record<string, unknown>) {
      head = { status, headers };
      return response;
    },
    end: (text: string) => void (body = text),
  };
  writeAnswer({ kind: 'reply', reply }, response as unknown as ServerResponse, isClosing);
  assert.equal(head.headers['content-length'], Buffer.byteLength(body));
  return { ...head, body: JSON.parse(body) as Record<string, unknown> };
}

describe('a reply', () => {
  test('is written as it is if it is good news, or has to wait', () => {
    assert.deepEqual(written(successSample).body, successSample);
    const { status, headers, body } = written({ ...pendingSample, retry_after_seconds: 0.2 });
    assert.deepEqual([status, headers['retry-after']], [202, '1']);
    assert.equal(headers['location'], `/v1/calls/${pendingSample.call_id}`);
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(body['pending'], true);
  });

  for (const name of Object.keys(errorSamples) as ErrorName[])
    test(`${name} keeps its members beside those of RFC 9457`, () => {
      const sample: ErrorReply = errorSamples[name];
      const { status, headers, body } = written(sample);
      assert.equal(headers['content-type'], 'application/problem+json');
      const { type, title, status: said, detail, instance, ...rest } = body;
      assert.deepEqual(rest, JSON.parse(JSON.stringify(sample)));
      assert.deepEqual([type, said, detail], [`urn:recourse:code:${sample.code}`, status, sample.message]);
      assert.ok(typeof title === 'string' && typeof instance === 'string');
    });

  test('a deferred call is no problem yet', () => {
    const resolution = { type: 'pending_approval', approval_id: 'apr_1' } as const;
    const deferred: ErrorReply = { ...errorSamples.denied, code: 'POLICY_DEFER', resolution };
    const { status, headers, body } = written(deferred);
    assert.deepEqual([status, headers['content-type']], [202, 'application/json']);
    assert.deepEqual(body, JSON.parse(JSON.stringify(deferred)));
  });

  const inTwoMinutes = () => new Date(Date.now() + 120_000).toISOString().replace(/\.\d+Z$/, 'Z');
  const waits: readonly (readonly [string, () => ErrorReply['resolution'], RegExp])[] = [
    ['a wait, rounded up', () => ({ type: 'retry_after', retry_after_seconds: 1.2 }), /^2$/],
    ['no wait at all, as a second', () => ({ type: 'retry_after', retry_after_seconds: 0 }), /^1$/],
    ['an instant, as seconds', () => ({ type: 'budget_reset', resets_at: inTwoMinutes() }), /^1(?:1\d|20)$/],
    [
      'an instant that is over, as a second',
      () => ({ type: 'budget_reset', resets_at: '2020-01-01T00:00:00Z' }),
      /^1$/,
    ],
    ['nothing, as a second', () => ({ type: 'manual_audit' }), /^1$/],
  ];
  for (const [what, resolution, header] of waits)
    test(`429 says when: ${what}`, () => {
      const reply: ErrorReply = { ...errorSamples.denied, code: 'BUDGET_EXCEEDED', resolution: resolution() };
      const { status, headers } = written(reply);
      assert.equal(status, 429);
      assert.match(String(headers['retry-after']), header);
    });

  test('429 says nothing of a time where no time helps', () => {
    const resolution = { type: 'rule_block', rule_id: 'recourse.yaml:9' } as const;
    const { status, headers } = written({ ...errorSamples.denied, code: 'BUDGET_EXCEEDED', resolution });
    assert.deepEqual([status, headers['retry-after']], [429, undefined]);
  });

  test('a door that closes says so', () => {
    assert.equal(written(successSample, true).headers['connection'], 'close');
    assert.ok(!('connection' in written(successSample).headers));
  });
});
