/**
 * A folder as a reader of the documents has it: the package installed under its name, the schema libraries beside it,
 * the command `recourse` on the path, and a store with a few calls. Blocks of code are written there and run.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { defaultStore } from '../../src/compose/state/state-folder.ts';
import { createGateway, tool } from '../../src/index.ts';
import type { Block } from './read-docs.ts';
import { withReader } from './read-journal.ts';

const root = path.dirname(path.dirname(import.meta.dirname));
const libraries = ['zod', 'valibot', 'arktype', 'xstate', '@modelcontextprotocol/client'];
/** The entries of the package, and the sources that they are built from. */
const entries = [
  ['', 'src/index.ts'],
  ['/client', 'src/client/index.ts'],
  ['/testing', 'src/client/testing.ts'],
  ['/webhooks', 'src/client/webhooks.ts'],
  ['/extension', 'src/extension/index.ts'],
  ['/extension/testing', 'src/extension/testing.ts'],
] as const;
const storeName = 'recourse.db';

export interface Ran {
  readonly code: number | null;
  readonly printed: string;
  readonly complained: string;
}

/** What all documents share. */
export async function furnish(folder: string): Promise<void> {
  const stub = path.join(folder, 'node_modules', 'recourse-gateway');
  mkdirSync(stub, { recursive: true });
  const exports = Object.fromEntries(entries.map(([name]) => [`.${name}`, `./entry${name}.js`]));
  writeFileSync(path.join(stub, 'package.json'), JSON.stringify({ type: 'module', exports }));
  for (const [name, source] of entries) {
    const entry = pathToFileURL(path.join(root, source)).href;
    mkdirSync(path.dirname(path.join(stub, `entry${name}.js`)), { recursive: true });
    writeFileSync(path.join(stub, `entry${name}.js`), `export * from '${entry}';\n`);
  }
  for (const name of libraries) {
    const place = path.join(folder, 'node_modules', name);
    mkdirSync(path.dirname(place), { recursive: true });
    symlinkSync(path.join(root, 'node_modules', name), place, 'dir');
  }
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(typeRules(), null, 2));
  writeCommand(folder, 'recourse', `exec '${process.execPath}' '${path.join(root, 'bin/recourse.js')}' "$@"`);
  // In a clone `npm start` is the command; the store's name must not depend on where npm runs it.
  writeCommand(folder, 'npm', 'test "$1 $2" = "start --" || exit 64\nshift 2\nexec recourse "$@"');
  // The servers that documents start are installed here; a registry is not asked.
  const modules = path.join(root, 'node_modules');
  writeCommand(
    folder,
    'npx',
    `server="${modules}/$2/dist/index.js"\nshift 2\nexec '${process.execPath}' "$server" "$@"`,
  );
  await makeStore(path.join(folder, storeName));
}

/** The project's own strictness; what a short example leaves unused is no mistake. */
function typeRules() {
  return {
    extends: path.join(root, 'tsconfig.json'),
    compilerOptions: {
      noUnusedLocals: false,
      noUnusedParameters: false,
      typeRoots: [path.join(root, 'node_modules/@types')],
      paths: Object.fromEntries(
        entries.map(([name, source]) => [`recourse-gateway${name}`, [path.join(root, source)]]),
      ),
    },
    include: ['*/*.ts'],
  };
}

