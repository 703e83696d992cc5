/**
 * Writes the list of what is above the limits of the house rules anew, and says what came to it, grew, shrank and left.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Figures, ratchetFile, writtenList } from '../test/house/ratchet.ts';
import { readTree } from '../test/house/read-tree.ts';

const file = path.join(import.meta.dirname, '..', ratchetFile);
type Above = Readonly<Record<string, Figures>>;
const before = (JSON.parse(readFileSync(file, 'utf8')) as { readonly above?: Above }).above ?? {};
const list = writtenList(readTree());
const above: Above = list.above;
for (const rule of new Set([...Object.keys(before), ...Object.keys(above)])) {
  const [old, now] = [before[rule] ?? {}, above[rule] ?? {}];
  for (const name of new Set([...Object.keys(old), ...Object.keys(now)]))
    if (old[name] !== now[name]) console.log(`${name}: ${old[name] ?? 'within'} → ${now[name] ?? 'within'} (${rule})`);
}
writeFileSync(file, `${JSON.stringify(list, null, 2)}\n`);
