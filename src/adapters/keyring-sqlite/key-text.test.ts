import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/support/any-character.ts';
import { isKeyText, makeKey, readKey } from './key-text.ts';

test('a key is its id and 256 bits, and only the hash of the secret is handed on to be stored', () => {
  const { id, hash, key } = makeKey();
  assert.match(key, /^rk_[0-9a-hjkmnp-tv-z]{16}_[\w-]{43}$/);
  const secret = key.slice(20);
  assert.equal(Buffer.from(secret, 'base64url').length, 32);
  assert.equal(key, `rk_${id}_${secret}`);
  assert.deepEqual(Buffer.from(hash), createHash('sha256').update(secret).digest());
  assert.deepEqual(readKey(key), { id, hash });
});

test('no two are alike', () => {
  const made = Array.from({ length: 1_000 }, makeKey);
  assert.equal(new Set(made.map(({ id }) => id)).size, 1_000);
  assert.equal(new Set(made.map(({ key }) => key.slice(20))).size, 1_000);
});

describe('what cannot be a key is null', () => {
  const { key } = makeKey();
  const wrong: Readonly<Record<string, string>> = {
    'an empty text': '',
    'an id alone': key.slice(0, 19),
    'a secret that is cut short': key.slice(0, -1),
    'a letter too many': `${key}a`,
    'a space before it': ` ${key}`,
    'a line break after it': `${key}\n`,
    'another prefix': `sk${key.slice(2)}`,
    'a prefix in capitals': `RK${key.slice(2)}`,
    'a letter that no id has': `rk_${'i'.repeat(16)}${key.slice(19)}`,
    'a sign that no secret has': `${key.slice(0, -1)}+`,
    'letters of another script': `${key.slice(0, -1)}а`,
  };
  for (const [name, text] of Object.entries(wrong))
    test(name, () => {
      assert.equal(readKey(text), null);
      assert.equal(isKeyText(text), false);
    });
});

test('whatever the text is, there is an answer, and both questions agree', () => {
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => isKeyText(text) === (readKey(text) !== null)));
});
