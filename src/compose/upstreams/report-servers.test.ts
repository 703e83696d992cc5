import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import type { UpstreamStatus } from '../../adapters/upstream-mcp/server-link.ts';
import { createServerReporter, lastWords, reasonOf, summarizeServer } from './report-servers.ts';

const status = (state: UpstreamStatus['state'], more: Partial<UpstreamStatus> = {}): UpstreamStatus => ({
  name: 'files',
  kind: 'stdio',
  state,
  problem: null,
  protocolVersion: null,
  server: null,
  pid: null,
  tools: 0,
  leftOut: [],
  reconnects: 0,
  stderr: [],
  ...more,
});
const ended = { problem: 'it ended by itself with exit code 1', stderr: ['a', 'b', 'c', 'TOKEN is not set'] };

test('the reason of a failure has the last words of the child', () => {
  const reason = 'it ended by itself with exit code 1; it said: b | c | TOKEN is not set';
  assert.equal(reasonOf(status('waiting', ended)), reason);
  assert.equal(reasonOf(status('waiting', { problem: 'away' })), 'away');
  assert.equal(reasonOf(status('connected', { stderr: ['started'] })), null);
});

const missing = `node:internal/modules/cjs/loader:1478
  throw err;
  ^
Error: Cannot find module '/srv/missing-file.mjs'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1475:15)
    at node:internal/main/run_main_module:33:47 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}
Node.js v24.21.0`;
const thrown = `[eval]:1
throw new Error("DATABASE_URL is not set")
^
Error: DATABASE_URL is not set
    at [eval]:1:7
    at evalTypeScript (node:internal/process/execution:286:22)
Node.js v24.21.0`;
const python = `Traceback (most recent call last):
  File "/srv/server.py", line 1, in <module>
    import mcp
ModuleNotFoundError: No module named 'mcp'`;
const npx = `npm error code E404
npm error 404 Not Found - GET https://registry.example/no-such-server - Not found
npm error 404
npm error 404  The requested resource 'no-such-server@*' could not be found
npm error 404 tarball, folder, http url, or git folder.
npm error A complete log of this run can be found in: /srv/.npm/_logs/debug-0.log`;

test('of many last words those are kept that say what is wrong, each once', () => {
  const cases: readonly [string, readonly string[]][] = [
    [missing, ['node:internal/modules/cjs/loader:1478', "Error: Cannot find module '/srv/missing-file.mjs'"]],
    [
      `${thrown}\n${thrown}\n${thrown}`,
      ['[eval]:1', 'throw new Error("DATABASE_URL is not set")', 'Error: DATABASE_URL is not set'],
    ],
    [python, ['Traceback (most recent call last):', "ModuleNotFoundError: No module named 'mcp'"]],
    [npx, npx.split('\n').filter((_, at) => [1, 3, 5].includes(at))],
    ['TOKEN is not set\nTOKEN is not set\nTOKEN is not set', ['TOKEN is not set']],
    ['error: no port\none\ntwo\nthree', ['error: no port', 'two', 'three']],
    ['  one\n  two\n  three\n  }', ['  two', '  three', '  }']],
    [`TypeError: long ago\n${'x\n'.repeat(60)}y`, ['x', 'y']],
  ];
  for (const [said, kept] of cases)
    assert.deepEqual(lastWords(status('waiting', { stderr: said.split('\n') })), kept, said);
});

test('what changes once it is ready is told, and the same failure once', () => {
  const said: string[] = [];
  const reporter = createServerReporter((line) => said.push(line));
  reporter.hear(status('connecting'));
  reporter.hear(status('waiting', ended));
  reporter.ready();
  for (let time = 0; time < 3; time++) {
    reporter.hear(status('connecting', ended));
    reporter.hear(status('waiting', ended));
  }
  assert.deepEqual(said, [], 'what the screen of the start has said');
  reporter.hear(status('connecting', ended));
  reporter.hear(status('waiting', { problem: "the command 'npx' cannot be started: ENOENT" }));
  reporter.hear(status('connected', { tools: 12 }));
  reporter.hear(status('waiting', { problem: 'it was ended by SIGKILL' }));
  reporter.hear(status('connecting', { problem: 'it was ended by SIGKILL' }));
  reporter.hear(status('connected', { tools: 1, reconnects: 1 }));
  reporter.hear(status('closed'));
  reporter.close();
  assert.deepEqual(said, [
    "server 'files' cannot be used: the command 'npx' cannot be started: ENOENT; it is tried again",
    "server 'files' is connected now: 12 tools",
    "server 'files' was lost: it was ended by SIGKILL; it is tried again",
    "server 'files' is connected again: one tool",
  ]);
});

test('a server that takes long to start is told of meanwhile', async () => {
  const events = new EventTarget();
  const reporter = createServerReporter((line) => events.dispatchEvent(new Event(line.replace(/\d+/, 'n'))), 1);
  const alive = setInterval(() => undefined, 1_000);
  const told = once(events, "server 'files' is still starting (n s)");
  reporter.hear(status('connecting'));
  await told;
  reporter.close();
  clearInterval(alive);
});

test('servers that are started for the first time are known by name, and no others', () => {
  const reporter = createServerReporter(() => undefined);
  reporter.hear(status('connecting', { name: 'slow' }));
  reporter.hear(status('connecting', { name: 'quick' }));
  reporter.hear(status('connected', { name: 'quick' }));
  reporter.hear(status('waiting', { name: 'broken', problem: 'it ended' }));
  assert.deepEqual(reporter.starting(), ['slow']);
  reporter.close();
});

test('tools that are left out are told beside what else is wrong', () => {
  const whole = status('connected', { tools: 3, stderr: ['what a child prints may be a secret'] });
  const odd = { tool: 'odd', reason: 'it has no input schema' };
  const cases = [
    [whole, null],
    [{ ...whole, problem: 'it ended' }, 'it ended'],
    [{ ...whole, leftOut: [odd] }, 'one tool is left out: recourse pin says why'],
    [{ ...whole, problem: 'it ended', leftOut: [odd, odd] }, 'it ended; 2 tools are left out: recourse pin says why'],
  ] as const;
  for (const [each, problem] of cases)
    assert.deepEqual(summarizeServer(each), { name: 'files', state: 'connected', tools: 3, problem });
});
