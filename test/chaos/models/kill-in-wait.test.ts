/**
 * kill -9 of `recourse up` while a model call waits as long as its provider asked: the next process waits until the
 * time on record, asks once, and gives the answer to whoever asks with the same key.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { startGoverned } from '../../support/governed-up.ts';
import { requests } from '../../support/models/model-upstream.ts';
import { openaiErrors, withHeaders } from '../../support/models/provider-errors.ts';
import { startProvider } from '../../support/models/start-provider.ts';
import { allCalls, bodyOf, checkFile, withReader } from '../../support/read-journal.ts';
import { storeIn } from '../../support/recourse-process.ts';

const ceilingMs = 120_000;

test('[C9-retry-8] a model call that waits for its retry goes on after kill -9, and is answered once', async (t) => {
  const provider = await startProvider(t, { prices: { input: 2, output: 8 } });
  const says = { text: 'at last', tokens: { input: 100, output: 10 } };
  provider.next({ refuses: withHeaders(openaiErrors.limited, { 'retry-after': '3' }) }, { says });
  const yaml = `models: { openai: { kind: openai, url: "${provider.openai}" } }
agents: { bot: { rules: [{ permit: "**" }] } }
`;
  const first = await startGoverned(t, yaml);
  await first.ready();
  const key = first.keyOf('bot');
  const body = { tool: 'openai/chat', args: requests.chat };
  const headers = { 'idempotency-key': 'k1' };
  // Its process dies before it can answer.
  const asked = first.ask('/v1/calls', { key, body, headers }).catch(() => null);
  const store = storeIn(first.home);
  const find = (state: string) => () =>
    withReader(store, async (reader) => (await allCalls(reader)).find((call) => call.state === state)).catch(
      () => null,
    );
  const waiting = await eventually('it waits for its next attempt', find('RETRY_WAIT'), ceilingMs);
  await first.stop('SIGKILL');
  assert.equal(await asked, null);
  const posts = () => provider.ledger.filter(({ method }) => method === 'POST').length;
  assert.equal(posts(), 1);
  const next = await startGoverned(t, yaml, [], first.home);
  await next.ready();
  const ended = await eventually('it succeeds', find('SUCCEEDED'), ceilingMs);
  assert.deepEqual([ended.id, ended.attempt, posts()], [waiting.id, 2, 2]);
  const records = await withReader(store, (reader) => reader.recordsOf(waiting.id));
  const { at_ms: atMs, pause_ms: pauseMs } = bodyOf(records, 'attempt_scheduled');
  assert.deepEqual([pauseMs, waiting.dueAtMs], [3_000, atMs]);
  const started = records.find(({ kind }) => kind === 'attempt_started');
  assert.ok((started?.timeMs ?? 0) >= Number(atMs), 'the second attempt was not sent before its time');
  const again = await next.ask('/v1/calls', { key, body, headers });
  assert.deepEqual([again.status, again.body['replayed'], again.body['call_id']], [200, true, waiting.id]);
  assert.match(JSON.stringify(again.body['result']), /at last/);
  assert.deepEqual(provider.bill(), { requests: 1, inputTokens: 100, outputTokens: 10, microDollars: 280 });
  assert.equal(posts(), 2);
  await next.stop();
  await checkFile(store);
});
