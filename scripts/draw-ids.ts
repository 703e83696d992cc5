/**
 * Draws ids of requirements, the same ones for the same seed: `node scripts/draw-ids.ts --seed 20261119 --count 30`. A
 * person breaks the code behind each of them, one at a time, and looks whether the tests that claim it fail.
 */
import { parseArgs } from 'node:util';
import { requirements } from '../test/conformance/requirements.ts';
import { readCitations } from '../test/conformance/stated/read-citations.ts';
import path from 'node:path';

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, count: { type: 'string', default: '30' } },
});
const cited = readCitations(path.join(import.meta.dirname, '..'));
const left = requirements.filter(({ absent }) => absent === null).map(({ id }) => id);
let state = Number(values.seed) >>> 0;

/** Mulberry32: a number from 0 to 1. */
function draw(): number {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

for (let drawn = 0; drawn < Number(values.count) && left.length > 0; drawn++) {
  const [id = ''] = left.splice(Math.floor(draw() * left.length), 1);
  const says = requirements.find((each) => each.id === id)?.says ?? '';
  const files = [...new Set(cited.filter(({ ids }) => ids.includes(id)).map(({ file }) => file))];
  process.stdout.write(`${id}  ${says}\n    ${files.join(' ')}\n`);
}
