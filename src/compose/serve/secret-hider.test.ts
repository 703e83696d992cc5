/** Whatever form a secret comes back in, it is not shown; what holds none comes back as it was. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { makeFailure, type UpstreamResult } from '../../ports/upstream.ts';
import { attemptOf } from '../../../test/support/upstream-mcp.ts';
import { createSecretHider, hideSecrets } from './secret-hider.ts';

const secret = 'planted"Secret/+ü=1';
const hider = () => {
  const made = createSecretHider();
  made.add(secret);
  return made;
};

const forms: readonly (readonly [string, string])[] = [
  ['as it is', `Bearer ${secret}!`],
  ['as JSON', JSON.stringify({ text: secret })],
  ['in a URL', `https://x/?key=${encodeURIComponent(secret)}&y`],
  ['in a URL in lower case', encodeURIComponent(secret).replaceAll(/%../g, (each) => each.toLowerCase())],
  ['in a form', new URLSearchParams({ key: secret }).toString()],
  ['as hexadecimal', Buffer.from(secret).toString('hex')],
  ['as hexadecimal in upper case', Buffer.from(secret).toString('hex').toUpperCase()],
  ['as JSON that PHP wrote', JSON.stringify(secret).replaceAll('/', '\\/')],
  ['as JSON that .NET wrote', JSON.stringify(secret).replaceAll('+', '\\u002B')],
  ['as base64', Buffer.from(secret).toString('base64')],
  ['as base64 for URLs', Buffer.from(secret).toString('base64url')],
  ['as the password of a login', Buffer.from(`user:${secret}`).toString('base64')],
  ['within base64', Buffer.from(`ab${secret}cdef`).toString('base64')],
];

describe('a secret is hidden', () => {
  for (const [name, text] of forms)
    test(name, () => {
      const shown = hider().hide(text);
      assert.match(shown, /\[redacted\]/);
      // Of base64 at most what a byte shares with its neighbour is left.
      assert.ok(shown.replaceAll('[redacted]', '').length < text.length - secret.length / 2, shown);
    });

  test('in names, in lists, at any depth, and what is too deep is not shown', () => {
    const { hide } = hider();
    let deep: unknown = secret;
    for (let level = 0; level < 300; level++) deep = { [level % 2 === 0 ? 'a' : secret]: [deep] };
    assert.doesNotMatch(JSON.stringify(hide({ [secret]: [{ x: secret }], deep })), /planted/);
  });

  test('without the white space around it, which no server gets in a header', () => {
    const made = createSecretHider();
    made.add('planted-secret \t');
    assert.equal(made.hide('it was planted-secret.'), 'it was [redacted].');
  });

  test('after it was replaced by another one', () => {
    const made = hider();
    for (let nth = 0; nth < 50; nth++) made.add(`another-secret-${nth}`);
    assert.equal(made.hide(secret), '[redacted]');
  });
});

test('a value without a secret is the same object', () => {
  const { hide } = hider();
  const value = { a: [1, { b: 'c' }], date: new Date(0), nothing: null };
  assert.equal(hide(value), value);
});

test('any secret in any text around it is gone', () =>
  fc.assert(
    fc.property(fc.string({ minLength: 8, maxLength: 40 }), fc.string(), fc.string(), (any, before, after) => {
      const made = createSecretHider();
      made.add(any);
      assert.ok(!made.hide(`${before}${any}${after}`).replaceAll('[redacted]', '').includes(any));
    }),
  ));

const results: readonly (readonly [string, UpstreamResult])[] = [
  ['a result', { kind: 'returned', output: { said: secret }, errors: [{ item: 1, kind: 'unknown', message: secret }] }],
  [
    'a failure',
    {
      kind: 'failed',
      failure: makeFailure('unknown', secret, { errorType: secret, cause: `x ${secret}`, subject: secret }),
    },
  ],
  [
    'what was given with a failure',
    {
      kind: 'failed',
      failure: makeFailure('unknown', 'no', {
        given: { output: { said: secret }, withoutWords: [secret], tell: () => ({ message: secret, cause: secret }) },
      }),
    },
  ],
];

describe('nothing that an upstream repeats gets through:', () => {
  for (const [name, result] of results)
    test(name, async () => {
      const late: UpstreamResult[] = [];
      const suppressed: unknown[] = [];
      const upstream = hideSecrets(
        {
          invoke: async (attempt, _, hearLate) => {
            attempt.suppressed?.({ reason: secret, error: secret });
            hearLate?.(result);
            return result;
          },
        },
        hider(),
      );
      const attempt = attemptOf('it', {}, { suppressed: (told) => void suppressed.push(told) });
      const shown = await upstream.invoke(attempt, new AbortController().signal, (one) => void late.push(one));
      const told = shown.kind === 'failed' ? shown.failure.given?.tell(null) : null;
      assert.doesNotMatch(JSON.stringify([shown, told, late, suppressed]), /planted/);
    });
});
