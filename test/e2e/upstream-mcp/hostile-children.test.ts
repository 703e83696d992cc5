/**
 * Servers that break the rules, each behind the real adapter: every call still ends, typed, and the neighbour never
 * notices.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { suite, test } from 'node:test';
import { createMcpUpstreams } from '../../../src/adapters/upstream-mcp/mcp-upstreams.ts';
import { isObject } from '../../../src/core/values/json.ts';
import { eventually } from '../../support/eventually.ts';
import { folder } from '../../support/recourse-process.ts';
import {
  attemptOf,
  call,
  connected,
  failureOf,
  openUpstreams,
  outputOf,
  ownServer,
  saidBy,
  statusOf,
} from '../../support/upstream-mcp.ts';

/** A call waits as long as it takes until a server that died is back. */
const patient = { limits: { maxSendDelayMs: 60_000 } };

const quick = { limits: { connectTimeoutMs: 2_500, listTimeoutMs: 2_500, maxSendDelayMs: 300, backoffInitialMs: 50 } };

suite('a server that misbehaves while a call runs', { concurrency: 4 }, () => {
  test('dies: the call is typed, its effect not claimed, and the next call works after a restart', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('own')], patient);
    const before = saidBy(await call(upstreams, 'own/pid'));
    const failure = failureOf(await call(upstreams, 'own/die'));
    assert.equal(failure.kind, 'unknown');
    assert.equal(failure.effect, null);
    assert.match(failure.message, /was lost while the call ran: it was ended by SIGKILL/);
    const after = saidBy(await call(upstreams, 'own/pid'));
    assert.notEqual(after, before);
    assert.equal(statusOf(upstreams, 'own').reconnects, 1);
  });

  test('answers and then ends at once: the answer counts', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('own')]);
    assert.equal(saidBy(await call(upstreams, 'own/exit_after_answer')), 'last words');
  });

  test('answers with 100 MB: it is stopped, the call is typed, and memory stays small', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('own'), ownServer('neighbour')]);
    const before = process.memoryUsage().rss;
    const failure = failureOf(await call(upstreams, 'own/huge'));
    assert.equal(failure.kind, 'unknown');
    assert.match(failure.message, /sent a message above 8388608 bytes and was stopped/);
    assert.ok(process.memoryUsage().rss - before < 80 << 20, 'memory grew');
    assert.deepEqual(Object.keys(outputOf(await call(upstreams, 'neighbour/echo'))), ['content']);
  });

  test('answers twice: the first answer counts, the second reaches nobody', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('own')]);
    assert.equal(saidBy(await call(upstreams, 'own/twice')), 'first');
    assert.equal(saidBy(await call(upstreams, 'own/twice')), 'first');
  });

  test('answers under wrong ids: only the answer to the question counts', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('own')]);
    const [one, two] = await Promise.all([call(upstreams, 'own/wrong_id'), call(upstreams, 'own/wrong_id')]);
    assert.deepEqual([saidBy(one), saidBy(two)], ['yours', 'yours']);
  });

  test('prints garbage between its messages: the answer is still found', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('own')]);
    assert.equal(saidBy(await call(upstreams, 'own/garbage')), 'after garbage');
  });

  test('answers with something that is no tool result: a malformed response, not a wait without end', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('own')]);
    const failure = failureOf(await call(upstreams, 'own/not_a_result'));
    assert.deepEqual([failure.kind, failure.subject], ['schema_validation', 'response']);
  });

  test('asks for input by a result: typed, and says that this is not passed on', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('own')]);
    const failure = failureOf(await call(upstreams, 'own/input_required'));
    assert.equal(failure.kind, 'unknown');
    assert.equal(failure.errorType, 'InputRequired');
    assert.match(failure.message, /asks for input/);
  });

  test('asks the client something: it is told that there is no such method, and the call goes on', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('own')]);
    const reply = saidBy(await call(upstreams, 'own/ask_client'));
    assert.ok(isObject(reply) && isObject(reply['error']));
    assert.equal(reply['error']['code'], -32601);
  });

  test('closes its input: who tries to write finds out, and it is started again', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('own')]);
    const first = saidBy(await call(upstreams, 'own/pid'));
    const running = call(upstreams, 'own/close_input');
    const next = await eventually('another process', async () => {
      // Not waited for long: what is written to nobody is never answered.
      const result = await call(upstreams, 'own/pid', {}, AbortSignal.timeout(1_000));
      const pid = result.kind === 'returned' ? saidBy(result) : first;
      return pid !== first && pid;
    });
    assert.equal(typeof next, 'number');
    const failure = failureOf(await running);
    assert.deepEqual([failure.kind, failure.effect], ['unknown', null]);
  });

  test('never answers: an aborted call ends at once and the server is told', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('own')]);
    const stop = new AbortController();
    const running = call(upstreams, 'own/hang', {}, stop.signal);
    await call(upstreams, 'own/pid');
    stop.abort(new Error('enough'));
    const failure = failureOf(await running);
    assert.deepEqual([failure.kind, failure.effect], ['cancelled', null]);
    const told = await eventually('the cancellation', async () => {
      const said = saidBy(await call(upstreams, 'own/cancelled')) as unknown[];
      return said.length > 0 && said;
    });
    assert.equal(told.length, 1);
  });

  test('never answers: without an abort the wait ends by itself after the tool’s timeout', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('own')], { limits: { answerGraceMs: 100 } });
    const failure = failureOf(
      await upstreams.upstream.invoke(attemptOf('own/hang', {}, { timeoutMs: 100 }), new AbortController().signal),
    );
    assert.equal(failure.kind, 'timeout');
  });

  test('a call that was aborted before it began is never sent', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('own')]);
    const failure = failureOf(await call(upstreams, 'own/die', {}, AbortSignal.abort()));
    assert.deepEqual([failure.kind, failure.effect], ['cancelled', 'none']);
    assert.equal(statusOf(upstreams, 'own').reconnects, 0);
  });
});

