/**
 * The payloads of seed 002 for POLICY_DEFER, COMPLETION_BLOCKED and RUNTIME_GAP, through every door of the real process
 * and the library.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { createClient, httpTransport, ToolDeniedError } from '../../../src/client/index.ts';
import type { Notice, Reply } from '../../../src/core/call/reply.ts';
import { isRefusal, tool } from '../../../src/index.ts';
import { anAgent } from '../../support/a-policy.ts';
import { eventually } from '../../support/eventually.ts';
import { everything, startGoverned } from '../../support/governed-up.ts';
import { connectHttp, revisions } from '../../support/mcp-connect.ts';
import { openApprovals } from '../../support/open-approvals.ts';
import { aTool } from '../../support/tools.ts';

/** The server is the same; one of its tools goes on after it has answered. */
const servers = everything.replace(/\n$/, '\n    tools: { echo: { reports_within: 1s } }\n');
const yaml = `${servers}agents:
  bot:
    rules:
      - permit: everything/echo
      - defer: everything/get-sum
`;
const rule = `recourse.yaml:${yaml.split('\n').findIndex((line) => line.includes('defer:')) + 1}`;
const sum = { a: 1, b: 2 };

const deferred = (id: unknown) => ({
  code: 'POLICY_DEFER',
  rule_ref: rule,
  human_message: 'everything/get-sum deferred for operator approval',
  resolution: { type: 'pending_approval', approval_id: id },
});
const blocked = (ids: readonly unknown[]) => ({
  code: 'COMPLETION_BLOCKED',
  human_message: `agent cannot complete: ${ids.length} ${ids.length === 1 ? 'approval' : 'approvals'} pending`,
  resolution: { type: 'pending_approvals', approval_ids: ids },
});
const gap = {
  code: 'RUNTIME_GAP',
  human_message: "tool 'everything/echo' completed asynchronously without recourse/tasks/complete",
  resolution: { type: 'manual_audit' },
};

function members(reply: Readonly<Record<string, unknown>>) {
  const { code, rule_ref, human_message, resolution } = reply;
  return { code, ...(rule_ref === undefined ? {} : { rule_ref }), human_message, resolution };
}

const approvalIn = (reply: unknown): unknown =>
  (reply as { readonly resolution: { readonly approval_id?: unknown } }).resolution.approval_id;

async function caught(act: Promise<unknown>): Promise<ToolDeniedError> {
  const error: unknown = await act.then(
    () => assert.fail('it was not denied'),
    (thrown) => thrown,
  );
  assert.ok(error instanceof ToolDeniedError, String(error));
  return error;
}

test('POLICY_DEFER and COMPLETION_BLOCKED: HTTP, MCP in both revisions, client', async (t) => {
  const up = await startGoverned(t, yaml);
  await up.ready();
  const key = up.keyOf('bot');
  const http = await up.ask('/v1/calls', { key, body: { tool: 'everything/get-sum', args: sum } });
  assert.equal(http.status, 202);
  const id = approvalIn(http.body);
  assert.match(String(id), /^apr_/);
  assert.deepEqual(members(http.body), deferred(id));

  const client = createClient({ transport: httpTransport({ url: up.url, key }), maxWaits: 0 });
  const thrown = await caught(client.call('everything/get-sum', sum));
  assert.deepEqual(
    [thrown.code, thrown.humanMessage, thrown.ruleRef, thrown.approvalId],
    ['POLICY_DEFER', deferred(id).human_message, rule, id],
  );

  const complete = await up.ask('/v1/complete', { key, body: {} });
  assert.equal(complete.status, 409);
  assert.deepEqual(members(complete.body), blocked([id]));
  const notDone = await caught(client.complete());
  assert.deepEqual([notDone.code, notDone.humanMessage], ['COMPLETION_BLOCKED', blocked([id]).human_message]);
  assert.deepEqual(notDone.resolution, { type: 'pending_approvals', approvalIds: [id] });

  for (const revision of revisions) {
    const { client: mcp, call } = await connectHttp(t, new URL(`${up.url}/mcp`), revision, { key });
    const held = await call('everything/get-sum', sum);
    assert.ok(held.isError && isRefusal(held.reply as Reply));
    assert.deepEqual(members(held.reply as never), deferred(id));
    const done = await call('complete', {});
    assert.ok(done.isError);
    assert.deepEqual(members(done.reply as never), blocked([id]));
    await mcp.close();
  }

  // Two of them are two.
  const more = await up.ask('/v1/calls', { key, body: { tool: 'everything/get-sum', args: { a: 3, b: 4 } } });
  const both = await up.ask('/v1/complete', { key, body: {} });
  assert.equal(both.body['human_message'], 'agent cannot complete: 2 approvals pending');
  // It clears when it is resolved.
  const by = { key: up.operatorKey() };
  for (const each of [id, approvalIn(more.body)])
    assert.equal((await up.ask(`/v1/approvals/${String(each)}/deny`, { ...by, body: { reason: 'no' } })).status, 200);
  assert.equal((await up.ask('/v1/complete', { key, body: {} })).status, 200);
});

