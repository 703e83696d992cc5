import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recoveryConfig, serverConfig } from './server-options.ts';

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

const found = { tool: 'shop/find', args: () => ({}), happened: () => true };

test('what a program declares about recovery is read as in recourse.yaml', () => {
  const tools = {
    pay: {
      playbook: { cancelled: 'escalate_to_human' },
      retry: { max_attempts: 1, base_ms: 5 },
      reconcile: found,
      quarantine_seconds: 120,
      operation_key: (args: { order: string }) => args.order,
    },
  } as const;
  const breaker = { failures: 2, open_for_seconds: 1.5 };
  const { playbook, servers } = recoveryConfig({ policy_denied: { escalate_to_human: { queue: 'security' } } }, [
    { ...server, breaker, tools },
    { ...server, name: 'quiet', breaker: 'off' },
  ]);
  const queue = { action: { kind: 'escalate_to_human', queue: 'security' }, jitter: 0 };
  assert.deepEqual(playbook.declared.playbook?.policy_denied?.plain, queue);
  assert.deepEqual(
    servers.map(({ recovery }) => recovery?.declared.breaker),
    [{ failures: 2, openMs: 1_500 }, null],
  );
  const [rule] = servers[0]?.rules ?? [];
  const { retry, reconcile, quarantineMs, playbook: ofRule } = rule?.recovery?.declared ?? {};
  assert.deepEqual([retry?.maxAttempts, retry?.baseMs, quarantineMs], [1, 5, 120_000]);
  assert.equal(reconcile?.tool, 'shop/find');
  assert.equal(ofRule?.cancelled?.plain?.action.kind, 'escalate_to_human');
  assert.equal(rule?.operationKey?.of({ order: 'o1' }), 'o1');
});

const unusable: readonly (readonly [object, RegExp])[] = [
  [{ breaker: { failures: 0 } }, /`breaker` of server 'shop' is 'off' or/],
  [{ playbook: { cancelled: 'retry_with_backoff' } }, /`playbook\.cancelled` of server 'shop': cancelled is never/],
  [
    { tools: { pay: { retry: { tries: 3 } } } },
    /'pay' of server 'shop': its retry is not usable: retry has no 'tries'/,
  ],
  [{ tools: { pay: { reconcile: { tool: 'x' } } } }, /'pay' of server 'shop': its reconcile is not usable/],
  [{ tools: { pay: { operation_key: 'args.order' } } }, /its operation_key is no function/],
  [{ tools: { pay: { quarantine_seconds: -1 } } }, /`quarantine_seconds` of a server must be/],
  [{ tools: { pay: { playbook: { cancelled: 7 } } } }, /`playbook\.cancelled` of 'pay' of server 'shop'/],
];

for (const [options, message] of unusable)
  test(`${JSON.stringify(options)} is refused`, () =>
    assert.throws(() => recoveryConfig(undefined, [{ ...server, ...options }]), { name: 'GatewayError', message }));
