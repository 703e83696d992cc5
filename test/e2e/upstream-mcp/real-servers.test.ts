/**
 * The official servers behind the real adapter: what it lists and returns is what the official client gets directly.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, suite, test, type TestContext } from 'node:test';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { z } from 'zod';
import { childEnvironment } from '../../../src/adapters/upstream-mcp/stdio/child-group.ts';
import { everythingOverHttp } from '../../support/servers-real.ts';
import {
  attemptOf,
  call,
  failureOf,
  httpServer,
  never,
  openUpstreams,
  outputOf,
  realProgram,
  statusOf,
  stdioServer,
} from '../../support/upstream-mcp.ts';

const anything = z.looseObject({});

async function officialClient(t: TestContext, transport: Transport): Promise<Client> {
  const client = new Client({ name: 'official', version: '1.0.0' });
  t.after(() => client.close());
  await client.connect(transport);
  return client;
}

function officialStdio(t: TestContext, args: readonly string[]): Promise<Client> {
  return officialClient(t, new StdioClientTransport({ command: process.execPath, args: [...args], stderr: 'ignore' }));
}

async function toolsOf(client: Client): Promise<readonly Record<string, unknown>[]> {
  const { tools } = await client.request({ method: 'tools/list', params: {} }, anything);
  return tools as Record<string, unknown>[];
}

function folder(t: TestContext): string {
  const made = realpathSync(mkdtempSync(path.join(tmpdir(), 'recourse-mcp-')));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

suite('the everything server', { concurrency: 2 }, () => {
  const args = [realProgram('everything')];
  const overHttp = everythingOverHttp({ after });
  const ways = {
    stdio: async () => ({ config: stdioServer('real', args), official: (t: TestContext) => officialStdio(t, args) }),
    http: async () => {
      const { url } = await overHttp;
      const official = (test: TestContext) => officialClient(test, new StreamableHTTPClientTransport(new URL(url)));
      return { config: httpServer('real', url), official };
    },
  };

  for (const [way, start] of Object.entries(ways)) {
    test(`over ${way}: every tool is listed as the official client lists it`, async (t) => {
      const { config, official } = await start();
      const expected = await toolsOf(await official(t));
      const upstreams = await openUpstreams(t, [config]);
      const listed = [...upstreams.catalogue().values()].map((entry) => {
        assert.equal(entry.invokes, entry.name);
        return { ...entry.listing, name: entry.name.slice('real/'.length), inputSchema: entry.inputSchema };
      });
      assert.ok(expected.length > 5);
      assert.deepEqual(listed, expected);
      assert.deepEqual(statusOf(upstreams, 'real').leftOut, []);
    });

    test(`over ${way}: results are those that the official client gets, of every sort of content`, async (t) => {
      const { config, official } = await start();
      const client = await official(t);
      const upstreams = await openUpstreams(t, [config]);
      const calls = [
        ['echo', { message: 'Grüße 👋 \u0000 "quoted"' }],
        ['get-sum', { a: 1.5, b: -2 }],
        ['get-tiny-image', {}],
        ['get-resource-reference', { resourceType: 'Text', resourceId: 1 }],
        ['get-resource-links', { count: 3 }],
        ['get-annotated-message', { messageType: 'error', includeImage: true }],
      ] as const;
      for (const [name, given] of calls) {
        const params = { name, arguments: given };
        const expected = await client.request({ method: 'tools/call', params }, anything);
        const got = outputOf(await call(upstreams, `real/${name}`, given));
        assert.deepEqual(withoutTimes(got), withoutTimes(expected), name);
      }
      const weather = outputOf(await call(upstreams, 'real/get-structured-content', { location: 'Chicago' }));
      assert.deepEqual(Object.keys(weather['structuredContent'] as object).sort(), [
        'conditions',
        'humidity',
        'temperature',
      ]);
    });

    test(`over ${way}: a tool that fails is a failure with the tool's own words`, async (t) => {
      const { config } = await start();
      const upstreams = await openUpstreams(t, [config]);
      const failure = failureOf(await call(upstreams, 'real/get-sum', { a: 'one', b: 2 }));
      assert.deepEqual([failure.kind, failure.errorType, failure.effect], ['threw', 'ToolError', null]);
      assert.match(failure.message, /Input validation error/);
      assert.equal(JSON.parse(failure.cause ?? '{}').isError, true);
    });

    test(`over ${way}: a long operation runs to its end, or ends when it is aborted`, async (t) => {
      const { config } = await start();
      const upstreams = await openUpstreams(t, [config]);
      const stop = new AbortController();
      const stopped = call(upstreams, 'real/trigger-long-running-operation', { duration: 60, steps: 60 }, stop.signal);
      const done = await call(upstreams, 'real/trigger-long-running-operation', { duration: 1, steps: 2 });
      assert.match(JSON.stringify(outputOf(done)), /Long running operation completed/);
      stop.abort();
      assert.equal(failureOf(await stopped).kind, 'cancelled');
    });
  }
});

test('a child gets nothing of our environment but what a program needs here and what its configuration says', async (t) => {
  process.env['RECOURSE_TEST_SECRET'] = 'hidden';
  t.after(() => delete process.env['RECOURSE_TEST_SECRET']);
  const config = stdioServer('real', [realProgram('everything')]);
  const connect = { ...config.connect, env: { OWN: 'given' } } as typeof config.connect;
  const upstreams = await openUpstreams(t, [{ ...config, connect }]);
  const output = outputOf(await call(upstreams, 'real/get-env'));
  const [said] = output['content'] as { text: string }[];
  const environment = JSON.parse(said?.text ?? '{}') as Record<string, string>;
  assert.equal(environment['OWN'], 'given');
  assert.equal(environment['PATH'], process.env['PATH']);
  const allowed = Object.keys(childEnvironment({ OWN: 'given' }));
  assert.deepEqual(
    Object.keys(environment).filter((name) => !allowed.includes(name)),
    [],
  );
  assert.ok(!allowed.includes('RECOURSE_TEST_SECRET'));
});

test('the filesystem server: listed alike, writes and reads a file, and its own refusals pass', async (t) => {
  const home = folder(t);
  const args = [realProgram('filesystem'), home];
  const expected = await toolsOf(await officialStdio(t, args));
  const rules = [
    { match: 'write_*', effect: 'plain', timeoutMs: 5_000, dedupeWindowMs: null },
    { match: '*', effect: null, timeoutMs: null, dedupeWindowMs: null },
  ] as const;
  const upstreams = await openUpstreams(t, [
    stdioServer('files', args, { trustAnnotations: true, timeoutMs: 9_000, rules }),
  ]);
  const catalogue = upstreams.catalogue();
  assert.deepEqual(
    [...catalogue.keys()],
    expected.map(({ name }) => `files/${String(name)}`),
  );
  assert.equal(catalogue.get('files/read_text_file')?.effectClass, 'pure');
  assert.equal(catalogue.get('files/read_text_file')?.timeoutMs, 9_000);
  assert.equal(catalogue.get('files/write_file')?.effectClass, 'plain');
  assert.equal(catalogue.get('files/write_file')?.timeoutMs, 5_000);

  const file = path.join(home, 'note.txt');
  outputOf(await call(upstreams, 'files/write_file', { path: file, content: 'kept' }));
  assert.equal(readFileSync(file, 'utf8'), 'kept');
  assert.match(JSON.stringify(outputOf(await call(upstreams, 'files/read_text_file', { path: file }))), /kept/);
  const outside = failureOf(await call(upstreams, 'files/read_text_file', { path: '/etc/hostname' }));
  assert.match(outside.message, /Access denied/);
});

test('the memory server: what one call wrote the next one reads', async (t) => {
  const home = folder(t);
  const config = stdioServer('memory', [realProgram('memory')]);
  const connect = {
    ...config.connect,
    env: { MEMORY_FILE_PATH: path.join(home, 'memory.json') },
  } as typeof config.connect;
  const upstreams = await openUpstreams(t, [{ ...config, connect }]);
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }];
  outputOf(await call(upstreams, 'memory/create_entities', { entities }));
  const graph = outputOf(await call(upstreams, 'memory/read_graph'));
  assert.deepEqual(graph['structuredContent'], { entities, relations: [] });
});

test('wrong arguments are found by the compiled schema before anything is sent', async (t) => {
  const upstreams = await openUpstreams(t, [stdioServer('real', [realProgram('everything')])]);
  const rule = upstreams.catalogue().get('real/get-sum')?.input;
  assert.ok(rule?.kind === 'schema');
  assert.deepEqual(rule.check({ a: 1, b: 2 }), []);
  assert.deepEqual(
    rule.check({ a: 'x', b: 2 }).map(({ path: at }) => at),
    ['/a'],
  );
  const failure = failureOf(await upstreams.upstream.invoke(attemptOf('real/get-sum', [1, 2]), never));
  assert.deepEqual([failure.kind, failure.subject, failure.effect], ['schema_validation', 'request', 'none']);
});

function withoutTimes(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replace(/\d{1,2}:\d{2}:\d{2}( [AP]M)?|\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'));
}
