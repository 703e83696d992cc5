/** What each answer of a real HTTP server means for a call. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileSchema } from '../../core/schema/compile-schema.ts';
import { classify } from '../../core/recovery/classify.ts';
import type { Json } from '../../core/values/json.ts';
import type { ErrorSubject } from '../../core/taxonomy.ts';
import type { Failure, UpstreamResult } from '../../ports/upstream.ts';
import { type Answer, listenApi, targetOf, toolOf, upstreamOf } from '../../../test/support/http/api.ts';
import type { HttpTarget } from './http-config.ts';
import { noConflictCodes } from './http-config.ts';

const answering =
  (status: number, body: unknown = '', headers: Record<string, string> = {}): Answer =>
  (_, response) => {
    const isText = typeof body === 'string';
    response.writeHead(status, { ...(isText ? {} : { 'content-type': 'application/json' }), ...headers });
    response.end(isText ? body : JSON.stringify(body));
  };

function failureIn(result: UpstreamResult): Failure {
  assert.equal(result.kind, 'failed');
  return (result as Extract<UpstreamResult, { kind: 'failed' }>).failure;
}

/** Status, kind, effect of a write. */
const statuses: readonly (readonly [readonly number[], string, string])[] = [
  [[400, 405, 406, 410, 411, 413, 414, 415, 416, 422, 431], '400_invalid', 'none'],
  [[401], '401_unauthenticated', 'none'],
  [[403, 451], '403_forbidden', 'none'],
  [[404], '404_not_found', 'none'],
  [[408], 'timeout', 'unknown'],
  [[409], '409_conflict', 'none'],
  [[412], '412_precondition', 'none'],
  [[425, 429], '429', 'none'],
  [[500, 501, 502, 503, 504, 505, 507, 599], '5xx', 'unknown'],
  [[300, 301, 302, 303, 304, 402, 418, 499], 'unknown', 'unknown'],
  [[307, 308], 'unknown', 'none'],
];

describe('the status of an answer', () => {
  for (const [codes, kind, effect] of statuses)
    test(`${codes.join(', ')} is ${kind}, effect ${effect}`, async (t) => {
      for (const status of codes) {
        const api = await listenApi(t, answering(status));
        const failure = failureIn(await upstreamOf(t, targetOf(api.url))());
        const subject = (failure.subject ?? undefined) as ErrorSubject | undefined;
        assert.deepEqual(
          [failure.kind, failure.effect ?? classify(failure.kind, subject, 'plain').effect, failure.errorType],
          [kind, effect, `Http${status}`],
        );
      }
    });
});

const results: readonly (readonly [string, Answer, unknown])[] = [
  ['JSON is parsed', answering(200, { a: [1] }), { a: [1] }],
  [
    'a vendor type of JSON is JSON',
    answering(201, '{"a":1}', { 'content-type': 'application/vnd.x+json; charset=utf-8' }),
    { a: 1 },
  ],
  ['a text is a text', answering(200, 'hello', { 'content-type': 'text/plain' }), 'hello'],
  ['204 is null', answering(204), null],
  ['an empty answer is null', answering(202), null],
];

test('207 is a success that says of which items it is none', async (t) => {
  const api = await listenApi(t, answering(207, { items: [] }));
  const expected = { kind: 'returned', output: { items: [] }, errors: [], mixed: true };
  assert.deepEqual(await upstreamOf(t, targetOf(api.url))(), expected);
});

