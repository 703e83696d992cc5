/**
 * What policy could not decide, as operators see it over HTTP: in status, metrics and audit, of their own tenant alone.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tool } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { openHttp } from './open-http.ts';

const longTask = tool({ name: 'long_task', input: {}, reports_within_seconds: 0.05, run: async () => 'started' });
const patient = tool({ name: 'patient', input: {}, reports_within_seconds: 600, run: async () => 'started' });

test('work that is not reported in time is in status, metrics, audit and beside the reply of its call', async (t) => {
  const tools = [longTask, patient] as never;
  const { ask, call, keys, makeKey } = await openHttp(
    { after: (close) => t.after(close) },
    { tools, limits: { sweepEveryMs: 20 } },
  );
  const theirs = await makeKey('acme', 'viewer', 'zoe');
  const seen = async (key: string) => (await ask('GET', '/v1/status', { key })).body['gaps'];
  assert.deepEqual(await seen(keys.viewer), []);
  const reported = (await call({ tool: 'patient', args: {} })).body;
  const report = await ask('POST', `/v1/calls/${String(reported['call_id'])}/complete`);
  assert.deepEqual([report.status, report.body['result']], [200, { reported: true }]);
  const { body: started } = await call({ tool: 'long_task', args: {} });
  await eventually('the gap', async () => JSON.stringify(await seen(keys.viewer)) !== '[]');
  assert.deepEqual(await seen(keys.viewer), [{ kind: 'unreported_task', count: 1 }]);
  assert.deepEqual(await seen(theirs), []);
  const metrics = async (key: string) => (await ask('GET', '/metrics', { key })).text.split('\n');
  const line = 'recourse_runtime_gaps_total{kind="unreported_task"} 1';
  assert.ok((await metrics(keys.viewer)).includes(line));
  assert.ok(!(await metrics(theirs)).includes(line));
  assert.ok((await metrics(theirs)).includes('recourse_approvals_pending 0'));
  const notices = [
    {
      code: 'RUNTIME_GAP',
      human_message: "tool 'long_task' completed asynchronously without recourse/tasks/complete",
      resolution: { type: 'manual_audit' },
    },
  ];
  const { body } = await ask('GET', `/v1/calls/${String(started['call_id'])}`);
  assert.deepEqual(body, { ...started, notices });
  const audit = async (key: string) => (await ask('GET', '/v1/audit?follow=false', { key })).text;
  assert.match(await audit(keys.viewer), /"kind":"runtime_gap"/);
  assert.doesNotMatch(await audit(theirs), /runtime_gap/);
});
