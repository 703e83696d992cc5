/** The command `recourse` for tests that run it often: what one run has compiled the next ones need not. */
import { compileCache } from './compile-cache.ts';
import { recourse as plain, type Setting } from './recourse-process.ts';

export const recourse = (words: readonly string[], { env = {}, ...setting }: Setting = {}) =>
  plain(words, { ...setting, env: { NODE_COMPILE_CACHE: compileCache(), ...env } });