describe('a success', () => {
  for (const [name, answer, output] of results)
    test(name, async (t) => {
      const api = await listenApi(t, answer);
      assert.deepEqual(await upstreamOf(t, targetOf(api.url))(), { kind: 'returned', output, errors: [] });
    });

  const checked = compileSchema({ type: 'object', required: ['id'] });
  const checkOutput = (output: Json) => (checked.ok ? checked.check(output) : []);
  const wrong: readonly (readonly [string, Answer])[] = [
    ['does not fit its schema', answering(200, { other: 1 })],
    ['is no JSON', answering(200, '{"id":', { 'content-type': 'application/json' })],
    ['is no UTF-8', (_, response) => response.end(Buffer.from([0xff, 0xfe, 0xfd]))],
    ['is compressed', answering(200, 'x', { 'content-encoding': 'gzip' })],
    ['is too large', answering(200, 'x'.repeat(2_000))],
  ];
  for (const [name, answer] of wrong)
    test(`that ${name} is no success`, async (t) => {
      const api = await listenApi(t, answer);
      const target = targetOf(api.url, { limits: { maxResponseBytes: 1_000 } });
      const failure = failureIn(await upstreamOf(t, target, toolOf({}, { checkOutput }))());
      assert.deepEqual(
        [failure.kind, failure.subject, failure.errorType, failure.effect],
        ['schema_validation', 'response', 'OutputMalformed', null],
      );
    });
});

const problem = { 'content-type': 'application/problem+json' };
const google = (reason: string) => ({
  error: {
    code: 409,
    status: 'ABORTED',
    message: 'busy',
    details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason }],
  },
});
const own = {
  conflicts: { ...noConflictCodes, completed: ['DONE'], in_flight: ['idempotency_error'], evidence: ['etag'] },
};

const subjects: readonly (readonly [string, Answer, string | null, Partial<HttpTarget>?])[] = [
  ['no code, no subject', answering(409, { message: 'idempotency_key_in_use' }), null],
  [
    'the code of Stripe',
    answering(409, { error: { type: 'idempotency_error', code: 'idempotency_key_in_use' } }),
    'in_flight',
  ],
  ['the type of Stripe', answering(409, { error: { type: 'idempotency_error' } }), 'mismatch'],
  [
    'the type of a problem',
    answering(409, '{"type":"https://e.com/errors/idempotency_key_completed"}', problem),
    'completed',
  ],
  [
    'the code of a problem',
    answering(409, '{"type":"about:blank","code":"idempotency_mismatch"}', problem),
    'mismatch',
  ],
  ['the reason of google.rpc', answering(409, google('DONE')), 'completed', own],
  ['a code of the file counts before a known one', answering(409, { code: 'idempotency_error' }), 'in_flight', own],
  ['a code of the file at 412', answering(412, { code: 'etag' }), 'evidence', own],
  ['412 without a code', answering(412, { code: 'other' }), null, own],
  ['every 412', answering(412), 'evidence', { conflicts: { ...noConflictCodes, evidence: ['*'] } }],
  ['a code at another status', answering(422, { code: 'idempotency_key_in_use' }), null],
];

describe('the subject of a conflict', () => {
  for (const [name, answer, subject, target] of subjects)
    test(`${name}: ${subject}`, async (t) => {
      const api = await listenApi(t, answer);
      assert.equal(failureIn(await upstreamOf(t, targetOf(api.url, target))()).subject, subject);
    });
});

const date = 'Wed, 21 Oct 2015 07:28:00 GMT';
const retryInfo = { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '3.2s' }] };
const waits: readonly (readonly [string, Answer, number | null])[] = [
  ['seconds', answering(429, '', { 'retry-after': '120' }), 120],
  [
    'a date, by the clock of the server',
    answering(429, '', { 'retry-after': 'Wed, 21 Oct 2015 07:29:30 GMT', date }),
    90,
  ],
  ['a date that is over', answering(429, '', { 'retry-after': 'Wed, 21 Oct 2015 07:27:00 GMT', date }), 0],
  [
    'a date without a clock',
    (_, response) => {
      response.sendDate = false;
      response.writeHead(429, { 'retry-after': 'Wed, 21 Oct 2015 07:29:30 GMT' }).end();
    },
    0,
  ],
  ['what is neither', answering(429, '', { 'retry-after': 'soon' }), null],
  ['an amount below nothing', answering(429, '', { 'retry-after': '-5' }), null],
  ['503 with the header', answering(503, '', { 'retry-after': '7' }), 7],
  ['500 without one', answering(500), null],
  ['RetryInfo', answering(429, retryInfo), 4],
  ['the header before RetryInfo', answering(429, retryInfo, { 'retry-after': '9' }), 9],
  ['a refusal for good', answering(400, retryInfo, { 'retry-after': '9' }), null],
];

