/**
 * The state by which a client of 2026-07-28 comes back with its user's word about an approval: hostile input, judged by
 * a real process.
 */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { everything, type GovernedUp, startGoverned } from '../../support/governed-up.ts';
import { type RawMcp, rawMcp } from '../../support/mcp-raw.ts';
import { storeIn } from '../../support/recourse-process.ts';

const rules = (agent: string, more = '') => `  ${agent}:
    rules:
      - defer: everything/get-sum
        client_may_approve: true
${more}`;
const yaml = (more = '') =>
  `${everything}agents:\n${rules('bot', more)}${rules('twin')}${rules('brief', '        expires: 1s\n')}`;

const capabilities = { elicitation: { form: {} } };
const yes = { approval: { action: 'accept', content: { approve: true } } };

interface Asked {
  readonly resultType: string;
  readonly requestState: string;
}

interface Sent {
  readonly requestState?: string;
  readonly inputResponses?: object;
}

async function asAgent(up: GovernedUp, key: string) {
  const raw: RawMcp = await rawMcp(new URL(`${up.url}/mcp`), key, '2026-07-28', capabilities);
  let id = 0;
  const send = async (sum: object, more: Sent = {}) => {
    const params = { name: 'everything/get-sum', arguments: sum, ...more };
    const { message } = await raw.send({ id: (id += 1), method: 'tools/call', params });
    return message?.result as Readonly<Record<string, unknown>>;
  };
  const ask = async (sum: object): Promise<Asked> => {
    const result = (await send(sum)) as unknown as Asked;
    assert.equal(result.resultType, 'input_required', JSON.stringify(result));
    return result;
  };
  const refused = async (sum: object, requestState: string, why: RegExp, inputResponses: object = yes) => {
    const { isError, structuredContent: reply } = (await send(sum, { requestState, inputResponses })) as {
      isError?: boolean;
      structuredContent: Readonly<Record<string, unknown>>;
    };
    assert.equal(isError, true, JSON.stringify(reply));
    assert.deepEqual([reply['error'], reply['effect']], ['validation_failed', 'none']);
    assert.match(String(reply['message']), /requestState/);
    assert.match(String(reply['message']), why);
    return String(reply['call_id']);
  };
  const runs = async (sum: object, requestState: string) => {
    const result = await send(sum, { requestState, inputResponses: yes });
    assert.match(JSON.stringify(result['content']), /sum/, JSON.stringify(result));
    assert.equal(result['isError'], undefined);
  };
  return { send, ask, refused, runs };
}

const effects = async (up: GovernedUp, agent: string): Promise<number> => {
  const { body } = await up.ask(`/v1/calls?agent=${agent}&state=SUCCEEDED`, { key: up.operatorKey() });
  return (body['calls'] as readonly unknown[]).length;
};

