import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpRefusal, MessageTooLarge, NotSent } from './transport-faults.ts';
import { answerOfFault } from './wire-answer.ts';

const fault = (code: string, syscall?: string) => Object.assign(new Error(code), { code, syscall });
const fetchFailed = (cause: unknown) => new TypeError('fetch failed', { cause });

test('never sent is only what provably was not', () => {
  const cases: readonly [unknown, string][] = [
    [new NotSent('away'), 'unsent'],
    [fetchFailed(fault('ECONNREFUSED', 'connect')), 'unsent'],
    [fetchFailed(fault('ENOTFOUND', 'getaddrinfo')), 'unsent'],
    [fetchFailed(fault('ETIMEDOUT', 'connect')), 'unsent'],
    [fetchFailed(fault('UND_ERR_CONNECT_TIMEOUT')), 'unsent'],
    [fetchFailed(fault('CERT_HAS_EXPIRED')), 'unsent'],
    [
      fetchFailed(
        Object.assign(new AggregateError([fault('ECONNREFUSED', 'connect'), fault('ENETUNREACH', 'connect')]), {
          code: 'ECONNREFUSED',
        }),
      ),
      'unsent',
    ],
    // The same codes on a connection that stood, or with one address that answered, prove nothing.
    [fetchFailed(fault('ETIMEDOUT', 'read')), 'lost'],
    [fetchFailed(fault('EHOSTUNREACH', 'write')), 'lost'],
    [fetchFailed(fault('ECONNRESET', 'read')), 'lost'],
    [fetchFailed(new AggregateError([fault('ECONNREFUSED', 'connect'), fault('ECONNRESET', 'read')])), 'lost'],
    [fetchFailed(fault('UND_ERR_SOCKET')), 'lost'],
    [fetchFailed(fault('ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC')), 'lost'],
    [fetchFailed(fault('UND_ERR_HEADERS_TIMEOUT')), 'timed_out'],
    [Object.assign(new Error('of the SDK'), { code: 'ERA_NEGOTIATION_FAILED' }), 'lost'],
    [new MessageTooLarge(5), 'lost'],
    [new HttpRefusal(429, 3, null), 'refused'],
    [new SyntaxError('no JSON'), 'lost'],
    [undefined, 'lost'],
    ['text', 'lost'],
  ];
  for (const [error, kind] of cases) assert.equal(answerOfFault(error, 100).kind, kind, String(error));
});

test('the cause tells the whole chain, within its limit', () => {
  const answer = answerOfFault(fetchFailed(fault('ECONNRESET', 'read')), 1_000);
  assert.ok(answer.kind === 'lost');
  assert.match(answer.cause, /TypeError: fetch failed\ncaused by: Error: ECONNRESET/);
  const cut = answerOfFault(new Error('x'.repeat(5_000)), 50);
  assert.ok(cut.kind === 'lost' && cut.cause.length === 50);
});
