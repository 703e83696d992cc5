/**
 * A person decides about calls over MCP: the replies of seed 002, waiting for a decision, and the client's own user.
 */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Client } from '@modelcontextprotocol/client';
import { eventually } from '../../support/eventually.ts';
import { everything, type GovernedUp, startGoverned } from '../../support/governed-up.ts';
import { connectHttp, type ConnectOptions, type Revision, revisions } from '../../support/mcp-connect.ts';

const policy = `agents:
  bot:
    rules:
      - permit: everything/echo
      - defer: everything/get-sum
  asker:
    rules:
      - defer: everything/get-sum
        reason: sums move money
        client_may_approve: true
  other:
    rules:
      - defer: everything/get-sum
`;

const deferLine = everything.split('\n').length + 4;

interface Result {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>> & {
    readonly resolution?: { readonly type: string; readonly approval_id: string };
  };
}

async function connected(t: TestContext, up: GovernedUp, key: string, revision: Revision, more: ConnectOptions = {}) {
  const { client } = await connectHttp(t, new URL(`${up.url}/mcp`), revision, { key, ...more });
  const call = async (name: string, args: object, options: object = {}): Promise<Result> =>
    (await client.callTool({ name, arguments: args as never }, options)) as unknown as Result;
  return { client, call };
}

/** Deferred, by the reply; returns which approval it is. */
function deferred({ isError, structuredContent: reply }: Result, line = deferLine): string {
  assert.equal(isError, true, JSON.stringify(reply));
  const id = reply?.resolution?.approval_id ?? '';
  assert.match(id, /^apr_/);
  const { code, rule_ref, human_message, resolution } = reply ?? {};
  assert.deepEqual(
    { code, rule_ref, human_message, resolution },
    {
      code: 'POLICY_DEFER',
      rule_ref: `recourse.yaml:${line}`,
      human_message: 'everything/get-sum deferred for operator approval',
      resolution: { type: 'pending_approval', approval_id: id },
    },
  );
  return id;
}

const sumOf = ({ content }: Result) => content[0]?.text;
const decide = (up: GovernedUp, id: string, word: 'approve' | 'deny', body: object = {}) =>
  up.ask(`/v1/approvals/${id}/${word}`, { key: up.operatorKey(), body });

const answering = (seen: string[], answer: object): ConnectOptions => ({
  capabilities: { elicitation: { form: {} } },
  prepare: (client: Client) =>
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      seen.push(params.message);
      return answer as never;
    }),
});

