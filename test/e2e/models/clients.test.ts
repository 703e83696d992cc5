/**
 * CONTRACT section 1: a model call is a call. The real clients of models read through the gateway what they read from
 * the provider itself.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isObject } from '../../../src/core/values/json.ts';
import { eventually } from '../../support/eventually.ts';
import { installClients } from '../../support/models/client-packages.ts';
import { clientNames, createClients, type ModelClient, type Place } from '../../support/models/clients.ts';
import { providerKey, startModelsUp } from '../../support/models/models-up.ts';
import { anthropicErrors, openaiErrors, type Refusal } from '../../support/models/provider-errors.ts';
import type { Script } from '../../support/models/script.ts';

const missing = await installClients();
const clients = missing === null ? await createClients() : [];
const skip = missing ?? false;

const said: Script = { says: { text: 'It is sunny in Paris, and will stay so for the rest of the week.' } };
const called: Script = {
  says: {
    text: 'Let me look.',
    tools: [
      { id: 'call_one', name: 'get_weather', input: { city: 'Paris', note: 'a "quoted" \\ text' } },
      { id: 'call_two', name: 'get_weather', input: { city: 'Orléans' } },
    ],
  },
};

/** What a provider makes up for each request: its ids, and the id of the request. */
const withoutIds = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, withoutRequestId).replaceAll(/_?0000\d\d/g, '_000000')) as unknown;
const withoutRequestId = (key: string, value: unknown): unknown =>
  key === '_request_id' || key === 'request_id' ? undefined : value;

for (const name of clientNames)
  test(`[C1-models-1] ${name}: answers, streams and tool calls are those of the provider`, { skip }, async (t) => {
    const client = clientOf(name);
    const { provider, through, direct } = await startModelsUp(t);
    for (const [question, script] of [
      ['plain', said],
      ['streamed', said],
      ['plainTools', called],
      ['streamedTools', called],
    ] as const) {
      const tokens = { input: 20, output: 15 };
      provider.always({ ...script, says: { ...script.says, tokens } });
      const wanted = withoutIds(await client[question](direct));
      assert.deepEqual(withoutIds(await client[question](through)), wanted, question);
    }
    for (const { headers } of provider.ledger.filter(({ method }) => method === 'POST'))
      assert.ok([headers.authorization, headers['x-api-key']].some((key) => String(key).endsWith(providerKey)));
    assert.ok(!JSON.stringify(provider.ledger).includes(through.key), 'the key of the agent goes no further');
  });

for (const name of clientNames)
  test(`[C1-models-2] ${name}: a client that leaves a stream cancels the call`, { skip }, async (t) => {
    const client = clientOf(name);
    const { up, provider, through } = await startModelsUp(t);
    provider.always({ ...said, holdAfter: 8 });
    await client.leave(through);
    await eventually('the provider sees it', async () =>
      provider.ledger.some(({ method, ended }) => method === 'POST' && ended === 'left'),
    );
    const found = await eventually('it is on record', async () => {
      const { body } = await up.ask('/v1/calls', { key: through.key });
      const [call] = body['calls'] as { readonly call_id: string; readonly state: string; readonly tool: string }[];
      return call !== undefined && call.state !== 'DISPATCHED' ? call : null;
    });
    assert.deepEqual([found.tool, found.state], [client.tool, 'FAILED']);
    const { body } = await up.ask(`/v1/calls/${found.call_id}`, { key: through.key });
    assert.deepEqual([body['error'], body['code'], body['effect']], ['cancelled', 'ToolCancelled', 'none']);
  });

interface Failed {
  readonly status: number | undefined;
  readonly type: unknown;
  readonly code: unknown;
  readonly words: string;
}

/** What the clients show of an error, wherever each of them puts it. */
async function failureOf(asking: Promise<unknown>): Promise<Failed> {
  const error: unknown = await asking.then(
    () => assert.fail('it has answered'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Error);
  const { status, statusCode, error: body, responseBody } = error as Error & Record<string, unknown>;
  const parsed: unknown = typeof responseBody === 'string' ? JSON.parse(responseBody) : body;
  const inner = isObject(parsed) && isObject(parsed['error']) ? parsed['error'] : parsed;
  const { type, code } = isObject(inner) ? inner : {};
  return { status: (status ?? statusCode) as number | undefined, type, code, words: error.message };
}

const refusals: Readonly<Record<ModelClient['speaks'], readonly (readonly [Refusal, number, string])[]>> = {
  openai: [
    [openaiErrors.invalid, 502, 'InputInvalid'],
    [openaiErrors.forbidden, 502, 'Forbidden'],
    [openaiErrors.failed, 502, 'Provider5xx'],
  ],
  anthropic: [
    [anthropicErrors.invalid, 502, 'InputInvalid'],
    [anthropicErrors.forbidden, 502, 'Forbidden'],
    [anthropicErrors.failed, 502, 'Provider5xx'],
  ],
};

for (const name of clientNames)
  test(`[C1-models-3] ${name}: refusals and failures are errors that the client can read`, { skip }, async (t) => {
    const client = clientOf(name);
    const agent = 'rules: [{ permit: gpt/*, when: size(args) < 0 }]';
    const denying = await startModelsUp(t, { agent });
    const both = async (place: Place) => [
      await failureOf(client.plain(place)),
      await failureOf(client.streamed(place)),
    ];
    for (const failed of await both(denying.through)) {
      assert.deepEqual([failed.status, failed.code, failed.type], [403, 'POLICY_DENY', 'permission_error']);
      assert.match(failed.words, /denied: .*is not in the allow list/);
    }
    assert.equal(denying.provider.ledger.filter(({ method }) => method === 'POST').length, 0);
    for (const failed of await both({ ...denying.through, key: 'sk-nobody' }))
      assert.deepEqual([failed.status, failed.code], [401, 'Unauthenticated']);

    const { provider, through } = await startModelsUp(t);
    for (const [refuses, status, code] of refusals[client.speaks]) {
      provider.always({ refuses });
      for (const failed of await both(through)) assert.deepEqual([failed.status, failed.code], [status, code]);
    }
  });

function clientOf(name: string): ModelClient {
  const client = clients.find((each) => each.name === name);
  assert.ok(client !== undefined, name);
  return client;
}
