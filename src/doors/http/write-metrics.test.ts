/** The text that Prometheus reads: gaps by kind, approvals that wait, and nothing about what nobody can tell. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Measured } from './parts.ts';
import { writeMetrics } from './write-metrics.ts';

const measured: Measured = {
  uptimeSeconds: 1,
  ready: true,
  storeAvailable: true,
  inFlight: 0,
  calls: [],
  gaps: [
    { kind: 'unknown_method', count: 3 },
    { kind: 'unreported_task', count: 1 },
  ],
  suppressed: { calls: 4, gateway: 1 },
  approvalsPending: 2,
  ticketsOpen: 3,
  upstreams: [],
  recovery: [{ upstream: 'pay', breaker: 'open', retries: 7, tokens: 4.1 }],
};

it('gaps are counted by kind, and pending approvals are a gauge', () => {
  const lines = writeMetrics(measured).split('\n');
  for (const line of [
    '# TYPE recourse_runtime_gaps_total counter',
    'recourse_runtime_gaps_total{kind="unknown_method"} 3',
    'recourse_runtime_gaps_total{kind="unreported_task"} 1',
    'recourse_suppressed_errors_total{by="calls"} 4',
    'recourse_suppressed_errors_total{by="gateway"} 1',
    '# TYPE recourse_approvals_pending gauge',
    'recourse_approvals_pending 2',
    'recourse_retries_total{upstream="pay"} 7',
    'recourse_breaker_open{upstream="pay",state="open"} 1',
    'recourse_retry_budget_tokens{upstream="pay"} 4.1',
  ])
    assert.ok(lines.includes(line), line);
});

it('a store that cannot tell how many approvals wait is not taken for one without any', () => {
  assert.ok(!writeMetrics({ ...measured, approvalsPending: null }).includes('recourse_approvals_pending'));
  assert.ok(!writeMetrics({ ...measured, ticketsOpen: null }).includes('recourse_tickets_open'));
  assert.ok(writeMetrics(measured).includes('\nrecourse_tickets_open 3\n'));
});
