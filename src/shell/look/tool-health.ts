/**
 * Reads how the last calls of each tool ended: counts, times and verdicts, from the newest calls of a tenant, so many at
 * most. Must not write.
 */
import type { StoredCall, StoreReader } from '../../ports/store.ts';
import { heard } from '../call/requester.ts';
import { readBody } from './history.ts';

export interface ToolFigures {
  readonly calls: number;
  readonly succeeded: number;
  readonly refused: number;
  readonly failed: number;
  readonly inDoubt: number;
  readonly waiting: number;
  /** Of attempts that succeeded; null if there was none. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  /** Of failed attempts, those that a retry mended included; the most frequent first. */
  readonly verdicts: readonly { readonly verdict: string; readonly count: number }[];
  readonly lastAtMs: number | null;
}

export interface ToolHealth {
  readonly calls: number;
  /** False if there are older calls that were not read. */
  readonly complete: boolean;
  readonly sinceMs: number | null;
  readonly tools: ReadonlyMap<string, ToolFigures>;
}

const maxCalls = 1_000;
/** Of so many, the newest, the records are read too. */
const maxStories = 300;
const storiesAtOnce = 25;

export async function readToolHealth(tenant: string, tool: string | null, reader: StoreReader): Promise<ToolHealth> {
  const calls = await reader.listCalls({ tenant, ...(tool === null ? {} : { tool }), limit: maxCalls });
  const stories = new Map<string, Story>();
  const told = calls.filter(({ attempt }) => attempt > 0).slice(0, maxStories);
  for (const [at, { id }] of told.entries()) {
    stories.set(id, storyIn(await reader.recordsOf(id)));
    // Others get their turn.
    if (at % storiesAtOnce === 0) await heard();
  }
  const groups = Map.groupBy(calls, (call) => call.tool);
  return {
    calls: calls.length,
    complete: calls.length < maxCalls,
    sinceMs: calls.at(-1)?.createdAtMs ?? null,
    tools: new Map([...groups].map(([name, group]) => [name, figuresOf(group, stories)])),
  };
}

interface Story {
  readonly verdicts: readonly string[];
  readonly elapsedMs: number | null;
}

function storyIn(records: Awaited<ReturnType<StoreReader['recordsOf']>>): Story {
  const verdicts: string[] = [];
  let elapsedMs: number | null = null;
  for (const { kind, body } of records) {
    if (kind !== 'failure_classified' && kind !== 'settled') continue;
    const { verdict, state, elapsed_ms: elapsed } = readBody(body);
    if (kind === 'failure_classified' && typeof verdict === 'string') verdicts.push(verdict);
    if (kind === 'settled' && state === 'SUCCEEDED' && typeof elapsed === 'number') elapsedMs = elapsed;
  }
  return { verdicts, elapsedMs };
}

function figuresOf(calls: readonly StoredCall[], stories: ReadonlyMap<string, Story>): ToolFigures {
  const count = (...states: readonly StoredCall['state'][]) =>
    calls.filter(({ state }) => states.includes(state)).length;
  const told = calls.flatMap(({ id }) => stories.get(id) ?? []);
  const times = told.flatMap(({ elapsedMs }) => elapsedMs ?? []).toSorted((a, b) => a - b);
  const verdicts = Map.groupBy(
    told.flatMap((each) => each.verdicts),
    (verdict) => verdict,
  );
  return {
    calls: calls.length,
    succeeded: count('SUCCEEDED'),
    refused: count('DENIED', 'REJECTED', 'EXPIRED', 'CANCELLED'),
    failed: count('FAILED'),
    inDoubt: count('IN_DOUBT', 'CLOSED_UNKNOWN'),
    waiting: count('AWAITING_APPROVAL', 'PREPARED', 'DISPATCHED', 'RETRY_WAIT'),
    p50Ms: quantile(times, 0.5),
    p95Ms: quantile(times, 0.95),
    verdicts: [...verdicts]
      .map(([verdict, all]) => ({ verdict, count: all.length }))
      .toSorted((a, b) => b.count - a.count),
    lastAtMs: calls[0]?.createdAtMs ?? null,
  };
}

const quantile = (sorted: readonly number[], at: number): number | null =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? null;
