/**
 * CONTRACT section 1: a model call is a call. The real clients of models read through the gateway what they read from
 * the provider itself.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isObject } from '../../../src/core/values/json.ts';
import { eventually } from '../../support/eventually.ts';
import { installClients } from '../../support/models/client-packages.ts';
import { createClients, type ModelClient, type Place } from '../../support/models/clients.ts';
import { providerKey, startModelsUp } from '../../support/models/models-up.ts';
import { anthropicErrors, openaiErrors, type Refusal } from '../../support/models/provider-errors.ts';
import type { Script } from '../../support/models/script.ts';

const missing = await installClients();
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
  JSON.parse(JSON.stringify(value, withoutRequestId).replaceAll(/(?<!\d)0000\d\d(?!\d)/g, '000000')) as unknown;
const withoutRequestId = (key: string, value: unknown): unknown =>
  key === '_request_id' || key === 'request_id' ? undefined : value;

test('[C1-models-1] answers, streams and tool calls are those of the provider', { skip }, async (t) => {
  const { provider, through, direct } = await startModelsUp(t);
  for (const client of await createClients())
    await t.test(client.name, async () => {
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
    });
  for (const { headers } of provider.ledger.filter(({ method }) => method === 'POST'))
    assert.ok([headers.authorization, headers['x-api-key']].some((key) => String(key).endsWith(providerKey)));
  assert.ok(!JSON.stringify(provider.ledger).includes(through.key), 'the key of the agent goes no further');
});

test('[C1-models-2] a client that leaves a stream cancels the call', { skip }, async (t) => {
  const { up, provider, through } = await startModelsUp(t);
  provider.always({ ...said, holdAfter: 8 });
  for (const client of await createClients())
    await t.test(client.name, async () => {
      await client.leave(through);
      await eventually('the provider sees it', async () => provider.ledger.at(-1)?.ended === 'left');
      const found = await eventually('it is on record', async () => {
        const { body } = await up.ask('/v1/calls', { key: through.key });
        const [call] = body['calls'] as { readonly call_id: string; readonly state: string; readonly tool: string }[];
        return call !== undefined && call.state !== 'DISPATCHED' ? call : null;
      });
      assert.deepEqual([found.tool, found.state], [client.tool, 'FAILED']);
      const { body } = await up.ask(`/v1/calls/${found.call_id}`, { key: through.key });
      assert.deepEqual([body['error'], body['code'], body['effect']], ['cancelled', 'ToolCancelled', 'none']);
    });
});

interface Failed {
  /** The class of the client's error. */
  readonly thrown: string;
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
  const thrown = error.constructor.name;
  return { thrown, status: (status ?? statusCode) as number | undefined, type, code, words: error.message };
}

const refusals: Readonly<Record<ModelClient['speaks'], readonly (readonly [Refusal, string])[]>> = {
  openai: [
    [openaiErrors.invalid, 'InputInvalid'],
    [openaiErrors.badKey, 'Forbidden'],
    [openaiErrors.forbidden, 'Forbidden'],
    [openaiErrors.noSuchModel, 'NotFound'],
    [openaiErrors.failed, 'Provider5xx'],
  ],
  anthropic: [
    [anthropicErrors.invalid, 'InputInvalid'],
    [anthropicErrors.badKey, 'Forbidden'],
    [anthropicErrors.forbidden, 'Forbidden'],
    [anthropicErrors.failed, 'Provider5xx'],
  ],
};

const bothOf = async (client: ModelClient, place: Place) => [
  await failureOf(client.plain(place)),
  await failureOf(client.streamed(place)),
];

test('[C1-models-3] failures of a provider are the errors that the client throws without us', { skip }, async (t) => {
  const { provider, through, direct } = await startModelsUp(t);
  for (const client of await createClients())
    await t.test(client.name, async () => {
      for (const [refuses, code] of refusals[client.speaks]) {
        provider.always({ refuses });
        const wanted = await bothOf(client, direct);
        for (const [at, failed] of (await bothOf(client, through)).entries()) {
          assert.deepEqual([failed.status, failed.thrown], [wanted[at]?.status, wanted[at]?.thrown]);
          assert.equal(failed.code, code);
        }
      }
    });
});

test('[C1-models-3] what the gateway refuses is an error that the client can read', { skip }, async (t) => {
  const { provider, through } = await startModelsUp(t, { agent: 'rules: [{ deny: gpt/* }, { deny: claude/* }]' });
  for (const client of await createClients())
    await t.test(client.name, async () => {
      for (const failed of await bothOf(client, through)) {
        assert.deepEqual([failed.status, failed.code, failed.type], [403, 'POLICY_DENY', 'permission_error']);
        assert.match(failed.words, /denied: .* blocked by policy/);
      }
      for (const failed of await bothOf(client, { ...through, key: 'sk-nobody' }))
        assert.deepEqual([failed.status, failed.code], [401, 'Unauthenticated']);
    });
  assert.deepEqual(
    provider.ledger.filter(({ method }) => method === 'POST'),
    [],
  );
});
