/**
 * Measures functions with the linter: which are too complex, too long, or have too many parameters, and by how much.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Tree } from './read-source.ts';

export const functionLimits = { complexity: 15, 'max-lines-per-function': 60, 'max-params': 5 };
export type FunctionRule = keyof typeof functionLimits;

export interface Measured {
  readonly rule: FunctionRule;
  readonly file: string;
  /** Of the function, or of what it is assigned to. */
  readonly name: string;
  readonly figure: number;
  /** The text of the function; of one with too many parameters, of these. */
  readonly text: string;
}

interface Diagnostic {
  readonly message: string;
  readonly code: string;
  readonly filename: string;
  readonly labels: readonly [{ readonly span: { readonly offset: number; readonly length: number } }];
}

const linter = path.join(import.meta.dirname, '../../node_modules/oxlint/bin/oxlint');
const measured = new WeakMap<Tree, readonly Measured[]>();

/**
 * Everything above a limit, in the order of the files. The linter reads files, so the tree is written to a folder of
 * its own.
 */
export function measureFunctions(tree: Tree, isMeasured: (file: string) => boolean): readonly Measured[] {
  const known = measured.get(tree);
  if (known !== undefined) return known;
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-house-'));
  try {
    const rules = Object.entries(functionLimits).map(([rule, max]) => [rule, ['error', max]]);
    const settings = { categories: { correctness: 'off' }, rules: Object.fromEntries(rules) as unknown };
    writeFileSync(path.join(folder, 'limits.json'), JSON.stringify(settings));
    for (const [file, text] of tree) if (isMeasured(file)) writeIn(folder, file, text);
    const found = readDiagnostics(folder).map((diagnostic) => measuredIn(tree, diagnostic));
    measured.set(tree, found);
    return found;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeIn(folder: string, file: string, text: string): void {
  const full = path.join(folder, file);
  mkdirSync(path.dirname(full), { recursive: true });
  writeFileSync(full, text);
}

function readDiagnostics(folder: string): readonly Diagnostic[] {
  const args = [linter, '-c', 'limits.json', '-f', 'json', '.'];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', maxBuffer: 64 << 20 });
  try {
    const { diagnostics } = JSON.parse(stdout) as { readonly diagnostics: readonly Diagnostic[] };
    return diagnostics.toSorted((a, b) =>
      a.filename < b.filename ? -1 : a.filename > b.filename ? 1 : offsetOf(a) - offsetOf(b),
    );
  } catch {
    throw new Error(`the linter gave no figures: ${stdout.slice(0, 1_000)}${stderr}`);
  }
}

const offsetOf = ({ labels: [{ span }] }: Diagnostic) => span.offset;

function measuredIn(tree: Tree, { message, code, filename, labels: [{ span }] }: Diagnostic): Measured {
  const rule = /\((.*)\)$/.exec(code)?.[1] as FunctionRule;
  const figure = Number(/(?:\(|complexity of )(\d+)/.exec(message)?.[1]);
  if (!(rule in functionLimits) || Number.isNaN(figure)) throw new Error(`the linter says something else: ${message}`);
  // Offsets count bytes.
  const bytes = Buffer.from(tree.get(filename) ?? '');
  const before = bytes.subarray(0, span.offset).toString();
  const text = bytes.subarray(span.offset, span.offset + span.length).toString();
  const name = /[`']([^`']+)[`']/.exec(message)?.[1] ?? nameBefore(before);
  return { rule, file: filename, name, figure, text };
}

/** Of `const name = (`, `name: (`, `name(` and the like. */
const nameBefore = (before: string): string =>
  /([\w$]+)\??\s*(?:[=:]\s*)?(?:async\s*)?(?:<[^<>]*>\s*)?$/.exec(before.slice(-200))?.[1] ?? 'a function';
