/** Keys are found wherever a tool can put them without meaning to, and nothing else of a result changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findKeyIds } from './find-keys.ts';
import { makeKey, secretHash } from './key-text.ts';

const id = '0123456789abcdef';
const secret = Buffer.from(Array.from({ length: 32 }, (_, at) => at * 8)).toString('base64url');
const key = `rk_${id}_${secret}`;
const shown = `rk_${id}_…masked`;
const half = key.slice(0, 40);

function masked(value: unknown, live = { id, hash: secretHash(secret) }): unknown {
  const found = findKeyIds(value)?.mask({ hashes: new Map([[live.id, live.hash]]), unsure: new Set() }) ?? null;
  return found === null ? value : found.value;
}

const text = (value: string) => ({ type: 'text', text: value });
const base64 = (value: string) => Buffer.from(value).toString('base64');

const cases: Readonly<Record<string, readonly [given: unknown, masked: unknown]>> = {
  alone: [key, shown],
  'behind a backslash': [`C:\\${key} \\n${key}`, `C:\\${shown} \\n${shown}`],
  'within a text, twice': [`a ${key} b${key}`, `a ${shown} b${shown}`],
  'with letters right before and after': [`xyz${key}tail`, `xyz${shown}tail`],
  nested: [{ a: [{ b: { c: `<${key}>` } }] }, { a: [{ b: { c: `<${shown}>` } }] }],
  'as the name of a member': [
    { [key]: 1, b: 2 },
    { [shown]: 1, b: 2 },
  ],
  'in structured content and in text': [
    { content: [text(key)], structuredContent: { token: key } },
    { content: [text(shown)], structuredContent: { token: shown } },
  ],
  'cut over two blocks': [
    { content: [text(`see ${key.slice(0, 30)}`), text(`${key.slice(30)} end`)] },
    { content: [text(`see ${shown}`), text(' end')] },
  ],
  'cut within its prefix, over three blocks, with another kind between': [
    { content: [text('see r'), text(key.slice(1, 50)), { type: 'image', data: 'AAAA' }, text(`${key.slice(50)}.`)] },
    { content: [text(`see ${shown}`), text(''), { type: 'image', data: 'AAAA' }, text('.')] },
  ],
  'in a list of lines': [
    [key.slice(0, 20), key.slice(20), 'next'],
    [shown, '', 'next'],
  ],
  'cut by a line break': [`${key.slice(0, 33)}\r\n  ${key.slice(33)}\nnext`, `${shown}\nnext`],
  'cut by a line break that JSON spelt': [JSON.stringify(`${key.slice(0, 33)}\n${key.slice(33)}`), `"${shown}"`],
  'the beginning of one': [`first 40: ${half}, and more`, `first 40: ${shown}, and more`],
  'right behind something like one': [`rk_${id}_${'a'.repeat(20)}${key}`, shown],
  'in two members': [
    { a: `rk_${id}_`, b: secret },
    { a: shown, b: '' },
  ],
  'in two members, the secret first': [
    { a: secret, b: `rk_${id}_` },
    { a: '…masked', b: `rk_${id}_` },
  ],
  'in two members, cut in its secret': [
    { a: half, b: { c: key.slice(40) } },
    { a: shown, b: { c: '' } },
  ],
  'in a name and its value': [{ [half]: key.slice(40) }, { [shown]: '' }],
  'in two names': [{ [`rk_${id}_`]: { [secret]: 1 } }, { [shown]: { '': 1 } }],
  'one character for each member': [
    { ...[...key], next: 'x' },
    { ...[...key].map((_, at) => (at === 0 ? shown : '')), next: 'x' },
  ],
  'with many blanks in it': [`rk_${id}_${' '.repeat(20)}${secret}.`, `${shown}.`],
  'with a line break and many blanks in it': [`${half}\n${' '.repeat(12)}${key.slice(40)}.`, `${shown}.`],
  'in lines with numbers': [`1\trk_${id}_\n2\t${secret}\n3\tx`, `1\t${shown}\n2\t\n3\tx`],
  'in lines with numbers, cut in its secret': [`1\t${half}\n2\t${key.slice(40)}`, `1\t${shown}\n2\t`],
  'in lines with dashes': [`-${half}\n-${key.slice(40)}`, `-${shown}\n-`],
  'in texts that are added': [`"${half}" +\n  "${key.slice(40)}"`, `"${shown}"`],
  'in items with numbers': [
    [text(`1: rk_${id}_`), text(`2: ${secret}`)],
    [text(`1: ${shown}`), text('2: ')],
  ],
  'with a line break in it, as JSON in JSON': [
    JSON.stringify(JSON.stringify({ key: `${half}\n${key.slice(40)}` })),
    JSON.stringify(JSON.stringify({ key: shown })),
  ],
  'in UTF-16': [`${[...key].join('\0')}\0.`, `${shown}\0.`],
  'in UTF-16, as JSON spells it': [JSON.stringify([...key].join('\0')), `"${shown}"`],
  'in UTF-16, in base64': [
    Buffer.from(`ab${key}.`, 'utf16le').toString('base64'),
    Buffer.from(`a\0b\0${shown}\0.\0`).toString('base64'),
  ],
  'in bytes': [{ data: [1, 200, ...Buffer.from(key), 0] }, { data: [...Buffer.from(`\u0001\u00C8${shown}\0`)] }],
  'in bytes that are members': [{ ...[...Buffer.from(key)] }, { ...[...Buffer.from(shown)] }],
  'in base64': [{ blob: base64(`${key}\n`) }, { blob: base64(`${shown}\n`) }],
  'in base64, in lines of 76': [base64(`hello ${key}\n`).replaceAll(/(.{76})/g, '$1\n'), base64(`hello ${shown}\n`)],
  'in base64 within a text': [
    `data:text/plain;base64,${base64(`${key} x`)}`,
    `data:text/plain;base64,${base64(`${shown} x`)}`,
  ],
};

for (const [name, [given, expected]] of Object.entries(cases))
  test(`a key ${name}`, () => {
    assert.deepEqual(masked(given), expected);
    assert.ok(!JSON.stringify(masked(given)).includes(secret));
  });

test('if part of a secret is behind its id and the rest is not found, nothing long is shown', () => {
  const rest = key.slice(28);
  const given = { b: rest, z: `${key.slice(0, 27)}, the beginning`, structuredContent: `see ${rest}` };
  assert.deepEqual(masked(given), { b: '…masked', z: `${shown}, the beginning`, structuredContent: 'see …masked' });
});

test('of a secret that was found no good part is shown anywhere', () => {
  const given = { a: key, b: secret.slice(5, 40), c: `x${secret.slice(-16)}y`, d: secret.slice(0, 15) };
  assert.deepEqual(masked(given), { a: shown, b: '…masked', c: 'x…maskedy', d: secret.slice(0, 15) });
});

test('of a value that is too large to be searched, nothing long is shown if a live id is in it and its secret not behind it', () => {
  const filler = 'many words '.repeat(20_000);
  const given = { a: filler, b: `rk_${id}_`, c: [secret, 'structuredContent'] };
  assert.deepEqual(masked(given), { a: filler, b: `rk_${id}_`, c: ['…masked', '…masked'] });
  assert.deepEqual(masked({ a: filler, b: `<${key}>` }), { a: filler, b: `<${shown}>` });
});

test('the id of a live key alone, or what was masked before, changes nothing', () => {
  for (const given of [{ a: `rk_${id}_`, b: 'structuredContent' }, `${shown} structuredContent`, [shown, secret]])
    assert.equal(masked(given), given);
});

test('whatever looks like a key is masked if nobody can say what it is, and nothing long is shown', () => {
  const { key: other, id: otherId } = makeKey();
  const found = findKeyIds({ a: `<${other}>`, b: secret, c: 'some words' });
  assert.deepEqual(found?.ids, [otherId]);
  assert.deepEqual(found?.mask({ hashes: new Map(), unsure: new Set([otherId]) }), {
    value: { a: `<rk_${otherId}_…masked>`, b: '…masked', c: 'some words' },
    keyIds: [otherId],
  });
});

test('what is no key of ours passes as it is, and is not copied', () => {
  const { key: other } = makeKey();
  for (const given of [
    other,
    { a: [other] },
    'rk_live_abc',
    'work_item rk_',
    `rk_${id}`,
    shown,
    key.toUpperCase(),
    7,
    null,
    undefined,
    [...Buffer.from(other)],
  ])
    assert.equal(masked(given), given);
  const shared = { untouched: { deep: ['x'] } };
  const result = masked({ key, shared }) as { shared: unknown };
  assert.equal(result.shared, shared);
  const circle: { self?: unknown; key: string } = { key };
  circle.self = circle;
  assert.equal((masked(circle) as { key: string }).key, shown);
});

test('property: wherever a key is cut, in whatever value, its secret is not in what is left', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(key.length), { maxLength: 4 }),
      fc.jsonValue({ maxDepth: 3 }),
      // Before a key that is cut, a text with its first letter would be masked with it.
      fc.string().map((text) => `${text.replaceAll('r', '')} `),
      (cuts, around, before) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), key.length];
        const pieces = at
          .slice(1)
          .map((end, index) => text(`${index === 0 ? before : ''}${key.slice(at[index], end)}`));
        const left = (masked({ around, content: pieces }) as { content: { text: string }[] }).content;
        assert.equal(left.map((piece) => piece.text).join(''), `${before}${shown}`);
      },
    ),
  );
});

/** How programs and people set one part after the other. */
const cutUp: Readonly<Record<string, (parts: readonly string[]) => unknown>> = {
  'numbered lines': (parts) => parts.map((part, at) => `${at + 1}\t${part}\n`).join(''),
  'numbered items': (parts) => parts.map((part, at) => text(`${at + 1}: ${part}`)),
  'lines of a comparison': (parts) => parts.map((part) => `+${part}\n`).join(''),
  'texts that are added': (parts) => parts.map((part) => `"${part}"`).join(' +\n'),
  'blanks between': (parts) => parts.join(`\n${' '.repeat(30)}`),
  'members of one object': (parts) => Object.fromEntries(parts.map((part, at) => [`m${at}`, part])),
  'objects within objects': (parts) => parts.reduceRight<unknown>((inner, part) => ({ part, inner }), null),
  'JSON in JSON in JSON': (parts) => JSON.stringify(JSON.stringify(JSON.stringify(parts.join('\r\n')))),
};