test('approvals over MCP', { timeout: 240_000 }, async (t) => {
  const up = await startGoverned(t, `${everything}${policy}`);
  await up.ready();
  const keys = { bot: up.keyOf('bot'), asker: up.keyOf('asker'), other: up.keyOf('other') };
  let next = 0;
  /** Other arguments each time, so that each test has an approval of its own. */
  const fresh = () => ({ a: (next += 1), b: 1_000 });

  for (const revision of revisions) {
    await t.test(`a deferred call waits for a person, who approves: then it runs, once, in ${revision}`, async (t) => {
      const { call, client } = await connected(t, up, keys.bot, revision);
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        ['everything__echo', 'everything__get-sum', 'await_approval', 'await_ticket', 'complete'],
      );
      const sum = fresh();
      const id = deferred(await call('everything/get-sum', sum));
      assert.equal(deferred(await call('everything/get-sum', sum)), id, 'equal calls share one');
      const pending = await call('await_approval', { approval_id: id, wait_seconds: 0 });
      assert.equal(pending.isError, undefined);
      assert.equal(pending.structuredContent?.['state'], 'pending');
      assert.match(String(pending.structuredContent?.['next']), /ask again later/);
      const told: number[] = [];
      const onprogress = ({ progress }: { progress: number }) => void told.push(progress);
      const waiting = call('await_approval', { approval_id: id, wait_seconds: 60 }, { onprogress });
      await eventually('progress is told', async () => told.length > 0);
      const { status, body } = await decide(up, id, 'approve');
      assert.equal(status, 200, JSON.stringify(body));
      const granted = await waiting;
      assert.equal(granted.structuredContent?.['state'], 'granted');
      assert.match(sumOf(granted) ?? '', /Call everything__get-sum again with the same arguments/);
      assert.match(sumOf(await call('everything/get-sum', sum)) ?? '', new RegExp(`${sum.a + sum.b}`));
      assert.notEqual(deferred(await call('everything/get-sum', sum)), id, 'it covers one call');
    });

    await t.test(`a denied call is denied with the reason, in ${revision}`, async (t) => {
      const { call } = await connected(t, up, keys.bot, revision);
      const sum = fresh();
      const id = deferred(await call('everything/get-sum', sum));
      const waiting = call('await_approval', { approval_id: id });
      await decide(up, id, 'deny', { reason: 'too much' });
      const denied = await waiting;
      assert.equal(denied.structuredContent?.['state'], 'denied');
      assert.match(String(denied.structuredContent?.['next']), /operator said no \(too much\)/);
      const again = await call('everything/get-sum', sum);
      assert.equal(again.structuredContent?.['code'], 'POLICY_DENY');
      assert.match(String(again.structuredContent?.['human_message']), /denied by operator: too much/);
    });

    await t.test(`what is no approval of the agent is unknown to it, in ${revision}`, async (t) => {
      const { call } = await connected(t, up, keys.bot, revision);
      const stranger = await connected(t, up, keys.other, revision);
      const id = deferred(await call('everything/get-sum', fresh()));
      for (const args of [{ approval_id: id }, { approval_id: 'apr_none' }, {}, { approval_id: id, wait: 1 }]) {
        const { isError, structuredContent } = await stranger.call('await_approval', args);
        assert.equal(isError, true);
        assert.equal(structuredContent?.['error'], 'validation_failed', JSON.stringify(structuredContent));
      }
      const wrong = await call('await_approval', { approval_id: id, wait_seconds: -1 });
      assert.match(String(wrong.structuredContent?.['message']), /wait_seconds/);
    });

    await t.test(
      `the client's user approves where the rule says so: the reply is the result, in ${revision}`,
      async (t) => {
        const seen: string[] = [];
        const yes = answering(seen, { action: 'accept', content: { approve: true } });
        const { call } = await connected(t, up, keys.asker, revision, yes);
        const sum = fresh();
        assert.match(sumOf(await call('everything/get-sum', sum)) ?? '', new RegExp(`${sum.a + sum.b}`));
        assert.equal(seen.length, 1);
        assert.match(seen[0] ?? '', /everything\/get-sum/);
        assert.match(seen[0] ?? '', new RegExp(`"a": ${sum.a},`));
        assert.match(seen[0] ?? '', /sums move money/);
        const { body } = await up.ask('/v1/approvals?state=used&agent=asker', { key: up.operatorKey() });
        const [used] = body['approvals'] as readonly { readonly decided: { readonly by: string } }[];
        assert.equal(used?.decided.by, 'the user of asker');
      },
    );

    const no = { action: 'accept', content: { approve: false, reason: 'not today' } };
    for (const [what, answer, why] of [
      ['says no', no, /denied by the user of asker: not today/],
      ['declines', { action: 'decline' }, /denied by the user of asker/],
    ] as const)
      await t.test(`the client's user ${what}: the call is denied, in ${revision}`, async (t) => {
        const { call } = await connected(t, up, keys.asker, revision, answering([], answer));
        const { structuredContent } = await call('everything/get-sum', fresh());
        assert.equal(structuredContent?.['code'], 'POLICY_DENY', JSON.stringify(structuredContent));
        assert.match(String(structuredContent?.['human_message']), why);
      });

    for (const [what, answer] of [
      ['cancels', { action: 'cancel' }],
      ['accepts without an answer', { action: 'accept', content: {} }],
    ] as const)
      await t.test(`the client's user ${what}: the approval stays open for others, in ${revision}`, async (t) => {
        const { call } = await connected(t, up, keys.asker, revision, answering([], answer));
        const sum = fresh();
        const id = deferred(await call('everything/get-sum', sum), deferLine + 3);
        assert.equal((await decide(up, id, 'approve')).status, 200);
        const { call: later } = await connected(t, up, keys.asker, revision);
        assert.match(sumOf(await later('everything/get-sum', sum)) ?? '', new RegExp(`${sum.a + sum.b}`));
      });

    await t.test(
      `a no that comes too late opens no approval for what the user does not want, in ${revision}`,
      async (t) => {
        const sum = fresh();
        const other = await connected(t, up, keys.asker, revision);
        // While they think somebody else approves, and another client of the agent uses that.
        const prepare = (client: Client) =>
          client.setRequestHandler('elicitation/create', async () => {
            const id = deferred(await other.call('everything/get-sum', sum), deferLine + 3);
            assert.equal((await decide(up, id, 'approve')).status, 200);
            assert.match(sumOf(await other.call('everything/get-sum', sum)) ?? '', new RegExp(`${sum.a + sum.b}`));
            return { action: 'accept', content: { approve: false } } as never;
          });
        const options = { capabilities: { elicitation: { form: {} } }, prepare };
        const { call } = await connected(t, up, keys.asker, revision, options);
        assert.equal((await call('everything/get-sum', sum)).isError, true);
        const { body } = await up.ask('/v1/approvals?state=pending', { key: up.operatorKey() });
        const open = body['approvals'] as readonly { readonly args: { readonly a: number } }[];
        assert.ok(!open.some(({ args }) => args.a === sum.a), JSON.stringify(open));
      },
    );

    await t.test(`a client that cannot be asked gets the deferral, in ${revision}`, async (t) => {
      const { call } = await connected(t, up, keys.asker, revision);
      deferred(await call('everything/get-sum', fresh()), deferLine + 3);
    });

    await t.test(`where the rule does not say so the client's user is not asked, in ${revision}`, async (t) => {
      const seen: string[] = [];
      const yes = answering(seen, { action: 'accept', content: { approve: true } });
      const { call } = await connected(t, up, keys.bot, revision, yes);
      deferred(await call('everything/get-sum', fresh()));
      assert.deepEqual(seen, []);
    });

    await t.test(`completion is blocked while approvals are pending, and says which, in ${revision}`, async (t) => {
      const { call } = await connected(t, up, keys.other, revision);
      const id = deferred(await call('everything/get-sum', fresh()), deferLine + 8);
      const blocked = await call('complete', {});
      assert.equal(blocked.isError, true);
      const { code, human_message, resolution } = blocked.structuredContent ?? {};
      assert.deepEqual(
        { code, human_message, resolution },
        {
          code: 'COMPLETION_BLOCKED',
          human_message: 'agent cannot complete: 1 approval pending',
          resolution: { type: 'pending_approvals', approval_ids: [id] },
        },
      );
      await decide(up, id, 'deny');
      const done = await call('complete', {});
      assert.equal(done.isError, undefined, JSON.stringify(done));
    });
  }

  await t.test('calls over MCP are counted', async () => {
    const response = await fetch(`${up.url}/metrics`, { headers: { authorization: `Bearer ${up.operatorKey()}` } });
    const text = await response.text();
    assert.match(text, /recourse_calls_total\{[^}]*POLICY_DEFER[^}]*\} [1-9]/, text.slice(0, 2_000));
  });

  await t.test('who waits does not keep the process from ending', async (t) => {
    const { call } = await connected(t, up, keys.bot, '2026-07-28');
    const id = deferred(await call('everything/get-sum', fresh()));
    let told = 0;
    const onprogress = () => void (told += 1);
    const waiting = call('await_approval', { approval_id: id, wait_seconds: 60 }, { onprogress });
    await eventually('it waits', async () => told > 0);
    const code = up.stop();
    // Who kept the process from ending would be cut off by it instead.
    assert.equal((await waiting).structuredContent?.['state'], 'pending');
    assert.equal(await code, 0);
  });
});
