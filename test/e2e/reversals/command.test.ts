/** Reversals of a file: `recourse up` serves them, an agent redeems over MCP, a person on the command line. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { startService } from '../../../examples/saga/services.ts';
import { recourse } from '../../support/compiled-recourse.ts';
import { startGoverned } from '../../support/governed-up.ts';
import { connectHttp, revisions } from '../../support/mcp-connect.ts';
import { bin, objectsIn } from '../../support/recourse-process.ts';
import { rules } from '../../support/small-server.ts';
import { send } from '../http/open-http.ts';

async function open(t: TestContext) {
  const hotel = await startService('hotel');
  t.after(() => hotel.close());
  const up = await startGoverned(
    t,
    `agents:
${rules('bot', ['{ permit: hotel/book }'])}tools:
  hotel:
    http: { url: "${hotel.url}" }
    tools:
      book:
        request: { method: POST, path: /book }
        reverse: { tool: hotel/cancel, args: { id: result.id }, window: 30d }
      cancel:
        request: { method: POST, path: /cancel }
`,
  );
  await up.ready();
  const key = up.keyOf('bot');
  const post = (path: string, body: object) => send(new URL(up.url), 'POST', path, { key, body });
  const book = async (guest: string, more: object = {}) => {
    const { body } = await post('/v1/calls', { tool: 'hotel/book', args: { guest }, ...more });
    return { call: String(body['call_id']), token: String(body['reversal_token']) };
  };
  // Not at once: the service answers in this process.
  const run = async (...words: string[]) => {
    const child = spawn(process.execPath, [bin, ...words, '--url', up.url], { cwd: up.home, env: process.env });
    const [stdout, stderr, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { stdout, stderr, status: status as number };
  };
  return { hotel, up, key, post, book, run };
}

test('a person looks at a reversal, has it done, and sees both calls', async (t) => {
  const { hotel, up, book, run } = await open(t);
  const { call } = await book('ada');
  const looked = await run('reverse', call);
  assert.equal(looked.status, 0, looked.stderr);
  assert.match(looked.stdout, /undone by +hotel\/cancel \{"id":"hotel-ada"\}/);
  assert.match(looked.stderr, /Nothing was sent/);
  assert.deepEqual(hotel.ledger, ['book ada']);
  const done = await run('reverse', call, '--yes', '--reason', 'twice');
  assert.deepEqual([done.status, hotel.ledger], [0, ['book ada', 'cancel hotel-ada']], done.stderr);
  const by = /is undone by (call_\w+)/.exec(done.stdout)?.[1];
  const shown = recourse(['calls', 'show', call, '--json'], { cwd: up.home });
  assert.equal(objectsIn(shown.stdout)[0]?.['reversed_by'], by);
  const other = recourse(['calls', 'show', by ?? ''], { cwd: up.home });
  assert.match(other.stdout, new RegExp(`reverses +${call}`));
  const again = await run('reverse', call, '--yes');
  assert.equal(again.status, 1);
  assert.match(again.stderr, /was not undone: the call was undone already/);
});

test('a person rolls a session back', async (t) => {
  const { hotel, post, book, run } = await open(t);
  const session = String((await post('/v1/sessions', {})).body['session']);
  await book('ada', { session });
  await book('grace', { session });
  const back = await run('sessions', 'rollback', session, '--yes');
  assert.equal(back.status, 0, back.stderr);
  assert.match(back.stderr, /is rolled back; nothing is left/);
  assert.deepEqual(hotel.ledger.slice(2), ['cancel hotel-grace', 'cancel hotel-ada']);
  const [view] = objectsIn((await run('sessions', 'rollback', session, '--json')).stdout);
  assert.deepEqual([view?.['state'], view?.['left']], ['finished', 0]);
});

for (const revision of revisions)
  test(`an agent finds reverse over MCP (${revision}), and not the tool that undoes`, async (t) => {
    const { hotel, up, key } = await open(t);
    const { client } = await connectHttp(t, new URL(`${up.url}/mcp`), revision, { key });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    assert.ok(names.includes('reverse') && !names.includes('hotel__cancel'), String(names));
    const made = await client.callTool({ name: 'hotel__book', arguments: { guest: 'ada' } });
    const token = (made.structuredContent as Record<string, unknown>)['reversal_token'];
    const undone = await client.callTool({ name: 'reverse', arguments: { reversal_token: token } });
    assert.notEqual(undone.isError, true, JSON.stringify(undone));
    assert.deepEqual(hotel.ledger, ['book ada', 'cancel hotel-ada']);
    const refused = await client.callTool({ name: 'reverse', arguments: { reversal_token: 'rev_none' } });
    const said = refused.structuredContent as Record<string, unknown>;
    assert.deepEqual([refused.isError, said['code']], [true, 'POLICY_DENY']);
  });
