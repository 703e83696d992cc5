/**
 * Where the processes of a test find what others compiled: the folder that all tests of a run share, or one of this
 * process. Processes that are killed never save what they compiled, so one that ends in good order compiles for all.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

let folder = process.env['NODE_COMPILE_CACHE'];
let environment: NodeJS.ProcessEnv | null = null;

export function compileCache(): string {
  if (folder !== undefined) return folder;
  const own = mkdtempSync(path.join(tmpdir(), 'recourse-compiled-'));
  process.on('exit', () => rmSync(own, { recursive: true, force: true }));
  folder = own;
  return own;
}

export function compiledEnvironment(): NodeJS.ProcessEnv {
  if (environment !== null) return environment;
  environment = { ...process.env, NODE_COMPILE_CACHE: compileCache() };
  const everything = new URL('../../src/index.ts', import.meta.url).href;
  execFileSync(process.execPath, ['--input-type=module', '--eval', `import '${everything}'`], { env: environment });
  return environment;
}
