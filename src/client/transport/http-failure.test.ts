import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wasNeverSent } from './http-failure.ts';

const failed = (cause: unknown) => new TypeError('fetch failed', { cause });
const coded = (fields: object) => Object.assign(new Error('x'), fields);

const certain: readonly (readonly [string, unknown])[] = [
  ['nobody listens', failed(coded({ code: 'ECONNREFUSED', syscall: 'connect' }))],
  ['there is no such host', failed(coded({ code: 'ENOTFOUND', syscall: 'getaddrinfo' }))],
  ['the connection was never made', failed(coded({ code: 'UND_ERR_CONNECT_TIMEOUT' }))],
  ['the host cannot be reached', failed(coded({ code: 'EHOSTUNREACH', syscall: 'connect' }))],
  ['in Bun', coded({ code: 'ConnectionRefused' })],
  ['at two addresses', failed(new AggregateError([coded({ syscall: 'connect' }), coded({ code: 'ECONNREFUSED' })]))],
];

for (const [what, failure] of certain)
  test(`nothing was sent: ${what}`, () => assert.equal(wasNeverSent(failure), true));

const uncertain: readonly (readonly [string, unknown])[] = [
  ['a browser does not say', new TypeError('Failed to fetch')],
  ['the other side hung up', failed(coded({ code: 'UND_ERR_SOCKET' }))],
  ['it was reset', failed(coded({ code: 'ECONNRESET', syscall: 'read' }))],
  ['the route was lost while reading', failed(coded({ code: 'EHOSTUNREACH', syscall: 'read' }))],
  ['only the words say so', failed(new Error('connect ECONNREFUSED 127.0.0.1:1'))],
  [
    'one of two addresses answered',
    failed(new AggregateError([coded({ code: 'ECONNREFUSED' }), coded({ code: 'ECONNRESET' })])),
  ],
  ['it is no error', 'ECONNREFUSED'],
  ['its causes have no end', (() => { const a: { cause?: unknown } = {}; a.cause = a; return a; })()], // prettier-ignore
];

for (const [what, failure] of uncertain)
  test(`it may have been sent: ${what}`, () => assert.equal(wasNeverSent(failure), false));