suite('a server that misbehaves from the start', { concurrency: 4 }, () => {
  const starts = [
    { mode: 'hang_in_initialize', problem: /did not finish the handshake within 2500 ms/ },
    { mode: 'garbage_in_initialize', problem: /did not finish the handshake within 2500 ms/ },
    { mode: 'hang_in_list', problem: /does not list its tools: it did not answer in time/ },
    { mode: 'dies_at_once', problem: /ended by itself with exit code 7/ },
  ];
  for (const { mode, problem } of starts) {
    test(`${mode}: the others are connected without it, and calls to it were never sent`, async (t) => {
      const upstreams = await openUpstreams(t, [ownServer('bad', mode), ownServer('good')], quick);
      // On a busy machine its first start may take longer than it has; then it is started again.
      await eventually('its problem', async () => problem.test(statusOf(upstreams, 'bad').problem ?? ''));
      const failure = failureOf(await call(upstreams, 'bad/echo'));
      assert.deepEqual([failure.kind, failure.effect], ['never_sent', 'none']);
      await connected(upstreams, 'good');
      outputOf(await call(upstreams, 'good/echo'));
    });
  }

  test('a slow start delays nobody else, and its tools come later', async (t) => {
    const gate = path.join(folder(t), 'go');
    const limits = { connectTimeoutMs: 3_600_000 };
    const both = createMcpUpstreams([ownServer('slow', 'slow_start', gate), ownServer('good')], { limits });
    t.after(() => both.close());
    await connected(both, 'good');
    assert.equal(statusOf(both, 'slow').state, 'connecting');
    outputOf(await call(both, 'good/echo'));
    writeFileSync(gate, '');
    await connected(both, 'slow');
    outputOf(await call(both, 'slow/echo'));
    // However late a server comes, the order is that of the configuration.
    assert.deepEqual([...new Set([...both.catalogue().keys()].map((name) => name.split('/')[0]))], ['slow', 'good']);
  });

  test('the time limit of ready holds although a server hangs', async (t) => {
    const limits = { connectTimeoutMs: 3_600_000 };
    const upstreams = createMcpUpstreams([ownServer('bad', 'hang_in_initialize')], { limits });
    t.after(() => upstreams.close());
    await upstreams.ready(200);
    assert.equal(statusOf(upstreams, 'bad').state, 'connecting');
  });
});

suite('a server that floods', { concurrency: 2 }, () => {
  for (const mode of ['flood', 'flood_answers', 'flood_changes', 'flood_requests', 'flood_stderr']) {
    test(`${mode}: its neighbour is served as before`, async (t) => {
      const upstreams = await openUpstreams(t, [ownServer('bad', mode), ownServer('good')], quick);
      await connected(upstreams, 'good');
      const before = process.memoryUsage().rss;
      for (let served = 0; served < 200; served++) outputOf(await call(upstreams, 'good/echo'));
      assert.equal(statusOf(upstreams, 'good').reconnects, 0);
      assert.ok(process.memoryUsage().rss - before < 100 << 20, 'memory grew');
      assert.ok(statusOf(upstreams, 'bad').stderr.length <= 100);
    });
  }
});
