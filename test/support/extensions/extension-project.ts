/** A project in a folder of its own, with real modules of extensions, loaded as `check` and `up` load one. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { type LoadedProject, loadProject } from '../../../src/compose/project/load-project.ts';

export const apiOfExtensions = path.resolve(import.meta.dirname, '../../../src/extension/index.ts');

/** The module of an extension; `rest` are its further fields, as they are written. */
export const moduleOf = (name: string, rest = '', before = ''): string => `
import { defineExtension } from ${JSON.stringify(apiOfExtensions)};
${before}
export const extension = defineExtension({ name: '${name}', contract: 1, ${rest} });
`;

/** A kind of servers with one read, `hello`, whose body is written. */
export const upstreamKind = (kind: string, body: string): string =>
  `upstreams: { ${kind}: {
    tools: [{ name: 'hello', description: 'says hello', input: { type: 'object' }, effect: 'pure' }],
    create: (settings, host) => ({ async invoke(attempt, signal) { ${body} } }),
  } },`;

export const says = (text: string): string => `return { kind: 'returned', output: '${text}', errors: [] };`;

export interface ProjectFolder {
  readonly folder: string;
  write(name: string, text: string): void;
  load(): Promise<LoadedProject>;
}

export function projectFolder(t: TestContext, files: Readonly<Record<string, string>>): ProjectFolder {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-extensions-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, text: string) => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  };
  // A module is ESM, whatever is above the folder.
  for (const [name, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files })) write(name, text);
  return { folder, write, load: () => loadProject({ cwd: folder, env: process.env }) };
}
