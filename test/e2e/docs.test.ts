/**
 * Do the documents tell the truth? Every block of code in the README and the guides is type-checked and run, in order,
 * in a folder of its own; what a document says that a block prints is compared. Tables of names are held against the
 * code.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { RefusalReason } from '../../src/adapters/store-sqlite/file/refusal.ts';
import { configShape, snakeCase } from '../../src/config/shape/config-shape.ts';
import type { Shape } from '../../src/config/shape/shape.ts';
import { statusesOf } from '../../src/core/http/http-status.ts';
import { classify } from '../../src/core/recovery/classify.ts';
import { codes, errors, kinds, legalTransitions } from '../../src/core/taxonomy.ts';
import type { ErrorCode, ErrorKind, ErrorName, ErrorSubject } from '../../src/core/taxonomy.ts';
import { defaultLimits, type OperatorNotice } from '../../src/index.ts';
import { blocksIn, codeIn, tableIn } from '../support/read-docs.ts';
import {
  fileOf,
  furnish,
  isWritten,
  masked,
  runProgram,
  runScript,
  settleIn,
  typeErrors,
  writeBlock,
} from '../support/reader-folder.ts';
import { showLimit } from '../support/show-limit.ts';

const root = path.dirname(path.dirname(import.meta.dirname));
const guides = readdirSync(path.join(root, 'docs/guides')).filter((name) => name.endsWith('.md'));
const documents = ['README.md', ...guides.map((name) => `docs/guides/${name}`)].map((name) => {
  const text = readFileSync(path.join(root, name), 'utf8');
  return { name, folder: path.basename(name, '.md').toLowerCase(), text, blocks: blocksIn(text) };
});
const textOf = (name: string) => documents.find((document) => document.folder === name)?.text ?? '';

/** Commands that are not run here, and who runs them instead. */
const runElsewhere: Readonly<Record<string, string>> = {
  'npm install': 'CI, before everything else',
  'npm test': 'CI; this test is a part of it',
  'npm start': 'test/e2e/demo/demo.test.ts: it runs until somebody ends it',
  'npm start -- init': 'test/e2e/cli-init.test.ts; here the file is there already',
  'npm start -- up': 'test/e2e/cli-up.test.ts: it runs until somebody ends it',
  'npm install recourse-gateway': 'nobody yet: it needs the registry',
};

const withoutElsewhere = (script: string): string =>
  script
    .split('\n')
    .map((line) => line.split(' && ').filter((command) => !(command.replace(/\s+#.*$/, '').trim() in runElsewhere)))
    .map((commands) => commands.join(' && '))
    .join('\n');

describe('the blocks of code in the documents', { concurrency: 2 }, () => {
  let folder = '';
  after(() => rmSync(folder, { recursive: true, force: true }));
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'recourse-docs-'));
    await furnish(folder);
    for (const { folder: name, blocks } of documents) {
      const own = settleIn(folder, name);
      for (const block of blocks) if (isWritten(block)) writeBlock(own, block);
    }
  });

  test('there are some', () => {
    assert.ok(documents.flatMap(({ blocks }) => blocks).filter(({ language }) => language === 'ts').length >= 10);
  });

  test('are written in a language that is checked here', () => {
    const known = ['ts', 'sh', 'text', 'json', 'yaml', ''];
    for (const { name, blocks } of documents)
      for (const { language, line } of blocks) assert.ok(known.includes(language), `${name}:${line}: ${language}`);
  });

  test('pass the type check', async () => assert.deepEqual(await typeErrors(folder), []));

  for (const { name, folder: own, blocks } of documents)
    // One after the other: a block finds what those before it left.
    describe(name, { concurrency: 1 }, () => {
      for (const block of blocks) {
        const { language, line, text, prints } = block;
        if (language !== 'ts' && language !== 'sh') continue;
        test(`line ${line} runs`, async () => {
          const place = path.join(folder, own);
          const script = withoutElsewhere(text);
          const ran =
            language === 'ts'
              ? await runProgram(place, path.join(place, fileOf(block)))
              : await runScript(place, script);
          assert.equal(ran.code, 0, `${ran.printed}${ran.complained}`);
          if (prints !== null) assert.equal(masked(ran.printed), masked(prints));
        });
      }
    });
});

test('`npm start` in a clone runs the command that the blocks are run with', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  assert.equal(scripts.start, 'node scripts/start.js');
  const script = readFileSync(path.join(root, 'scripts/start.js'), 'utf8');
  assert.match(script, /^await import\('\.\.\/bin\/recourse\.js'\);$/m);
});

