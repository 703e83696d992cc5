import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findLookAlikes, lookAtRules, skeletonOf, suspicionOf } from './look-alike.ts';

test('a name that mixes alphabets or hides something is suspicious, with its code points', () => {
  for (const [name, says] of [
    ['payments/r\u0435fund', 'mixes letters that look alike: Latin and Cyrillic (U+0435)'],
    ['p\u0430yments/refund', 'mixes letters that look alike: Latin and Cyrillic (U+0430)'],
    ['payments/r\u0435*', 'mixes letters that look alike: Latin and Cyrillic (U+0435)'],
    ['files/\u03bfpen', 'mixes letters that look alike: Latin and Greek (U+03BF)'],
    ['files/\u0585pen', 'mixes letters that look alike: Latin and Armenian (U+0585)'],
    ['pay\u200bments/x', 'holds what cannot be seen (U+200B)'],
    ['pay/\u202ex', 'holds what cannot be seen (U+202E)'],
    ['pay/\u{e0041}x', 'holds what cannot be seen (U+E0041)'],
  ] as const)
    assert.equal(suspicionOf(name), says);
});

test('names of one alphabet for each part are not, whichever alphabet it is', () => {
  for (const name of [
    'payments/refund',
    'crm/удалить',
    'crm/Ελλάδα',
    'files/日本語_read',
    'files/größe-lesen',
    'कर/हटाएं',
    'a/b1_2-3.4',
    '**',
    'payments/*_v2',
  ])
    assert.equal(suspicionOf(name), null, name);
});

test('names that look the same are told beside each other', () => {
  assert.equal(skeletonOf('payments/r\u0435fund'), skeletonOf('payments/refund'));
  assert.equal(skeletonOf('files/\u0441\u043e\u0440\u0443'), skeletonOf('files/copy'));
  assert.equal(skeletonOf('\uff46iles/x'), skeletonOf('files/x'));
  assert.equal(skeletonOf('get/v1'), skeletonOf('get/vl'));
  // A row for each alphabet, small letters and capitals, and for what cannot be seen.
  for (const [written, seen] of [
    ['\u0410\u0421\u0422', 'ACT'],
    ['\u03bf\u03c1\u03b1', 'opa'],
    ['\u0391\u0392\u039f', 'ABO'],
    ['\u0585\u0578', 'on'],
    ['re\u200bad', 'read'],
    ['re\u{e0041}ad', 'read'],
    ['re\u0301ad', 'r\u00e9ad'],
  ] as const)
    assert.equal(skeletonOf(`files/${written}`), skeletonOf(`files/${seen}`), seen);
  assert.notEqual(skeletonOf('payments/refund'), skeletonOf('payments/refunds'));
  assert.deepEqual(findLookAlikes(['a/copy', 'a/\u0441\u043e\u0440\u0443', 'a/read']), [
    { name: 'a/copy', says: 'looks like a/\u0441\u043e\u0440\u0443' },
    { name: 'a/\u0441\u043e\u0440\u0443', says: 'looks like a/copy' },
  ]);
  assert.deepEqual(findLookAlikes(['a/copy', 'a/read', 'b/copy', 'b/COPY']), []);
});

test('a rule whose name only looks like that of a tool is told', () => {
  const look = lookAtRules(['files/read', 'files/copy', 'files/v1']);
  assert.equal(look('files/copy'), null);
  assert.equal(look('files/*'), null);
  assert.equal(look('files/delete'), null);
  assert.equal(
    look('files/\u0441\u043e\u0440\u0443'),
    'the name files/\u0441\u043e\u0440\u0443 is no tool, and looks like the tool files/copy',
  );
  assert.match(look('files/r\u0435ad') ?? '', /mixes .* \(U\+0435\), and looks like the tool files\/read$/);
  assert.match(look('files/r\u0435*') ?? '', /mixes .* \(U\+0435\)$/);
  assert.equal(look('files/vl'), 'the name files/vl is no tool, and looks like the tool files/v1');
});
