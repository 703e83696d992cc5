/** What a mask took away stands in no text that quotes it; everything else of the text stays. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../values/json.ts';
import { hiderOf } from './hide-values.ts';
import { redacted } from './redact-paths.ts';

const hide = (before: Json, text: string) => hiderOf([[before, redacted]])?.(text) ?? text;

test('a value is hidden where it stands by itself, also as JSON and addresses spell it', () => {
  assert.equal(hide('hunter2', "no user with password 'hunter2'."), `no user with password '${redacted}'.`);
  assert.equal(hide('a "b" c', String.raw`got {"x":"a \"b\" c"}`), `got {"x":"${redacted}"}`);
  assert.equal(hide('a b&c', 'GET /?q=a%20b%26c'), `GET /?q=${redacted}`);
  assert.equal(hide(4242, 'pin 4242, not 42424'), `pin ${redacted}, not 42424`);
  assert.equal(hide({ card: ['4111-1111', 'x'] }, 'card 4111-1111 of x'), `card ${redacted} of x`);
  assert.equal(hide('abc', 'abc and abcd'), `${redacted} and abcd`);
});

test('without anything masked there is nothing to hide; with too much, nothing is shown', () => {
  assert.equal(hiderOf([[{ a: 'secret' }, { a: 'secret' }]]), null);
  assert.equal(
    hiderOf([
      [
        { a: 'secret', b: 'known' },
        { a: redacted, b: 'known' },
      ],
    ])?.('known secret'),
    `known ${redacted}`,
  );
  const many = Array.from({ length: 300 }, (_, n) => `value-${n}`);
  assert.equal(hide(many, 'anything'), redacted);
});

test('property: any value, in any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 3 }), fc.string(), (secret, around) => {
      fc.pre(secret.trim().length >= 3 && secret.trim() !== redacted && !redacted.includes(secret.trim()));
      assert.ok(!hide(secret, `${around} ${secret} ${around}`).includes(` ${secret.trim()} `));
    }),
  );
});
