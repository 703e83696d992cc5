/** Reads what is declared about the partial results of a tool, and reports what could never work. */
import { type EntryReader, readEntries } from '../core/partial/read-items.ts';
import { type FieldPath, type PartialRule, readFieldPath } from '../core/partial/partial-rule.ts';
import { canonicalText } from '../core/values/canonical.ts';
import { isObject, type Json, type JsonObject } from '../core/values/json.ts';
import { compileAt, type Expression, type ReadingParts } from './shape/read-expression.ts';
import { keyPlaceOf, placeOf } from './shape/read-shape.ts';
import { textOf } from './yaml/plain-values.ts';

type Path = readonly string[];

/** Null if nothing is written, or if it is wrong and told. */
export function readPartial(rule: JsonObject, path: Path, parts: ReadingParts): PartialRule | null {
  const written = rule['partial'];
  if (!isObject(written)) return null;
  const read = written as JsonObject;
  const { tree, tell } = parts;
  const at = (key: string) => keyPlaceOf(tree, [...path, key]);
  const own = (key: string, over: readonly string[], gives?: 'bool' | 'string') =>
    compileAt(read[key], [...path, key], { over, ...(gives === undefined ? {} : { gives }) }, parts);
  const items = pathOf(read, 'items', 'args', path, parts);
  const results = pathOf(read, 'results', 'result', path, parts);
  const name = own('name', ['item']);
  const entries = own('entries', ['args', 'result']);
  for (const key of ['failed', 'item', 'kind', 'message'])
    if (read[key] !== undefined && read['entries'] === undefined)
      tell(at(key), `'${key}' has no meaning without entries`, 'say where an answer has its entries');
  if (read['retry'] === true && (read['items'] === undefined || read['results'] === undefined))
    tell(at('retry'), 'failed items cannot be sent again by themselves', 'add items and results: say where both are');
  if (read['keys'] === 'item' && rule['effect'] !== 'keyed')
    tell(at('keys'), 'a tool that is not keyed has no keys', 'add effect: keyed, or leave keys out');
  const over = ['entry', 'index', 'args'];
  const reader: Omit<EntryReader, 'entries'> = {
    failed: entryOf(own('failed', over, 'bool')),
    item: entryOf(own('item', over)),
    kind: entryOf(own('kind', over)),
    message: entryOf(own('message', over)),
  };
  return {
    items,
    nameOf: name === null ? null : (item) => name.valueOf({ item }),
    read:
      entries === null
        ? null
        : (args, result) =>
            readEntries(
              { ...reader, entries: (sent, came) => entries.valueOf({ args: sent, result: came }) },
              args,
              result,
            ),
    results,
    retry: read['retry'] === true,
    keyedByItem: read['keys'] === 'item',
    declared: canonicalText(read),
  };
}

const entryOf = (expression: Expression | null): EntryReader['failed'] =>
  expression === null ? null : (entry, index, args): Json => expression.valueOf({ entry, index, args });

function pathOf(
  read: JsonObject,
  key: string,
  root: 'args' | 'result',
  path: Path,
  { tree, tell }: ReadingParts,
): FieldPath | null {
  const written = textOf(read[key]);
  if (written === null) return null;
  const found = readFieldPath(written, root);
  if (found === null)
    tell(
      placeOf(tree, [...path, key]),
      `'${written}' is no path`,
      `write ${root} and names of fields, such as ${root}.list`,
    );
  return found;
}
