/** A notifier that drops a file for each notice, for a program that watches the folder. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { NotifierKind } from '../../../src/extension/index.ts';

export const fileDrop: NotifierKind = {
  settings: {
    type: 'object',
    properties: { folder: { type: 'string', minLength: 1 } },
    required: ['folder'],
  },
  create: ({ folder }) => {
    const into = String(folder);
    return async ({ id, told, count }, signal) => {
      // The same notice has the same name, so a second try replaces the first.
      const file = path.join(into, `${id}.json`);
      try {
        await mkdir(into, { recursive: true });
        await writeFile(`${file}.new`, JSON.stringify({ id, count, told }), { signal });
        await rename(`${file}.new`, file);
        return { kind: 'taken' };
      } catch (error) {
        const { code = 'an error' } = error as NodeJS.ErrnoException;
        return { kind: 'failed', problem: `the folder cannot be written (${code})`, retryAfterMs: null };
      }
    };
  },
};
