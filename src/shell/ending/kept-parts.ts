/** What is on record of a call of which some items are done. */
import type { CallId } from '../../core/call/call.ts';
import type { Payload } from '../../core/journal/record.ts';
import { type Kept, readKept } from '../../core/partial/kept-parts.ts';
import { type Items, itemsOf } from '../../core/partial/partial-rule.ts';
import type { ToolRecovery } from '../../core/recovery/playbook.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { Json } from '../../core/values/json.ts';
import type { Shell } from '../shell.ts';

/** What is done of a call, and the names of its items. */
export interface KeptParts {
  readonly kept: Kept | null;
  readonly names: Items['names'];
}

const part = 'kept';

export const keptPayload = (kept: Kept | undefined): readonly Payload[] =>
  kept === undefined ? [] : [{ part, text: canonicalText(kept as unknown as Json) }];

/** What the last record says; null if it was erased. */
export async function keptOnRecord(id: CallId, { ports }: Shell): Promise<Kept | null> {
  const records = await ports.store.recordsOf(id);
  const texts = records.flatMap(({ payloads }) => payloads.filter((each) => each.part === part));
  return readKept(texts.at(-1)?.text);
}

export function partsOf(kept: Kept | null, { partial }: ToolRecovery, args: Json): KeptParts {
  const items = partial === undefined ? null : itemsOf(partial, args);
  return { kept, names: items?.names ?? [] };
}
