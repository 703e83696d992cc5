/**
 * Tenants are islands: whatever somebody of one asks, on whichever route, with whatever ids of the other, they get none
 * of it, and nothing of it changes. Both have agents and operators of the same names, the same keys for their calls,
 * and the same tools.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { httpRoutes, type RouteName, routeNames } from '../../../src/core/http/http-routes.ts';
import { keyRoles } from '../../../src/core/call/identity.ts';
import { mustOpenTicket } from '../../conformance/recovery/ticket-fixtures.ts';
import { aBudget } from '../../support/limits/written-quotas.ts';
import { aPolicy, anAgent } from '../../support/a-policy.ts';
import { createHeldTool, aTool } from '../../support/tools.ts';
import { coffee } from '../../support/workflows.ts';
import { type Answered, openHttp, type OpenedHttp } from './open-http.ts';

const seed = 20_261_116;
const secret = 'kept-by-the-other-tenant';

/** What the other tenant has: everything that could be asked for. */
interface Island {
  readonly ids: readonly string[];
  readonly agents: readonly string[];
  readonly key: string;
}

async function settle(
  { ask, call, makeKey, shell }: OpenedHttp,
  slow: ReturnType<typeof createHeldTool>,
): Promise<Island> {
  const key = await makeKey('other', 'agent', 'bot');
  const ids: string[] = [];
  const note = ({ body }: Answered) =>
    void ids.push(...[body['call_id'], body['session']].filter((id): id is string => typeof id === 'string'));
  note(await call({ tool: 'echo', args: { secret }, key: 'shared-key' }, { key }));
  note(await call({ tool: 'broken', args: { secret } }, { key }));
  note(await call({ tool: 'nothing', args: { secret } }, { key }));
  const held = await call({ tool: 'held', args: { secret } }, { key });
  note(held);
  ids.push((held.body['resolution'] as { approval_id: string }).approval_id);
  note(await call({ tool: 'slow', args: { secret }, wait_seconds: 0 }, { key }));
  await slow.begun();
  ids.push((await mustOpenTicket(shell.ports.store, { tenant: 'other', agent: 'bot', queue: secret })).id);
  const opened = await ask('POST', '/v1/sessions', { key, body: { workflow: 'coffee' } });
  note(opened);
  const at = `/v1/sessions/${String(opened.body['session'])}/steps`;
  note(await ask('POST', at, { key, body: { action: 'take_order', inputs: { drink: secret } } }));
  return { ids: [...new Set(ids)], agents: ['bot', 'vera'], key };
}

const isStream = (name: RouteName) => httpRoutes[name].answer === 'text/event-stream';

const pick = <Value>(values: readonly Value[], at: number): Value => values[at % values.length] as Value;

/** A request for a route, made of what the other tenant has. */
function requestFor(name: RouteName, island: Island, draw: number) {
  const { path, query, method, body } = httpRoutes[name];
  const id = pick(island.ids, draw);
  const session = pick(island.ids, draw >> 3);
  const queries = Object.keys(query)
    .filter((field, index) => field !== 'follow' && ((draw >> 6) & (1 << index)) !== 0)
    .map((field) => `${field}=${valueOf(field, island, draw)}`);
  const search = [...queries, ...(isStream(name) ? ['follow=false'] : [])];
  const bodies: Readonly<Record<string, unknown>> = {
    CallRequest: { tool: pick(['echo', 'broken'], draw), args: { draw }, ...((draw & 1) === 0 ? { session } : {}) },
    StepRequest: { action: pick(['take_order', 'pay', 'cancel'], draw), inputs: { drink: 'tea' } },
    EvaluateRequest: { tool: 'echo', args: {}, session, agent: 'bot' },
    SettleRequest: { happened: pick(['yes', 'no', 'unknown'], draw), result: 'taken over' },
    SessionRequest: { workflow: 'coffee' },
    ForkRequest: (draw & 1) === 0 ? {} : { seq: 0 },
    ApproveRequest: (draw & 1) === 0 ? {} : { args: { taken: 'over' }, reason: 'because' },
    DenyRequest: { reason: 'because' },
    RevokeRequest: {},
    CompleteRequest: (draw & 1) === 0 ? { session } : {},
    CloseTicketRequest: (draw & 1) === 0 ? {} : { note: 'taken over' },
    SetBudgetRequest: { spent: draw % 10, ...((draw & 1) === 0 ? { session } : {}) },
    ResetBudgetRequest: (draw & 1) === 0 ? {} : { session },
    Nothing: {},
  };
  return {
    method,
    target: `${path.replace('{id}', id)}${search.length === 0 ? '' : `?${search.join('&')}`}`,
    ...(body === null ? {} : { body: bodies[body] }),
    /** Whether something of the other is asked for, and so must not be found. */
    asksForTheirs:
      path.includes('{id}') || ((body === 'CallRequest' || body === 'CompleteRequest') && (draw & 1) === 0),
  };
}