describe('the wait that an answer asks for', () => {
  for (const [name, answer, seconds] of waits)
    test(`${name}: ${seconds}`, async (t) => {
      const api = await listenApi(t, answer);
      assert.equal(failureIn(await upstreamOf(t, targetOf(api.url))()).retryAfterSeconds, seconds);
    });
});

describe('the message of a refusal', () => {
  const words: readonly (readonly [string, Answer, string])[] = [
    [
      'of a problem',
      answering(400, '{"title":"Bad","detail":"no such currency"}', problem),
      "'api' answered with HTTP status 400: no such currency",
    ],
    ['of google.rpc', answering(400, google('x')), "'api' answered with HTTP status 400: busy"],
    ['of a text', answering(500, 'stack trace at /srv/app'), "'api' answered with HTTP status 500"],
    [
      'of a redirect',
      answering(302, '', { location: '/x' }),
      "'api' answered with HTTP status 302, a redirect that redirects: none does not follow",
    ],
  ];
  for (const [name, answer, message] of words)
    test(`${name} has its declared words alone`, async (t) => {
      const api = await listenApi(t, answer);
      assert.equal(failureIn(await upstreamOf(t, targetOf(api.url))()).message, message);
    });

  test('has no secret of the configuration, nor has its cause, nor a result', async (t) => {
    const echo =
      (status: number): Answer =>
      (request, response) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify({ message: `${request.headers['x-token']} ${request.headers.authorization} ${request.url}` }),
        );
      };
    for (const status of [200, 400, 500]) {
      const api = await listenApi(t, echo(status));
      const headers = { 'X-Token': 'plantedtoken1', Authorization: 'Custom plantedtoken2' };
      const result = await upstreamOf(t, targetOf(`${api.url}?k=plantedtoken3`, { headers }))();
      assert.match(JSON.stringify(api.heard), /plantedtoken1.*plantedtoken2|plantedtoken2.*plantedtoken1/);
      assert.doesNotMatch(JSON.stringify(result), /plantedtoken/);
    }
  });

  test('is made anew without its words when the policy masks results', async (t) => {
    const api = await listenApi(t, answering(400, { message: 'card 4242' }));
    const failure = failureIn(await upstreamOf(t, targetOf(api.url))());
    assert.match(failure.message, /card 4242/);
    assert.doesNotMatch(JSON.stringify(failure.given?.tell('[redacted]')), /4242/);
  });
});

test('the key is that of the call, for every attempt, and a read has none', async (t) => {
  const api = await listenApi(t, answering(200));
  const write = upstreamOf(t, targetOf(api.url));
  await write();
  await write({}, undefined, { attempt: { attempt: 2 } });
  await upstreamOf(t, targetOf(api.url), toolOf({ method: 'GET' }, { effectClass: 'pure' }))();
  assert.deepEqual(
    api.heard.map(({ headers }) => headers['idempotency-key']),
    ['call_1', 'call_1', undefined],
  );
});

test('arguments that cannot become a request are refused, and nothing is sent', async (t) => {
  const api = await listenApi(t, answering(200));
  const invoke = upstreamOf(t, targetOf(api.url), toolOf({ path: '/orders/{id}' }));
  for (const args of [{}, [], 'text', { id: '..' }]) {
    const failure = failureIn(await invoke(args));
    assert.deepEqual([failure.kind, failure.subject, failure.effect], ['schema_validation', 'request', 'none']);
  }
  assert.equal(api.heard.length, 0);
});