for (const [name, arrange] of Object.entries(cutUp))
  test(`property: no good part of any key is left, cut behind its id and in its secret: ${name}`, () => {
    fc.assert(
      fc.property(fc.nat(40), fc.nat(40), (first, next) => {
        const made = makeKey();
        const cuts = [...new Set([0, 20, 20 + first, 20 + next, 63])].toSorted((a, b) => a - b);
        const parts = cuts.slice(1).map((end, at) => made.key.slice(cuts[at], end));
        // A single character between numbers is a number itself.
        fc.pre(parts.every((part) => part.length > 1));
        const shown = JSON.stringify(
          masked(arrange(parts), { id: made.id, hash: Buffer.from(made.hash).toString('hex') }),
        );
        for (let at = 20; at + 16 <= made.key.length; at++) {
          const part = made.key.slice(at, at + 16);
          assert.ok(!shown.includes(part), `${part} of ${made.key} in ${shown}`);
        }
      }),
      { numRuns: 300 },
    );
  });

test('property: wherever it stands in base64, and however that is cut into lines', () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 90 }),
      fc.string({ maxLength: 90 }),
      fc.constantFrom('\n', '\r\n'),
      (before, after, end) => {
        const lines = base64(`${before}${key}${after}`).replaceAll(/(.{76})/g, `$1${end}`);
        const left = Buffer.from(String(masked(lines)), 'base64').toString('latin1');
        assert.ok(left.includes(Buffer.from(shown).toString('latin1')) && !left.includes(secret), lines);
      },
    ),
  );
});
