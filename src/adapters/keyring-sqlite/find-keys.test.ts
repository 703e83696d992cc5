/** Keys are found wherever a tool can put them without meaning to, and nothing else of a result changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findKeyTexts } from './find-keys.ts';
import { idIn, makeKey } from './key-text.ts';

const { key, id } = makeKey();
const shown = `rk_${id}_…masked`;
const secret = key.slice(`rk_${id}_`.length);
const half = key.slice(0, 40);
const live = new Set([key]);

/** As the guard asks: whole keys by their text, beginnings by their id. */
function masked(value: unknown): unknown {
  const found = findKeyTexts(value);
  if (found === null) return value;
  return found.mask(
    new Set(found.texts.filter((text) => live.has(text) || (text.length < key.length && idIn(text) === id))),
  );
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
  'right behind something like one': [`rk_${id}_${'a'.repeat(20)}${key}`, `rk_${id}_${'a'.repeat(20)}${shown}`],
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
      fc.string(),
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
