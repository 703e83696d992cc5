/** CONTRACT sections 1, 6, 8 and 9: streams of models through a real gateway, read without a library. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openaiProtocol } from '../../../src/extensions/openai/openai-protocol.ts';
import { heard } from '../../../src/shell/call/requester.ts';
import { openHttp } from '../http/open-http.ts';
import { aProvider } from '../../support/models/a-provider.ts';
import { startProvider } from '../../support/models/start-provider.ts';
import { eventually } from '../../support/eventually.ts';
import { type ModelsUp, providerKey, startModelsUp } from '../../support/models/models-up.ts';
import { askFor, type Question, readStream } from '../../support/models/read-stream.ts';

const messages = [{ role: 'user', content: 'hello' }];
const chat = { model: 'gpt-5', messages, stream: true };
const message = { model: 'claude-opus-5', max_tokens: 100, messages, stream: true };

const asking = ({ up, through }: ModelsUp, path: string, body: object, more: Partial<Question> = {}) =>
  askFor(`${up.url}${path}`, { key: through.key, body, ...more });
const requestsTo = ({ provider }: ModelsUp) => provider.ledger.filter(({ method }) => method === 'POST');

test('[C8-models-1] no secret and no live key leaves in a stream, though it is cut into single characters', async (t) => {
  const opened = await startModelsUp(t);
  const { provider, through } = opened;
  provider.always({ says: { text: `I know ${providerKey} and ${through.key}.`, pieceChars: 1 } });
  for (const [path, body] of [
    ['/v1/chat/completions', chat],
    ['/v1/messages', message],
  ] as const) {
    const { text, events } = await readStream(await asking(opened, path, body));
    const shown = through.key.replace(/_[\w-]{43}$/, '_…masked');
    assert.equal(text, `I know [redacted] and ${shown}.`);
    assert.ok(events.length > 50, 'it was relayed');
  }
  const responses = { model: 'gpt-5', input: 'hello', stream: true };
  const { events } = await readStream(await asking(opened, '/v1/responses', responses));
  const all = JSON.stringify(events);
  assert.ok(!all.includes(providerKey) && !all.includes(through.key.slice(-43)));
});

test('[C8-models-2] where results are redacted nothing is relayed: the stream tells the masked answer', async (t) => {
  const opened = await startModelsUp(t, {
    agent: `redact: [result.choices.*.message.content, result.content.*.text]
    rules: [{ permit: gpt/* }, { permit: claude/* }]`,
  });
  opened.provider.always({ says: { text: 'a secret of the model' } });
  for (const [path, body] of [
    ['/v1/chat/completions', chat],
    ['/v1/messages', message],
  ] as const) {
    const { text, headers, events } = await readStream(await asking(opened, path, body));
    assert.equal(text, '[redacted]');
    assert.match(String(headers.get('content-type')), /^text\/event-stream/);
    assert.match(String(headers.get('recourse-call-id')), /^call_/);
    assert.ok(!JSON.stringify(events).includes('secret of the model'));
  }
});

test('[C6-models-1] the same key gets the same answer as a stream or as JSON, and the provider is asked once', async (t) => {
  const opened = await startModelsUp(t);
  const headers = { 'idempotency-key': 'once' };
  const first = await readStream(await asking(opened, '/v1/chat/completions', chat, { headers }));
  const again = await readStream(await asking(opened, '/v1/chat/completions', chat, { headers }));
  assert.equal(again.text, first.text);
  assert.equal(again.events.at(-1)?.data, '[DONE]');
  assert.equal(again.headers.get('recourse-replayed'), 'true');
  assert.equal(again.headers.get('recourse-call-id'), first.headers.get('recourse-call-id'));
  assert.equal(requestsTo(opened).length, 1);
});

test('[C6-models-2] a client that leaves with a key finds the answer when it asks again', async (t) => {
  const opened = await startModelsUp(t);
  opened.provider.always({ says: { text: 'a long answer that takes its time' }, holdAfter: 4 });
  const headers = { 'idempotency-key': 'later' };
  const left = new AbortController();
  const response = await asking(opened, '/v1/chat/completions', chat, { headers, signal: left.signal });
  await response.body?.getReader().read();
  left.abort();
  // By then the gateway has heard it.
  for (let turn = 0; turn < 5; turn++) await opened.up.ask('/healthz');
  opened.provider.release();
  const found = await eventually('it is there', async () => {
    const again = await readStream(await asking(opened, '/v1/chat/completions', chat, { headers }));
    return again.status === 200 ? again : null;
  });
  assert.equal(found.text, 'a long answer that takes its time');
  assert.equal(requestsTo(opened).length, 1);
});

test('[C3-models-1] a stream that breaks is told as an error within it, in the words of the provider', async (t) => {
  const opened = await startModelsUp(t);
  opened.provider.always({ fault: { kind: 'drop', when: 5 } });
  const broken = await readStream(await asking(opened, '/v1/chat/completions', chat));
  assert.equal(broken.status, 200);
  const { error } = JSON.parse(broken.events.at(-1)?.data ?? '') as { readonly error: Record<string, unknown> };
  assert.deepEqual([error['code'], error['effect']], ['Provider5xx', 'none']);
  const other = await readStream(await asking(opened, '/v1/messages', message));
  assert.equal(other.events.at(-1)?.event, 'error');
  const told = JSON.parse(other.events.at(-1)?.data ?? '') as {
    readonly type: string;
    readonly error: { code: string };
  };
  assert.deepEqual([told.type, told.error.code], ['error', 'Provider5xx']);
  assert.equal(requestsTo(opened).length, 2, 'what was relayed is not asked again');
});

test('[C6-models-3] the door is closed when the last stream has ended', async (t) => {
  const provider = await startProvider(t, { always: { says: { text: 'to the very end' }, holdAfter: 2 } });
  const models = [aProvider({ name: 'gpt', kind: 'openai', url: provider.openai, protocol: openaiProtocol })];
  const { url, door, keys } = await openHttp(t, { models });
  const response = await askFor(new URL('/v1/chat/completions', url).href, { key: keys.agent, body: chat });
  let isClosed = false;
  const closing = door.close({ drainMs: 3_600_000 }).then(() => (isClosed = true));
  await heard();
  assert.equal(isClosed, false);
  provider.release();
  const { text, events } = await readStream(response);
  assert.deepEqual([text, events.at(-1)?.data], ['to the very end', '[DONE]']);
  await closing;
});

test('[C6-models-3] closing waits for open streams, which end whole', async (t) => {
  const opened = await startModelsUp(t);
  opened.provider.always({ says: { text: 'to the very end' }, holdAfter: 2 });
  const response = await asking(opened, '/v1/chat/completions', chat);
  const reading = readStream(response);
  const stopped = opened.up.stop('SIGTERM');
  await eventually('it closes', async () => {
    const { status } = await fetch(`${opened.up.url}/readyz`, { headers: { connection: 'close' } });
    return status === 503;
  });
  opened.provider.release();
  const { text, events } = await reading;
  assert.deepEqual([text, events.at(-1)?.data], ['to the very end', '[DONE]']);
  assert.equal(await stopped, 0);
});
