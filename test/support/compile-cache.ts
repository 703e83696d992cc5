/**
 * Processes that are killed never save what they compiled, so each would compile everything anew. One process that ends
 * in good order compiles for all of them.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

let environment: NodeJS.ProcessEnv | null = null;

export function compiledEnvironment(): NodeJS.ProcessEnv {
  if (environment !== null) return environment;
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-compiled-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  environment = { ...process.env, NODE_COMPILE_CACHE: folder };
  const everything = new URL('../../src/index.ts', import.meta.url).href;
  execFileSync(process.execPath, ['--input-type=module', '--eval', `import '${everything}'`], { env: environment });
  return environment;
}