describe('ARCHITECTURE.md', () => {
  const text = readFileSync(path.join(root, 'ARCHITECTURE.md'), 'utf8');

  test('names the files on the path of a call, in their order', () => {
    const rows = tableIn(text, '').map(([place = '', file = '']) => [place, codeIn(file)[0] ?? ''] as const);
    assert.equal(rows.length, 7);
    for (const [place, file] of rows)
      assert.ok(readFileSync(path.join(root, 'src', file), 'utf8').includes(`Path of a call: ${place}.`), file);
  });

  test('draws the transitions that are legal', () => {
    const drawn = [...text.matchAll(/^(\(none\)|[A-Z_]+) +→ (.+)$/gm)].map(([, from = '', to = '']) => {
      return [from, to.split(' | ').map((state) => state.replace('*', ''))] as const;
    });
    const legal = Object.entries(legalTransitions).filter(([, to]) => to.length > 0);
    assert.deepEqual(Object.fromEntries(drawn), Object.fromEntries(legal));
  });

  test('names only files that exist', () => {
    const named = [...text.matchAll(/`((?:src|test|docs)\/[\w./-]+)`/g)].map(([, name = '']) => name);
    for (const name of named) assert.ok(existsSync(path.join(root, name)), name);
  });
});

describe('the tables of the guides', () => {
  test('operations.md lists every limit with its default, in the order of the code', () => {
    const said = tableIn(textOf('operations'), 'limit').map(([name = '', value]) => [codeIn(name)[0], value]);
    assert.deepEqual(
      said,
      Object.entries(defaultLimits).map(([name, value]) => [name, showLimit(name, value)]),
    );
  });

  test('operations.md lists every notice that an operator can get', () => {
    const known = {
      store_unavailable: true,
      store_recovered: true,
      unexpected: true,
      recovered: true,
      reply_altered: true,
      clock_held: true,
      body_blocks: true,
      key_masked: true,
      store_place: true,
      breaker: true,
      egress_denied: true,
      suppressed: true,
      extension_failed: true,
    } satisfies Record<OperatorNotice['kind'], true>;
    assert.deepEqual(namesIn('operations', 'notice'), Object.keys(known).sort());
  });

  test('operations.md lists every reason for which a gateway does not open', () => {
    const known = {
      bad_options: true,
      extension: true,
      newer_schema: true,
      not_a_store: true,
      not_writable: true,
      locked: true,
      journal_broken: true,
      store_missing: true,
      store_replaced: true,
      io: true,
    } satisfies Record<Exclude<RefusalReason, 'missing'> | 'bad_options' | 'extension', true>;
    assert.deepEqual(namesIn('operations', 'reason'), Object.keys(known).sort());
  });

  test('configuration.md names every key of the file, and none that is not one', () => {
    const cells = textOf('configuration')
      .split('\n')
      .map((line) => /^\| (`[^|]+) \|/.exec(line)?.[1] ?? '');
    const said = cells.flatMap(codeIn).flatMap((name) => name.split('.'));
    const known = [...keysIn(configShape)].filter((name) => !isLimit.has(name));
    assert.deepEqual([...new Set(said)].filter((name) => /\w/.test(name)).sort(), known.sort());
  });

  test('replies.md pairs errors and codes that belong together, with their status', () => {
    const rows = tableIn(textOf('replies'), 'error');
    assert.ok(rows.length >= 20);
    for (const [error = '', code = '', , status] of rows) {
      const [name, word] = [codeIn(error)[0] as ErrorName, codeIn(code)[0] as ErrorCode];
      assert.ok(Object.hasOwn(errors, name) && Object.hasOwn(codes, word), `${error} ${code}`);
      assert.ok(statusesOf(name, word).includes(Number(status)), `${error} ${code} ${status}`);
    }
  });

  test('tools.md lists every kind of failure, with the code and the effect that a write gets', () => {
    assert.deepEqual(namesIn('tools', 'kind'), Object.keys(kinds).sort());
    for (const [kind = '', when = '', code = '', effect] of tableIn(textOf('tools'), 'kind')) {
      const subjects: (string | undefined)[] = when.startsWith('subject') ? [...codeIn(when)] : [undefined];
      if (when.endsWith('or none')) subjects.push(undefined);
      for (const subject of subjects) {
        const proven = classify(codeIn(kind)[0] as ErrorKind, subject as ErrorSubject | undefined, 'plain');
        assert.deepEqual([proven.code, proven.effect], [codeIn(code)[0], effect], `${kind} ${when}`);
      }
    }
  });
});

/** Limits have a table of their own, in operations.md. */
const isLimit = new Set(Object.keys(defaultLimits).map(snakeCase));

function keysIn(shape: Shape, known = new Set<string>(), seen = new Set<string>()): ReadonlySet<string> {
  if (shape.kind === 'again' && !seen.has(shape.name)) keysIn(shape.shape(), known, seen.add(shape.name));
  if (shape.kind === 'named') keysIn(shape.values, known, seen);
  if (shape.kind === 'list') keysIn(shape.items, known, seen);
  if (shape.kind === 'either')
    for (const each of [shape.text, shape.map, shape.list]) if (each !== undefined) keysIn(each, known, seen);
  if (shape.kind === 'fields')
    for (const [name, field] of Object.entries(shape.fields)) keysIn(field.shape, known.add(name), seen);
  return known;
}

function namesIn(guide: string, heading: string): readonly string[] {
  return [...new Set(tableIn(textOf(guide), heading).map(([name = '']) => codeIn(name)[0] ?? ''))].sort();
}
