/** Every requirement is claimed by a test, and no test claims one that nobody wrote down. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { requirements } from './requirements.ts';

const names = ['.', 'credentials', 'errors', 'limits', 'notices', 'recovery', 'upstream'];
const beside = ['chaos', 'chaos/limits', 'chaos/models', 'e2e/egress', 'e2e/http', 'e2e/model-clients'].map(
  (name) => `../${name}`,
);
const folders = [...names, ...beside].map((name) => path.join(import.meta.dirname, name));

/** The contract of stores is proven by functions that every adapter calls; it cites no ids. */
const isOurs = (name: string) =>
  name.endsWith('.test.ts') && !name.startsWith('store-') && name !== 'requirements.test.ts';

const textIn = (folder: string) => (name: string) => [name, readFileSync(path.join(folder, name), 'utf8')] as const;

const texts = folders.flatMap((folder) => readdirSync(folder).filter(isOurs).map(textIn(folder)));

const cited = texts.flatMap(([name, text]) => {
  const titles = [...text.matchAll(/\btest\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1/g)].map((match) => match[2] ?? '');
  return titles.map((title) => ({
    name,
    title,
    ids: [...title.matchAll(/\[(C\d+-[a-z]+-\d+)\]/g)].map((match) => match[1]),
  }));
});

describe('requirements', () => {
  test('each has an id of its section, and a sentence', () => {
    assert.equal(new Set(requirements.map(({ id }) => id)).size, requirements.length);
    for (const { id, section, says } of requirements) {
      assert.match(id, /^C[1-9]-[a-z]+-[1-9]\d*$/);
      assert.ok(section >= 1 && section <= 9 && says.length > 10, id);
    }
  });

  test('each is claimed by at least one test', () => {
    const claimed = new Set(cited.flatMap(({ ids }) => ids));
    assert.deepEqual(
      requirements.map(({ id }) => id).filter((id) => !claimed.has(id)),
      [],
    );
  });

  test('no test cites one that is not there, and every title begins with what it proves', () => {
    const known = new Set<string | undefined>(requirements.map(({ id }) => id));
    assert.ok(cited.length > 100, `${cited.length} titles were found`);
    for (const { name, title, ids } of cited) {
      assert.match(title, /^\[C\d/, `${name}: ${title}`);
      assert.deepEqual(
        ids.filter((id) => !known.has(id)),
        [],
        `${name}: ${title}`,
      );
    }
  });
});
