/** The goldens of the repository, read. A file with a problem fails whoever asks. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readGolden } from '../../../src/config/golden/read-golden.ts';
import type { Golden } from '../../../src/core/recovery/golden.ts';

const folder = path.join(import.meta.dirname, '../../../goldens');

export const readGoldens = (): readonly Golden[] =>
  readdirSync(folder).map((name) => {
    const { golden, problems } = readGolden(readFileSync(path.join(folder, name), 'utf8'), `goldens/${name}`);
    assert.deepEqual(problems, []);
    assert.ok(golden !== null);
    return golden;
  });
