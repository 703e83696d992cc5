/**
 * The gateway's own tools beside those of a workflow and of servers: who sees them, whom they give way to, how waiting
 * ends.
 */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Client } from '@modelcontextprotocol/client';
import { createMachine } from 'xstate';
import { mount } from '../../../src/adapters/upstream-function/workflow/mount.ts';
import { defaultTerms } from '../../../src/core/approval/approval.ts';
import type { CallId } from '../../../src/core/call/call.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import { isRefusal, isSuccess } from '../../../src/core/call/reply.ts';
import { createApprovals } from '../../../src/shell/approval/approvals.ts';
import type { Shell } from '../../../src/shell/shell.ts';
import { aPolicy, anAgent } from '../../support/a-policy.ts';
import { aTool } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type ConnectedClient,
  connectHttp,
  connectInMemory,
  type ConnectOptions,
  type Revision,
  revisions,
  serveHttp,
} from '../../support/mcp-connect.ts';
import { type DoorOptions, openDoor } from '../../support/mcp-gateway.ts';
import { coffee } from '../../support/mcp-workflows.ts';
import { bodyOf } from '../../support/read-journal.ts';

function deferring(match: string, clientMayApprove = false): Policy {
  const [rule] = anAgent('tester', [['defer', match]]).rules;
  assert.ok(rule !== undefined);
  const terms = { ...defaultTerms, clientMayApprove };
  return aPolicy([
    anAgent('tester', [], {
      rules: [
        { ...rule, terms },
        { ...rule, effect: 'permit', match: '**' },
      ],
    }),
  ]);
}

async function connected(t: TestContext, options: DoorOptions, revision: Revision, client: ConnectOptions = {}) {
  const opened = await openDoor(t, options);
  const { url } = await serveHttp(t, opened.door);
  return { ...opened, ...(await connectHttp(t, url, revision, client)), url };
}

const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);
const person = { kind: 'person', tenant: 'default', name: 'ann' } as const;
const order = { action: 'take_order', inputs: { drink: 'latte' } };

/** The approval that a step waits for. */
async function heldStep({ step }: Pick<ConnectedClient, 'step'>, args: object = order) {
  const { reply } = await step(args);
  assert.ok(isRefusal(reply) && reply.code === 'POLICY_DEFER', JSON.stringify(reply));
  assert.ok(reply.resolution.type === 'pending_approval');
  return { id: reply.resolution.approval_id, session: reply.session };
}

const waiters = ({ live }: Shell): number => [...live.approvalWaiters.values()].reduce((sum, set) => sum + set.size, 0);