function writeCommand(folder: string, name: string, script: string): void {
  const file = path.join(folder, 'bin', name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

/** One call that succeeded, one that was refused, one in doubt. */
async function makeStore(file: string): Promise<void> {
  const pay = tool({
    name: 'pay',
    description: 'Pays a bill.',
    input: { type: 'object', properties: { bill: { type: 'string' } }, required: ['bill'] },
    run: async ({ bill }: { bill: string }) => {
      if (bill === 'lost') throw new Error('the bank hung up');
      return { paid: bill };
    },
  });
  const gateway = await createGateway({ tools: [pay], file });
  await gateway.call({ tool: 'pay', args: { bill: 'lost' } });
  await gateway.handle({ tool: 'pay', args: {} });
  await gateway.call({ tool: 'pay', args: { bill: 'rent' } });
  await gateway.close();
}

/** The folder of one document. Its blocks run there one after the other, as a reader would. */
export function settleIn(folder: string, name: string): string {
  const own = path.join(folder, name);
  mkdirSync(own);
  // One that a program named, and the one that commands find by themselves.
  const store = storeOf(own);
  mkdirSync(path.dirname(store), { recursive: true, mode: 0o700 });
  for (const file of [path.join(own, storeName), store]) copyFileSync(path.join(folder, storeName), file);
  return own;
}

/** A home that is nobody's: clients of MCP hand it on to the servers that they start, and little else. */
const stateOf = (own: string) => ({ HOME: path.join(path.dirname(own), 'home') });
const storeOf = (own: string) => defaultStore(own, stateOf(own));

/** A block that names its file in its first line is written there, so that others can refer to it. */
export function fileOf(block: Block): string {
  return namedIn(block) ?? `line-${block.line}.${block.language}`;
}

function namedIn({ text }: Block): string | null {
  return /^(?:\/\/|#) ([\w.-]+\.(?:ts|yaml))\n/.exec(text)?.[1] ?? null;
}

/** Programs, and whatever else has a name by which others refer to it. */
export function isWritten(block: Block): boolean {
  return block.language === 'ts' || (block.language === 'yaml' && namedIn(block) !== null);
}

export function writeBlock(own: string, block: Block): string {
  const file = path.join(own, fileOf(block));
  if (existsSync(file)) throw new Error(`two blocks are called ${path.basename(file)}`);
  // Two blocks of one folder must not share their names for the compiler.
  writeFileSync(file, block.language === 'ts' ? `${block.text}\nexport {};\n` : block.text);
  return file;
}

export function runProgram(own: string, file: string): Promise<Ran> {
  return finished(spawn(process.execPath, [file], { cwd: own, env: environment(own) }));
}

/**
 * The whole block as one script. What goes on until Ctrl-C stands alone, and gets one when it has printed something.
 */
export async function runScript(own: string, script: string): Promise<Ran> {
  const store = storeOf(own);
  const real = script
    .replaceAll(/\bcall_\w*…/g, await newestCall(store))
    .replaceAll(/\bses_\w*…/g, await lastSession(store));
  const endless = /\s(?:--follow|-f)\b|\brecourse (?:up|faults)\b(?!.* --list\b)/.test(script);
  const child = spawn('sh', ['-euc', endless ? `exec ${real}` : real], { cwd: own, env: environment(own) });
  child.stdin.end();
  if (endless) child.stdout.once('data', () => setTimeout(() => child.kill('SIGINT'), listensAfterMs));
  return finished(child);
}

/** Whoever prints its first line may need a moment more before it listens for Ctrl-C. */
const listensAfterMs = 500;

const newestCall = (file: string): Promise<string> =>
  withReader(file, async (reader) => (await reader.listCalls({ limit: 1 }))[0]?.id ?? 'call_none');

const lastSession = (file: string): Promise<string> =>
  withReader(file, async (reader) => (await reader.listSessions({ limit: 1 }))[0]?.id ?? 'ses_none');

function environment(own: string): NodeJS.ProcessEnv {
  const tools = [path.join(path.dirname(own), 'bin'), path.dirname(process.execPath), process.env['PATH'] ?? ''];
  const compiled = process.env['NODE_COMPILE_CACHE'];
  return {
    PATH: tools.join(path.delimiter),
    TMPDIR: path.dirname(own),
    NO_COLOR: '1',
    ...stateOf(own),
    // What another process of this run has compiled.
    ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }),
  };
}

function finished(child: ChildProcess): Promise<Ran> {
  const said = { printed: '', complained: '' };
  child.stdout?.on('data', (chunk: Buffer) => (said.printed += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (said.complained += chunk.toString()));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...said })));
}

/** Names and times that differ on every run. */
export function masked(text: string): string {
  return text
    .replaceAll(/\b(call|ses|inc|err)_[\w-]{10,}/g, '$1_…')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/\b[0-9a-f]{64}\b/g, '<hash>');
}

/** Complaints of the compiler about the blocks; what it says about the sources is for `npm run types`. */
export async function typeErrors(folder: string): Promise<readonly string[]> {
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
  const { printed } = await finished(
    spawn(process.execPath, [compiler, '-p', folder, '--pretty', 'false'], { cwd: folder }),
  );
  return printed.split('\n').filter((line) => /^[\w-]+\/[\w.-]+\.ts\(|^error /.test(line));
}