test('RUNTIME_GAP: HTTP, MCP in both revisions, client', async (t) => {
  const up = await startGoverned(t, yaml);
  await up.ready();
  const key = up.keyOf('bot');
  const echo = { tool: 'everything/echo', args: { message: 'begun' } };
  const begun = await up.ask('/v1/calls', { key, body: echo });
  assert.equal(begun.status, 200);
  const noticesOf = async (): Promise<readonly Notice[]> => {
    const { body } = await up.ask(`/v1/calls/${String(begun.body['call_id'])}`, { key });
    return (body['notices'] ?? []) as readonly Notice[];
  };
  const notices = await eventually('it is overdue', async () => {
    const seen = await noticesOf();
    return seen.length > 0 ? seen : null;
  });
  assert.deepEqual(notices, [gap]);

  const seen: unknown[] = [];
  const client = createClient({ transport: httpTransport({ url: up.url, key }), onReply: (r) => seen.push(r.notices) });
  await client.call('everything/echo', { message: 'next' });
  assert.deepEqual(seen, [[gap]], 'beside the next reply');

  for (const revision of revisions) {
    const { client: mcp } = await connectHttp(t, new URL(`${up.url}/mcp`), revision, { key });
    const unknown: unknown = await mcp
      .request({ method: 'tools/forget', params: {} }, z.looseObject({}))
      .catch((error: unknown) => error);
    const { data } = unknown as { readonly data?: { readonly notices?: readonly Notice[] } };
    const [notice] = data?.notices ?? [];
    assert.equal(notice?.code, 'RUNTIME_GAP');
    assert.match(notice?.human_message ?? '', /tools\/forget/);
    assert.deepEqual(notice?.resolution, { type: 'manual_audit' });
    await eventually('a call of MCP carries what is overdue', async () => {
      const answered = await mcp.callTool({ name: 'everything/echo', arguments: { message: 'again' } });
      return JSON.stringify(answered).includes(gap.human_message);
    });
    await mcp.close();
  }
  const status = await up.ask('/v1/status', { key: up.operatorKey() });
  const kinds = (status.body['gaps'] as { readonly kind: string }[]).map(({ kind }) => kind).sort();
  assert.deepEqual(kinds, ['unknown_method', 'unreported_task']);
  const metrics = await fetch(`${up.url}/metrics`, { headers: { authorization: `Bearer ${up.operatorKey()}` } });
  assert.match(await metrics.text(), /recourse_runtime_gaps_total\{kind="unreported_task"\} [1-9]/);
});

test('the three of them through the library', async (t) => {
  const rules = anAgent('local', [
    ['permit', 'long_task'],
    ['defer', 'stripe/refund'],
  ]);
  const longTask = tool({
    name: 'long_task',
    description: 'Goes on after it has answered.',
    input: {},
    reports_within_seconds: 0.2,
    run: async () => ({}),
  });
  const refund = aTool('stripe/refund', () => ({}));
  const { gateway } = await openApprovals(t, [refund, longTask], { agents: [rules] });
  const held = await gateway.handle({ tool: 'stripe/refund', args: {} });
  const id = approvalIn(held);
  assert.deepEqual(members(held as never), {
    code: 'POLICY_DEFER',
    rule_ref: 'recourse.yaml:11',
    human_message: 'stripe/refund deferred for operator approval',
    resolution: { type: 'pending_approval', approval_id: id },
  });
  assert.deepEqual(members((await gateway.complete()) as never), blocked([id]));

  const begun = await gateway.handle({ tool: 'long_task', args: {} });
  const notices = await eventually('it is overdue', async () => (await gateway.reply(begun.call_id))?.notices ?? null);
  const human_message = "tool 'long_task' completed asynchronously without recourse/tasks/complete";
  assert.deepEqual(notices, [{ ...gap, human_message }]);
});
