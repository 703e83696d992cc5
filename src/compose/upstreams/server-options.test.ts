import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serverConfig } from './server-options.ts';

const server = { name: 'shop', url: 'http://127.0.0.1:1/mcp' };

test('seconds of a server are kept in whole milliseconds', () => {
  const tools = { '*': { timeout_seconds: 0.000_1, dedupe_window_seconds: 1.000_4, reports_within_seconds: 2 } };
  const { timeoutMs, rules } = serverConfig({ ...server, timeout_seconds: 12.3456, tools });
  assert.equal(timeoutMs, 12_346);
  const times = { timeoutMs: 1, dedupeWindowMs: 1_000, reportsWithinMs: 2_000 };
  assert.deepEqual(rules, [{ match: '*', effect: null, ...times, onError: null }]);
});

for (const seconds of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '5' as unknown as number]) {
  test(`${seconds} is no time for a server`, () => {
    const expected = {
      name: 'GatewayError',
      message: /`timeout_seconds` of a server must be a number of seconds above 0/,
    };
    assert.throws(() => serverConfig({ ...server, timeout_seconds: seconds }), expected);
  });
}
