/**
 * Writes what is made from the sources: docs/codes, docs/conformance.md, the two files of docs/reference, and the JSON
 * Schema of recourse.yaml. `node scripts/generate.ts` writes; with `--check` it only compares, names what is stale and exits with
 * 1. Must not hold any text of its own; the text is made in src.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { configSchema } from '../src/config/shape/config-schema.ts';
import { codePage, codesIndex, generatedMark } from '../src/core/taxonomy/code-pages.ts';
import { openapiDocument } from '../src/core/http/openapi-paths.ts';
import { replySchema } from '../src/core/http/reply-schema.ts';
import { codes, type ErrorCode } from '../src/core/taxonomy.ts';
import { codeEmitters } from './code-emitters.ts';
import { conformancePage } from './conformance-page.ts';

const codesFolder = 'docs/codes';

/** Every generated file, by its path from the project's root. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const pages = (Object.keys(codes) as ErrorCode[]).map(
    (code) => [`${codesFolder}/${code}.md`, codePage(code, codeEmitters[code].by, codeEmitters[code].files)] as const,
  );
  return new Map([
    ...pages,
    [`${codesFolder}/README.md`, codesIndex()],
    ['docs/conformance.md', conformancePage(join(import.meta.dirname, '..'))],
    ['docs/reference/reply.schema.json', json(replySchema())],
    ['docs/reference/openapi.json', json(openapiDocument())],
    ['schemas/recourse.schema.json', json(configSchema())],
  ]);
}

/** The files under the root that are missing, differ, or belong to a code that no longer exists. */
export function staleFiles(root: string): readonly string[] {
  const files = generatedFiles();
  const outdated = [...files].filter(([path, text]) => textOf(join(root, path)) !== text).map(([path]) => path);
  return [...outdated, ...orphans(root, files)].toSorted();
}

export function writeFiles(root: string): void {
  const files = generatedFiles();
  for (const path of orphans(root, files)) rmSync(join(root, path));
  for (const [path, text] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** Pages that an earlier run wrote; a page written by a person has no mark and is left alone. */
function orphans(root: string, files: ReadonlyMap<string, string>): readonly string[] {
  return namesIn(join(root, codesFolder))
    .map((name) => `${codesFolder}/${name}`)
    .filter((path) => !files.has(path) && textOf(join(root, path))?.startsWith(generatedMark));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.md'));
  } catch (error) {
    return whenMissing(error, []);
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return whenMissing(error, null);
  }
}

function whenMissing<Value>(error: unknown, value: Value): Value {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return value;
  throw error;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function main(): void {
  const root = join(import.meta.dirname, '..');
  if (!process.argv.includes('--check')) {
    writeFiles(root);
    return;
  }
  const stale = staleFiles(root);
  if (stale.length === 0) return;
  const sentence =
    'these files do not match the sources they are made from; run `node scripts/generate.ts` and keep what it writes:';
  process.stderr.write(`${[sentence, ...stale].join('\n  ')}\n`);
  process.exitCode = 1;
}

if (import.meta.main) main();
