/** The local providers themselves: whether they write what they are told, and bill what they did. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { openaiErrors, withHeaders } from '../../support/models/provider-errors.ts';
import { startProvider } from '../../support/models/start-provider.ts';

const chat = { model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] };
const post = (url: string, body: object, signal: AbortSignal | null = null) =>
  fetch(url, { method: 'POST', body: JSON.stringify(body), signal });

test('a stream of chat completions ends with its usage and its mark', async (t) => {
  const provider = await startProvider(t);
  const answer = await post(`${provider.openai}/chat/completions`, {
    ...chat,
    stream: true,
    stream_options: { include_usage: true },
  });
  const lines = (await answer.text()).trim().split('\n\n');
  assert.equal(lines.at(-1), 'data: [DONE]');
  assert.match(lines.at(-2) ?? '', /"choices":\[\],"usage":\{"prompt_tokens"/);
});

test('scripts come in order, with status, headers and body', async (t) => {
  const provider = await startProvider(t);
  provider.next({ refuses: withHeaders(openaiErrors.limited, { 'retry-after': '7' }) }, { says: { text: 'yes' } });
  const first = await post(`${provider.openai}/chat/completions`, chat);
  assert.deepEqual([first.status, first.headers.get('retry-after')], [429, '7']);
  assert.deepEqual(await first.json(), openaiErrors.limited.body);
  assert.match(await (await post(`${provider.openai}/chat/completions`, chat)).text(), /"content":"yes"/);
});

test('an answer that its client left is billed all the same', async (t) => {
  const provider = await startProvider(t, {
    prices: { input: 2, output: 8 },
    always: { says: { text: 'a b c', tokens: { input: 100, output: 10 } }, holdAfter: 1 },
  });
  const leaving = new AbortController();
  const answer = await post(
    `${provider.anthropic}/v1/messages`,
    { ...chat, max_tokens: 9, stream: true },
    leaving.signal,
  );
  await answer.body?.getReader().read();
  leaving.abort();
  await eventually('the client has left', async () => provider.ledger[0]?.ended === 'left');
  assert.deepEqual(provider.bill(), { requests: 1, inputTokens: 100, outputTokens: 10, microDollars: 280 });
});