function valueOf(field: string, { ids, agents }: Island, draw: number): string {
  if (field === 'agent') return pick(agents, draw >> 2);
  if (field === 'session' || field === 'before') return pick(ids, draw >> 4);
  if (field === 'limit') return '200';
  if (field === 'wait') return '0.01';
  if (field === 'after') return '0.0';
  return pick(['echo', 'coffee', 'SUCCEEDED', 'open', '0'], draw >> 5);
}

/** What the records of a stream are about. Their texts hold what we ourselves sent before. */
const subjectsIn = (stream: string): string =>
  [...stream.matchAll(/"(?:call_id|session|approval_id)":"(\w+)"/g)].map(([, id]) => id).join(' ');

/** What is there of the other tenant, as its own operators see it. */
async function whole({ ask }: OpenedHttp, key: string): Promise<string> {
  const parts = [
    '/v1/approvals?limit=200',
    '/v1/calls?limit=200',
    '/v1/sessions?limit=200',
    '/v1/budgets',
    '/v1/audit?follow=false',
  ];
  const seen = await Promise.all(parts.map((part) => ask('GET', part, { key })));
  return seen.map(({ text }) => text).join('\n');
}

test('nothing of another tenant is found, shown or changed, on any route, by any role, with any of its ids', async (t) => {
  const slow = createHeldTool('slow', { timeout_seconds: 600 });
  const broken = aTool('broken', () => {
    throw new Error('jammed');
  });
  const http = await openHttp(t, {
    tools: [aTool('echo', (args) => args), broken, slow.definition, aTool('held', (args) => args)],
    workflows: [coffee()],
    policy: aPolicy([
      anAgent(
        'bot',
        [
          ['defer', 'held'],
          ['permit', '*'],
          ['permit', '*/*'],
        ],
        { budgets: [aBudget('99999 calls', { name: 'all', window: 'total' })] },
      ),
    ]),
  });
  const island = await settle(http, slow);
  const theirViewer = await http.makeKey('other', 'viewer', 'vera');
  const before = await whole(http, theirViewer);
  assert.ok(before.includes(secret) && island.ids.length >= 9);

  const same = await http.call({ tool: 'echo', args: { secret: 'own' }, key: 'shared-key' });
  assert.deepEqual([same.status, same.body['result']], [200, { secret: 'own' }], 'their key is not ours');

  const asked = new Map<string, number>();
  const found = new Map<number, number>();
  const one = fc.record({ name: fc.constantFrom(...routeNames), role: fc.constantFrom(...keyRoles), draw: fc.nat() });
  const property = fc.asyncProperty(one, async ({ name, role, draw }) => {
    const { method, target, asksForTheirs, ...sent } = requestFor(name, island, draw);
    const { status, text } = await http.ask(method, target, { ...sent, key: http.keys[role] });
    const what = `${role} ${method} ${target} ${JSON.stringify(sent)} gave ${status}: ${text.slice(0, 500)}`;
    if (asksForTheirs) assert.ok(status >= 400, what);
    assert.ok(!text.includes(secret), what);
    // What was sent may come back; no other id of theirs may.
    const request = `${target} ${JSON.stringify(sent)}`;
    const told = isStream(name) ? subjectsIn(text) : text;
    for (const id of island.ids) if (!request.includes(id)) assert.ok(!told.includes(id), `${id} in ${what}`);
    asked.set(`${name} ${role}`, (asked.get(`${name} ${role}`) ?? 0) + 1);
    found.set(status, (found.get(status) ?? 0) + 1);
  });
  await fc.assert(property, { seed, numRuns: 3_000 });
  const lists = ['/v1/calls', '/v1/sessions', '/v1/approvals'];
  for (const list of lists) {
    const { text } = await http.ask('GET', `${list}?limit=200`, { key: http.keys.admin });
    for (const id of island.ids) assert.ok(!text.includes(id), `${id} in ${list}`);
  }
  assert.equal(asked.size, routeNames.length * keyRoles.length, 'every route was asked by every role');
  assert.ok((found.get(200) ?? 0) > 50 && (found.get(404) ?? 0) > 50, JSON.stringify([...found]));
  assert.equal(await whole(http, theirViewer), before, 'and nothing of theirs changed');
  t.diagnostic(`${[...asked.values()].reduce((sum, count) => sum + count, 0)} requests: ${JSON.stringify([...found])}`);
  slow.runs[0]?.finish('done');
});
