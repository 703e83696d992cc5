/** Every requirement is claimed by a test, and no test claims one that nobody wrote down. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { type Requirement, requirements } from './requirements.ts';
import { pending } from './stated/pending.ts';
import { idPattern, readCitations } from './stated/read-citations.ts';

const root = path.join(import.meta.dirname, '../..');
const cited = readCitations(root);

const folders = [
  ...[
    '',
    'credentials',
    'errors',
    'improvement',
    'limits',
    'notices',
    'partial',
    'recovery',
    'reversals',
    'stages',
    'upstream',
  ].map((name) => path.posix.join('test/conformance', name)),
  ...['chaos', 'chaos/limits', 'chaos/models', 'chaos/reversals', 'e2e/egress', 'e2e/model-clients', 'e2e/partial'].map(
    (name) => `test/${name}`,
  ),
];

/** The contract of stores is proven by functions that every adapter calls; it cites no ids. */
const isOurs = (file: string) => {
  const name = path.basename(file);
  return folders.includes(path.dirname(file)) && !name.startsWith('store-') && name !== 'requirements.test.ts';
};

const ids = requirements.map(({ id }) => id);

describe('requirements', () => {
  test('each has an id of its source, a sentence, and a place that exists', () => {
    assert.equal(new Set(ids).size, requirements.length);
    for (const { id, says, where } of requirements) {
      assert.match(id, new RegExp(`^${idPattern.source}$`));
      assert.ok(says.length > 10, id);
      if (!pending.includes(id)) assert.ok(existsSync(path.join(root, where)), `${id}: ${where}`);
    }
  });

  test('each is claimed by at least one test, unless it is absent and says why', () => {
    const claimed = new Set(cited.flatMap((each) => each.ids));
    const lacks = ({ id, absent }: Requirement) => absent === null && !claimed.has(id) && !pending.includes(id);
    assert.deepEqual(
      requirements.filter(lacks).map(({ id }) => id),
      [],
    );
    const isNot = ({ id, absent }: Requirement) => absent !== null && claimed.has(id);
    assert.deepEqual(requirements.filter(isNot), [], 'what is absent has no test');
  });

  test('what is pending is a requirement that no test claims yet', () => {
    const claimed = new Set(cited.flatMap((each) => each.ids));
    assert.deepEqual(
      pending.filter((id) => !ids.includes(id) || claimed.has(id)),
      [],
    );
  });

  test('no test cites one that is not there, and every title begins with what it proves', () => {
    const known = new Set(ids);
    assert.ok(cited.length > 100, `${cited.length} titles were found`);
    for (const { file, title, ids: claims } of cited) {
      if (isOurs(file)) assert.match(title, /^\[[CS]\d/, `${file}: ${title}`);
      assert.deepEqual(
        claims.filter((id) => !known.has(id)),
        [],
        `${file}: ${title}`,
      );
    }
  });
});