test('states of approvals', { timeout: 240_000 }, async (t) => {
  const up = await startGoverned(t, yaml());
  await up.ready();
  const keys = { bot: up.keyOf('bot'), twin: up.keyOf('twin') };
  const bot = await asAgent(up, keys.bot);
  const twin = await asAgent(up, keys.twin);
  const sum = { a: 1, b: 2 };

  await t.test('forged ones are refused and recorded, and nothing runs', async () => {
    const { requestState } = await bot.ask(sum);
    const [head = '', text = '', mark = ''] = requestState.split('.');
    const fields = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    const changed = fields.map((field, at) => {
      const other = fields.with(at, typeof field === 'number' ? field + 1 : `${String(field)}0`);
      return `${head}.${Buffer.from(JSON.stringify(other)).toString('base64url')}.${mark}`;
    });
    const flipped = `${mark.startsWith('A') ? 'B' : 'A'}${mark.slice(1)}`;
    const forged = [
      ...changed,
      `${head}.${text}.${flipped}`,
      `${head}.${text}.`,
      `${head}.${text}`,
      `${head}..${mark}`,
      `${requestState}.x`,
      `${head}.`,
      `${head}.${'A'.repeat(10_000)}.${mark}`,
    ];
    for (const state of forged) {
      const call = await bot.refused(sum, state, /not given out by this gateway/);
      const { body } = await up.ask(`/v1/calls?agent=bot&state=DENIED&limit=200`, { key: up.operatorKey() });
      assert.match(JSON.stringify(body), new RegExp(call), 'it is on record');
    }
    assert.equal(await effects(up, 'bot'), 0);
    await bot.runs(sum, requestState);
    assert.equal(await effects(up, 'bot'), 1, 'the true one still works');
    await bot.refused(sum, requestState, /used before/);
    assert.equal(await effects(up, 'bot'), 1);
  });

  await t.test('a state is good for nobody else and for no other call', async () => {
    const mine = { a: 5, b: 5 };
    const { requestState } = await bot.ask(mine);
    await twin.refused(mine, requestState, /somebody else or for another call/);
    await bot.refused({ a: 5, b: 6 }, requestState, /somebody else or for another call/);
    await bot.runs(mine, requestState);
  });

  await t.test('one that has expired is refused and recorded, and nothing runs', async () => {
    const key = up.keyOf('brief');
    const brief = await asAgent(up, key);
    const { requestState } = await brief.ask(sum);
    await eventually('its time is over', async () => {
      const { body } = await up.ask('/v1/approvals', { key });
      return (body['approvals'] as readonly { readonly state: string }[])[0]?.state === 'expired';
    });
    const id = await brief.refused(sum, requestState, /its time is over/);
    assert.equal((await up.ask(`/v1/calls/${id}`, { key })).body['error'], 'validation_failed');
    assert.equal(await effects(up, 'brief'), 0);
  });

  await t.test('of many who come at once with one state one is heard', async () => {
    const once = { a: 7, b: 7 };
    const before = await effects(up, 'bot');
    const { requestState } = await bot.ask(once);
    const all = await Promise.all(
      Array.from({ length: 20 }, () => bot.send(once, { requestState, inputResponses: yes })),
    );
    assert.equal(all.filter((result) => result['isError'] !== true).length, 1);
    assert.equal(await effects(up, 'bot'), before + 1);
  });

  await t.test('a state counts no more once somebody has decided', async () => {
    const late = { a: 8, b: 8 };
    const { requestState } = await bot.ask(late);
    const { body } = await up.ask('/v1/approvals?state=pending&agent=bot', { key: up.operatorKey() });
    const [open] = body['approvals'] as readonly { readonly approval_id: string }[];
    const denied = await up.ask(`/v1/approvals/${open?.approval_id}/deny`, { key: up.operatorKey(), body: {} });
    assert.equal(denied.status, 200);
    await bot.refused(late, requestState, /somebody has decided since/);
  });

  await t.test('a state counts no more once the rules of the agent have changed', async () => {
    const old = { a: 9, b: 9 };
    const { requestState } = await bot.ask(old);
    up.write(yaml('      - permit: everything/echo\n'));
    assert.equal((await up.ask('/v1/policy/apply', { key: up.operatorKey(), body: {} })).status, 200);
    await bot.refused(old, requestState, /rules of the agent have changed/);
  });

  await t.test('a state survives kill -9, and works once all the same', async (t) => {
    const kept = { a: 10, b: 10 };
    const { requestState } = await bot.ask(kept);
    // Their user closed the question: nothing was decided, and the state is used up nevertheless.
    const closed = { a: 11, b: 11 };
    const { requestState: spent } = await bot.ask(closed);
    await bot.send(closed, { requestState: spent, inputResponses: { approval: { action: 'cancel' } } });
    const seal = `${storeIn(up.home)}.seal`;
    assert.equal(statSync(seal).mode & 0o777, 0o600);
    await up.stop('SIGKILL');
    const again = await startGoverned(t, yaml('      - permit: everything/echo\n'), [], up.home);
    await again.ready();
    const later = await asAgent(again, keys.bot);
    await later.refused(closed, spent, /used before/);
    await later.runs(kept, requestState);
    await later.refused(kept, requestState, /used before/);
    await again.stop('SIGKILL');
    const third = await startGoverned(t, yaml('      - permit: everything/echo\n'), [], up.home);
    await third.ready();
    await (await asAgent(third, keys.bot)).refused(kept, requestState, /used before, or somebody has decided/);
    assert.equal(await third.stop(), 0);
  });
});
