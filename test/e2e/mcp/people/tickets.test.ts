/** Tickets over MCP: an agent waits for one, and the user of its client answers where the file lets them. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { startGoverned } from '../../../support/governed-up.ts';
import { listenApi } from '../../../support/http/api.ts';
import { connectHttp, type ConnectOptions, type Revision, revisions } from '../../../support/mcp-connect.ts';
import { objectsIn, recourse } from '../../../support/recourse-process.ts';

async function openBank(t: TestContext, tickets: string) {
  const bank = { paid: [] as unknown[], granted: false };
  const api = await listenApi(t, ({ body }, response) => {
    const isFine = bank.granted;
    if (isFine) bank.paid.push(JSON.parse(body));
    response.writeHead(isFine ? 200 : 403, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isFine ? { paid: bank.paid.length } : { problem: 'not you' }));
  });
  const up = await startGoverned(
    t,
    `tools:
  bank:
    http: { url: '${api.url}' }
    tools:
      pay: { effect: plain, request: { method: POST, path: /pay } }
${tickets}agents:
  bot:
    egress: { allow: ['127.0.0.1'] }
    rules: [{ permit: bank/pay }]
`,
  );
  await up.ready();
  const key = up.keyOf('bot');
  const connect = async (revision: Revision, more: ConnectOptions = {}) => {
    const { client } = await connectHttp(t, new URL(`${up.url}/mcp`), revision, { key, ...more });
    return async (name: string, args: object) => {
      const { structuredContent } = await client.callTool({ name, arguments: args as never });
      return (structuredContent ?? {}) as {
        readonly error?: string;
        readonly state?: string;
        readonly answer?: string;
        readonly next?: string;
        readonly result?: object;
        readonly reply?: { readonly result?: object } | null;
        readonly resolution?: { readonly ticket_id?: string };
      };
    };
  };
  return { bank, up, connect };
}

for (const revision of revisions)
  test(`[C5-answer-7] an agent waits for its ticket and gets what came of it, in ${revision}`, async (t) => {
    const { bank, up, connect } = await openBank(t, '');
    const call = await connect(revision);
    const refused = await call('bank__pay', { amount: 5 });
    const id = refused.resolution?.ticket_id ?? '';
    assert.match(id, /^tkt_.*_policy_denied$/);
    const look = await call('await_ticket', { ticket_id: id, wait_seconds: 0 });
    assert.deepEqual([look.state, look.reply], ['open', null]);
    assert.equal((await call('await_ticket', { ticket_id: 'tkt_none' })).error, 'validation_failed');
    const waiting = call('await_ticket', { ticket_id: id, wait_seconds: 60 });
    bank.granted = true;
    const answered = recourse(['tickets', 'resolve', id, '--answer', 'retry', '--url', up.url], { cwd: up.home });
    assert.equal(answered.status, 0, answered.stderr);
    const outcome = await waiting;
    assert.deepEqual([outcome.state, outcome.answer, outcome.reply?.result], ['closed', 'retry', { paid: 1 }]);
    assert.match(outcome.next ?? '', /^It was answered, and bank__pay was done/);
    assert.equal(bank.paid.length, 1);
  });

const asking = (answers: (() => unknown)[], asked: string[]): ConnectOptions => ({
  capabilities: { elicitation: { form: {} } },
  prepare: (client) =>
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(String(params['message']));
      return answers.shift()?.() as never;
    }),
});

test('[C5-client-1] the user of the client answers where the file lets them, and the call goes on at once', async (t) => {
  const { bank, connect, up } = await openBank(t, 'tickets: { queues: { policy_review: { client: true } } }\n');
  const asked: string[] = [];
  const content = { answer: 'replace', arguments: '{"amount":4}' };
  const grants = () => {
    bank.granted = true;
    return { action: 'accept', content };
  };
  const call = await connect('2025-11-25', asking([() => ({ action: 'decline' }), grants], asked));
  const declined = await call('bank__pay', { amount: 5 });
  const id = declined.resolution?.ticket_id ?? '';
  assert.match(asked[0] ?? '', /bank\/pay.*failed: the upstream forbids it/);
  const [story] = objectsIn(recourse(['tickets', 'show', id, '--json', '--url', up.url], { cwd: up.home }).stdout);
  assert.equal(story?.['state'], 'open', 'who declines leaves it to others');
  assert.equal(recourse(['tickets', 'close', id, '--url', up.url], { cwd: up.home }).status, 0);
  const done = await call('bank__pay', { amount: 6 });
  assert.deepEqual([asked.length, done.result, bank.paid], [2, { paid: 1 }, [{ amount: 4 }]]);
});

test('[C5-client-2] by default nobody asks the user of the client', async (t) => {
  const { connect } = await openBank(t, '');
  const asked: string[] = [];
  const call = await connect('2025-11-25', asking([], asked));
  assert.equal((await call('bank__pay', { amount: 5 })).error, 'action_error');
  assert.deepEqual(asked, []);
});
