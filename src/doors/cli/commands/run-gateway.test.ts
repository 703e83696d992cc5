/** What `up` says of its servers on the screen of its start. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type UpReady, writeReady } from './run-gateway.ts';

type Server = UpReady['upstreams'][number];

const plain = (_: string, text: string) => text;
const linesOf = (...upstreams: readonly Server[]) =>
  writeReady(
    {
      file: '/x/recourse.db',
      role: 'owner',
      upstreams,
      tools: 0,
      url: 'http://x/mcp',
      api: 'http://x/v1',
      workflows: [],
      mode: null,
      agents: null,
      warnings: [],
      forced: [],
      drift: [],
      openAs: null,
      console: null,
      operator: { kind: 'kept', file: '/x/token' },
    },
    plain,
  )
    .split('\n')
    .slice(1, -7);

test('a server that is still starting has not failed, one that failed before has', () => {
  const slow = { name: 'slow', state: 'connecting', tools: 0, problem: null, lastWords: ['installing'] };
  const broken = { ...slow, name: 'broken', problem: 'it ended by itself with exit code 1', lastWords: [] };
  assert.deepEqual(linesOf(slow, broken, { ...slow, name: 'there', state: 'connected', tools: 2 }), [
    '… slow    still starting',
    '          it said: installing',
    '✗ broken  it ended by itself with exit code 1; it is tried again',
    '✓ there   2 tools',
  ]);
});