for (const revision of revisions) {
  test(`a step waits for a person and goes on in its session, in ${revision}`, async (t) => {
    const policy = deferring('coffee/take_order');
    const { client, step, shell } = await connected(t, { workflow: coffee, policy }, revision);
    assert.deepEqual(await namesOf(client), [
      'step',
      'reset_session',
      'fork_session',
      'next',
      'history',
      'await_approval',
      'complete',
    ]);
    const { id, session } = await heldStep({ step });
    const waiting = client.callTool({ name: 'await_approval', arguments: { approval_id: id } });
    await eventually('somebody waits', async () => waiters(shell) > 0);
    assert.ok((await createApprovals(shell).approve(id, person, {})).ok);
    assert.equal(((await waiting).structuredContent as { state: string }).state, 'granted');
    const { reply } = await step({ ...order, session });
    assert.ok(isSuccess(reply), JSON.stringify(reply));
    assert.equal(reply.session, session);
  });

  test(`a step that the client's user approves runs, in ${revision}`, async (t) => {
    const policy = deferring('coffee/take_order', true);
    let asked = 0;
    const { step, shell } = await connected(t, { workflow: coffee, policy }, revision, {
      capabilities: { elicitation: { form: {} } },
      prepare: (client) =>
        client.setRequestHandler('elicitation/create', async () => {
          asked += 1;
          return { action: 'accept', content: { approve: true } };
        }),
    });
    // Without a connection the session is opened for this step, and it must be the same one after the answer.
    const { reply } = await step(order);
    assert.ok(isSuccess(reply), JSON.stringify(reply));
    assert.equal(asked, 1);
    const { by, as, client } = bodyOf(await shell.ports.store.recordsOf(reply.call_id as CallId), 'approval_approved');
    assert.deepEqual({ by, as, client }, { by: 'the user of tester', as: 'client', client: 'test 1' });
  });

  test(`a session is complete when nothing stands against it, and the next step begins anew, in ${revision}`, async (t) => {
    const policy = deferring('coffee/take_order');
    const { call, step, shell } = await connected(t, { workflow: coffee, policy }, revision);
    const { id, session } = await heldStep({ step });
    const named = isStateless(revision) ? { session } : {};
    const blocked = await call('complete', named);
    assert.ok(isRefusal(blocked.reply) && blocked.reply.code === 'COMPLETION_BLOCKED', JSON.stringify(blocked.reply));
    assert.deepEqual(blocked.reply.resolution, { type: 'pending_approvals', approval_ids: [id] });
    assert.ok((await createApprovals(shell).deny(id, person, {})).ok);
    const done = await call('complete', named);
    assert.ok(isSuccess(done.reply), JSON.stringify(done.reply));
    const next = await step({ action: 'pay' });
    assert.notEqual(next.reply.session, session);
    const over = await step({ ...order, session });
    assert.ok(isRefusal(over.reply) && over.reply.error === 'session_error', JSON.stringify(over.reply));
  });

  test(`a tool of the same name goes before ours, in ${revision}`, async (t) => {
    const names = ['await_approval', 'complete'];
    const tools = names.map((name) => ({ ...aTool({ name, description: 'Theirs.' }), run: () => ({ theirs: name }) }));
    const { client, call } = await connected(t, { tools, policy: deferring('other') }, revision);
    const listed = (await client.listTools()).tools;
    assert.deepEqual(
      listed.map(({ name, description }) => [name, description]),
      names.map((name) => [name, 'Theirs.']),
    );
    for (const name of names) {
      const { reply } = await call(name, {});
      assert.deepEqual(isSuccess(reply) && reply.result, { theirs: name });
    }
  });

  test(`without a policy there is nothing to wait for and nothing of ours is listed, in ${revision}`, async (t) => {
    const { client, call } = await connected(t, { tools: [] }, revision);
    assert.deepEqual(await namesOf(client), []);
    for (const name of ['await_approval', 'complete']) {
      const { reply } = await call(name, {});
      assert.ok(isRefusal(reply) && reply.error === 'unknown_action', JSON.stringify(reply));
    }
  });

  test(`progress is told every so often, and always more, in ${revision}`, async (t) => {
    const policy = deferring('coffee/take_order');
    const doorLimits = { progressEveryMs: 20 };
    const { client, step, shell } = await connected(t, { workflow: coffee, policy, doorLimits }, revision);
    const { id } = await heldStep({ step });
    const told: number[] = [];
    const params = { name: 'await_approval', arguments: { approval_id: id, wait_seconds: 100 } };
    const waiting = client.callTool(params, { onprogress: ({ progress }) => void told.push(progress) });
    await eventually('progress is told', async () => told.length >= 3);
    assert.ok((await createApprovals(shell).deny(id, person, {})).ok);
    await waiting;
    assert.deepEqual(
      told,
      [...new Set(told)].toSorted((one, other) => one - other),
    );
  });

  test(`who cancels waits no longer, in ${revision}`, async (t) => {
    const policy = deferring('coffee/take_order');
    const { client, step, shell } = await connected(t, { workflow: coffee, policy }, revision);
    const { id } = await heldStep({ step });
    const leaving = new AbortController();
    const params = { name: 'await_approval', arguments: { approval_id: id, wait_seconds: 100 } };
    const waiting = client.callTool(params, { signal: leaving.signal }).catch(() => 'cancelled');
    await eventually('somebody waits', async () => waiters(shell) > 0);
    leaving.abort();
    assert.equal(await waiting, 'cancelled');
    await eventually('nobody waits', async () => waiters(shell) === 0);
  });
}

const isStateless = (revision: Revision): boolean => revision === '2026-07-28';

test('an action called complete keeps ours away, also where actions are no tools', async (t) => {
  const workflow = mount(createMachine({ id: 'job', initial: 'on', states: { on: { on: { complete: 'on' } } } }), {
    actions: { complete: { run: async () => ({ ran: true }) } },
  });
  const { door } = await openDoor(t, { workflow, policy: deferring('other') });
  const { client, call, step } = await connectInMemory(t, door, '2025-11-25');
  assert.deepEqual(await namesOf(client), [
    'step',
    'reset_session',
    'fork_session',
    'next',
    'history',
    'await_approval',
  ]);
  const { reply } = await call('complete', {});
  assert.ok(isRefusal(reply), JSON.stringify(reply));
  assert.match(reply.message, /'step', with the action 'complete'/);
  const stepped = await step({ action: 'complete' });
  assert.ok(isSuccess(stepped.reply), 'the session goes on');
});
