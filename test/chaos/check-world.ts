/** Do the record and the world agree? What ran, how often, and whether every state tells the truth about it. */
import assert from 'node:assert/strict';
import type { StoredCall } from '../../src/ports/store.ts';
import { type Line, writes } from './chaos-tools.ts';

export function groupBy<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** No plain call ran twice, and nothing that was asked under one mark had two effects. */
export function checkLines(lines: readonly Line[]): void {
  for (const [callId, own] of groupBy(lines, (line) => line.call_id)) {
    for (const line of own) assert.equal(line.idempotency_key, callId, 'every attempt of a call has the same key');
    if (own[0]?.tool === 'append') assert.equal(own.length, 1, `plain call ${callId} ran ${own.length} times`);
  }
  for (const [mark, own] of groupBy(lines, (line) => line.mark)) {
    const effects = new Set(own.map((line) => line.call_id));
    assert.equal(effects.size, 1, `'${mark}' had ${effects.size} effects: ${[...effects].join(', ')}`);
  }
}

const resting: readonly string[] = ['SUCCEEDED', 'FAILED', 'DENIED', 'IN_DOUBT', 'EXPIRED', 'CANCELLED'];

/** After recovery nothing is under way, and what a state claims is so. */
export function checkStates(calls: readonly StoredCall[], lines: readonly Line[]): void {
  const byCall = groupBy(lines, (line) => line.call_id);
  for (const { id, state, tool, effectClass, attempt } of calls) {
    const ran = byCall.get(id)?.length ?? 0;
    const what = `${tool} ${id} is ${state} and ran ${ran} times`;
    assert.ok(resting.includes(state), what);
    if (state === 'SUCCEEDED' && writes.includes(tool)) assert.ok(ran >= 1, what);
    if (state !== 'SUCCEEDED' && state !== 'IN_DOUBT') assert.equal(ran, 0, what);
    if (state === 'DENIED') assert.equal(attempt, 0, what);
    if (effectClass === 'pure') assert.notEqual(state, 'IN_DOUBT', what);
    assert.ok(ran <= attempt, `${what} in ${attempt} attempts`);
  }
}
