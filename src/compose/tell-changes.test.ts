import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import type { UpstreamStatus } from '../adapters/upstream-mcp/server-link.ts';
import { createServerTeller, reasonOf } from './tell-changes.ts';

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

test('what changes once it is ready is told, and the same failure once', () => {
  const said: string[] = [];
  const teller = createServerTeller((line) => said.push(line));
  teller.hear(status('connecting'));
  teller.hear(status('waiting', ended));
  teller.ready();
  for (let time = 0; time < 3; time++) {
    teller.hear(status('connecting', ended));
    teller.hear(status('waiting', ended));
  }
  assert.deepEqual(said, [], 'what the screen of the start has said');
  teller.hear(status('connecting', ended));
  teller.hear(status('waiting', { problem: 'the command cannot be started: ENOENT' }));
  teller.hear(status('connected', { tools: 12 }));
  teller.hear(status('waiting', { problem: 'it was ended by SIGKILL' }));
  teller.hear(status('connecting', { problem: 'it was ended by SIGKILL' }));
  teller.hear(status('connected', { tools: 1, reconnects: 1 }));
  teller.hear(status('closed'));
  teller.close();
  assert.deepEqual(said, [
    "server 'files' cannot be used: the command cannot be started: ENOENT; it is tried again",
    "server 'files' is connected now: 12 tools",
    "server 'files' was lost: it was ended by SIGKILL; it is tried again",
    "server 'files' is connected again: one tool",
  ]);
});

test('a server that takes long to start is told of meanwhile', async () => {
  const events = new EventTarget();
  const teller = createServerTeller((line) => events.dispatchEvent(new Event(line.replace(/\d+/, 'n'))), 1);
  const alive = setInterval(() => undefined, 1_000);
  const told = once(events, "server 'files' is still starting (n s)");
  teller.hear(status('connecting'));
  await told;
  teller.close();
  clearInterval(alive);
});
