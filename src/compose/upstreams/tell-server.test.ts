import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UpstreamStatus } from '../../adapters/upstream-mcp/server-link.ts';
import { tellServer } from './tell-server.ts';

const whole: UpstreamStatus = {
  name: 'shop',
  kind: 'stdio',
  state: 'connected',
  problem: null,
  protocolVersion: '2026-07-28',
  server: null,
  pid: 1,
  tools: 3,
  leftOut: [],
  reconnects: 0,
  stderr: ['what a child prints may be a secret'],
};
const odd = { tool: 'odd', reason: 'it has no input schema' };

test('tools that are left out are told beside what else is wrong', () => {
  const cases = [
    [whole, null],
    [{ ...whole, problem: 'it ended' }, 'it ended'],
    [{ ...whole, leftOut: [odd] }, 'one tool is left out: recourse pin says why'],
    [{ ...whole, problem: 'it ended', leftOut: [odd, odd] }, 'it ended; 2 tools are left out: recourse pin says why'],
  ] as const;
  for (const [status, problem] of cases)
    assert.deepEqual(tellServer(status), { name: 'shop', state: 'connected', tools: 3, problem });
});
