/** How much script the first load of the console brings: the page, what it imports at once, and the page that opens. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

const built = path.join(import.meta.dirname, '../../../console/dist');
const maxBytes = 150 * 1_024;

/** The file and all that it imports, except what is imported later. */
function withImports(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  const text = readFileSync(path.join(built, file), 'utf8');
  for (const [, name = ''] of text.matchAll(/(?:\bfrom|\bimport)\s*["']\.\/([\w.-]+\.js)["']/g))
    withImports(`assets/${name}`, found);
  return found;
}

test('[C8-console-6] the first load of the console is less than 150 KB of compressed script', () => {
  assert.ok(existsSync(path.join(built, 'index.html')), 'the console is not built: run npm install');
  const page = readFileSync(path.join(built, 'index.html'), 'utf8');
  const [, entry = ''] = /<script[^>]+src="\/([^"]+)"/.exec(page) ?? [];
  const live = readdirSync(path.join(built, 'assets')).find((name) => /^live-page-.*\.js$/.test(name)) ?? '';
  const files = new Set([...withImports(entry), ...withImports(`assets/${live}`)]);
  const bytes = [...files].reduce((sum, file) => sum + gzipSync(readFileSync(path.join(built, file))).length, 0);
  assert.ok(bytes < maxBytes, `${bytes} bytes in ${files.size} files`);
});

test('[C8-console-5] the page holds no script and no style of its own, and names no other host', () => {
  const page = readFileSync(path.join(built, 'index.html'), 'utf8');
  assert.doesNotMatch(page, /<style|style=|\son\w+=|javascript:|https?:/i);
  for (const [, inside = ''] of page.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)) assert.equal(inside, '');
  for (const name of readdirSync(path.join(built, 'assets'))) {
    const text = readFileSync(path.join(built, 'assets', name), 'utf8');
    const hosts = [...text.matchAll(/\bhttps?:\/\/[\w.-]+/g)].map(([host]) => host);
    assert.deepEqual(
      hosts.filter((host) => host !== 'http://www.w3.org'),
      [],
      name,
    );
  }
});
