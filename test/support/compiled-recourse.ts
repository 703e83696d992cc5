/** The command `recourse` for tests that run it often: what one run has compiled the next ones need not. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recourse as plain, type Setting } from './recourse-process.ts';

const kept = mkdtempSync(join(tmpdir(), 'recourse-compiled-'));
process.on('exit', () => rmSync(kept, { recursive: true, force: true }));

export const recourse = (words: readonly string[], { env = {}, ...setting }: Setting = {}) =>
  plain(words, { ...setting, env: { NODE_COMPILE_CACHE: kept, ...env } });
