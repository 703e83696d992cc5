/** What servers list, and what becomes of it: pages, limits, tools that cannot be offered, changes. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { call, failureOf, openUpstreams, outputOf, ownServer, saidBy, statusOf } from '../../support/upstream-mcp.ts';

suite('the catalogue', { concurrency: 4 }, () => {
  test('holds all pages, in listed order, each tool exactly as listed', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('paged', 'paged'), ownServer('whole')]);
    const names = [...upstreams.catalogue().keys()];
    const of = (server: string) =>
      names.filter((name) => name.startsWith(`${server}/`)).map((name) => name.split('/')[1]);
    assert.deepEqual(of('paged'), of('whole'));
    assert.ok(of('whole').length > 10);
    assert.deepEqual(upstreams.catalogue().get('whole/echo')?.listing, {
      description: 'does echo',
      'vendor/mark': { kept: [1, 2, 3] },
      annotations: { readOnlyHint: true, 'vendor/hint': 1 },
    });
    assert.equal(upstreams.catalogue().get('whole/echo')?.effectClass, 'plain', 'hints are not trusted unasked');
    assert.deepEqual(JSON.parse(upstreams.catalogue().get('whole/echo')?.manifest ?? '{}'), {
      name: 'whole/echo',
      effect: 'plain',
      timeout_ms: 30_000,
      dedupe_window_ms: null,
      tool: {
        name: 'echo',
        description: 'does echo',
        inputSchema: { type: 'object' },
        'vendor/mark': { kept: [1, 2, 3] },
        annotations: { readOnlyHint: true, 'vendor/hint': 1 },
      },
    });
    assert.equal(upstreams.catalogue(), upstreams.catalogue());
  });

  test('leaves out what cannot be offered, with the reason, and keeps the rest', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('odd', 'odd')]);
    assert.deepEqual([...upstreams.catalogue().keys()], ['odd/fine', 'odd/also_fine']);
    const reasons = Object.fromEntries(statusOf(upstreams, 'odd').leftOut.map(({ tool, reason }) => [tool, reason]));
    assert.match(reasons['odd/fine'] ?? '', /lists its name twice/);
    assert.match(reasons['no_schema'] ?? '', /no input schema/);
    assert.match(reasons['wrong_schema'] ?? '', /input schema is not usable/);
    assert.match(reasons['remote_ref'] ?? '', /not inside the schema/);
    assert.match(reasons['deep'] ?? '', /nested too deep/);
    assert.match(reasons['large'] ?? '', /larger than/);
    assert.match(reasons['line\\nbreak'] ?? '', /visible characters/);
    assert.equal(statusOf(upstreams, 'odd').leftOut.length, 9);
  });

  const endless = [
    { mode: 'many', problem: /more than 1000 tools/, tools: 1_000 },
    { mode: 'circle', problem: /goes in a circle/, tools: 1 },
    { mode: 'endless', problem: /more than 100 pages/, tools: 0 },
  ];
  for (const { mode, problem, tools } of endless) {
    test(`ends although the list of a server does not: ${mode}`, async (t) => {
      const upstreams = await openUpstreams(t, [ownServer('own', mode)]);
      const status = statusOf(upstreams, 'own');
      assert.equal(status.state, 'connected');
      assert.match(status.problem ?? '', problem);
      assert.equal(status.tools, tools);
    });
  }

  test('follows a server that says its tools changed, and is told about it once', async (t) => {
    let changes = 0;
    const limits = { relistEveryMs: 50, relistDebounceMs: 10 };
    const upstreams = await openUpstreams(t, [ownServer('own')], { limits, onChange: () => changes++ });
    assert.equal(changes, 1);
    const before = upstreams.catalogue();
    outputOf(await call(upstreams, 'own/grow'));
    await eventually('the new tool', async () => upstreams.catalogue().has('own/grown_0'));
    assert.equal(changes, 2);
    assert.equal(
      upstreams.catalogue().get('own/echo'),
      before.get('own/echo'),
      'what did not change is the same entry',
    );
  });

  test('keeps the tools of a server that is down', async (t) => {
    const limits = { backoffInitialMs: 60_000, maxSendDelayMs: 100, backoffMaxMs: 60_000 };
    const upstreams = await openUpstreams(t, [ownServer('own')], { limits });
    const before = upstreams.catalogue();
    failureOf(await call(upstreams, 'own/die'));
    assert.equal(statusOf(upstreams, 'own').state, 'waiting');
    assert.equal(upstreams.catalogue(), before);
    const failure = failureOf(await call(upstreams, 'own/echo'));
    assert.deepEqual([failure.kind, failure.effect], ['never_sent', 'none']);
  });
});

suite('a call', { concurrency: 2 }, () => {
  test('passes arguments and results through as they are', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('own')]);
    const args = { a: [1, { b: null }], ключ: '\u2028', _meta: { mine: true } };
    const heard = saidBy(await call(upstreams, 'own/echo', args)) as { params: Record<string, unknown> };
    assert.deepEqual(heard.params['arguments'], args);
    assert.deepEqual(Object.keys(heard.params['_meta'] as object), [
      'recourse/call_id',
      'recourse/idempotency_key',
      'recourse/attempt',
    ]);
    assert.deepEqual(outputOf(await call(upstreams, 'own/vendor')), {
      content: [{ type: 'vendor/hologram', beams: [1, { deep: null }] }],
      'vendor/extra': { kept: true },
      _meta: { 'vendor/trace': 'abc' },
      structuredContent: { n: 1 },
    });
  });

  const codes = [
    [-32602, '400_invalid'],
    [-32601, '404_not_found'],
    [-32600, '400_invalid'],
    [-32603, '5xx'],
    [-32000, 'unknown'],
    [12345, 'unknown'],
  ] as const;
  test('that is answered by a JSON-RPC error has a kind by its code and the server’s words', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('own')]);
    for (const [code, kind] of codes) {
      const failure = failureOf(await call(upstreams, 'own/rpc_error', { code }));
      assert.deepEqual([failure.kind, failure.message], [kind, 'as you wished'], String(code));
      assert.deepEqual(JSON.parse(failure.cause ?? '{}'), { code, message: 'as you wished', data: { a: 1 } });
    }
  });

  test('that a tool fails by isError has the tool’s text and the whole result as its cause', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('own')]);
    const failure = failureOf(await call(upstreams, 'own/fails'));
    assert.deepEqual(
      [failure.kind, failure.errorType, failure.message, failure.effect],
      ['threw', 'ToolError', 'no\nway', null],
    );
    assert.equal(JSON.parse(failure.cause ?? '{}').isError, true);
  });

  test('is not sent any more by a process that was frozen past the time to send', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('own')], { limits: { maxSendDelayMs: 50 } });
    const running = call(upstreams, 'own/grow');
    const until = performance.now() + 100;
    while (performance.now() < until) continue;
    const failure = failureOf(await running);
    assert.deepEqual([failure.kind, failure.effect], ['never_sent', 'none']);
  });

  test('to a server that nobody configured is not found', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('own')]);
    for (const tool of ['other/echo', 'echo', '/echo', '']) {
      assert.equal(failureOf(await call(upstreams, tool)).kind, '404_not_found', tool);
    }
  });
});
