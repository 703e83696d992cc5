/** Without a workflow: what a failure that was given up does to the turn of its caller. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { createGateway, isRefusal, isSuccess, tool, ToolFailure, type Limits } from '../../../src/index.ts';

async function open(t: { after(run: () => unknown): void }, limits: Partial<Limits> = {}) {
  const failing = tool({
    name: 'failing',
    effect: 'pure',
    input: { type: 'object' },
    retry: { max_attempts: 1, backoff: 'fixed', base_ms: 1, jitter: 0 },
    run: async () => {
      throw new ToolFailure({ kind: '5xx', message: 'the service is down', effect: 'none' });
    },
  } as never);
  const refusing = tool({
    name: 'refusing',
    effect: 'pure',
    input: { type: 'object' },
    run: async () => {
      throw new ToolFailure({ kind: '404_not_found', message: 'no such order', effect: 'none' });
    },
  } as never);
  const fine = tool({ name: 'fine', effect: 'pure', input: { type: 'object' }, run: async () => 'fine' } as never);
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-'));
  const file = path.join(folder, 'recourse.db');
  const gateway = await createGateway({ tools: [failing, refusing, fine], file, limits });
  t.after(async () => {
    await gateway.close({ drain_seconds: 0 });
    rmSync(folder, { recursive: true, force: true });
  });
  const call = (name: string, turn: string) => gateway.handle({ tool: name, args: {}, turn });
  return call;
}

describe('a turn', () => {
  test('[S001-default-3] [C6-turn-1] ends with a failure that was given up, and says why to a person', async (t) => {
    const call = await open(t);
    const failed = await call('failing', 'lunch');
    assert.ok(isRefusal(failed) && failed.error === 'action_error' && failed.outcome?.kind === 'exhausted');
    const next = await call('fine', 'lunch');
    assert.ok(isRefusal(next), JSON.stringify(next));
    assert.deepEqual([next.error, next.code, next.effect], ['cancelled', 'TurnCancelled', 'none']);
    assert.equal(next.message, `turn 'lunch' has ended: ${failed.message}`);
    assert.ok(isSuccess(await call('fine', 'dinner')), 'other turns go on');
  });

  test('[S001-default-2] [C6-turn-2] goes on after a failure that its caller can answer', async (t) => {
    const call = await open(t);
    const failed = await call('refusing', 'lunch');
    assert.ok(isRefusal(failed));
    assert.ok(isSuccess(await call('fine', 'lunch')));
  });

  test('[C6-turn-3] goes on after every failure where that is configured', async (t) => {
    const call = await open(t, { exhaustedEndsTurn: 0 });
    assert.ok(isRefusal(await call('failing', 'lunch')));
    assert.ok(isSuccess(await call('fine', 'lunch')));
  });
});
