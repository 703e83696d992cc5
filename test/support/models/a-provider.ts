/**
 * A provider of models for tests of what is decided about it: a protocol of one operation, `chat`, whose requests and
 * answers say in plain fields what others hide in messages. Nothing is sent.
 */
import type { ModelKind, ModelProvider } from '../../../src/core/model/model-provider.ts';
import type { ModelOperation, ModelProtocol } from '../../../src/core/model/protocol.ts';
import { isObject, type Json, type JsonObject } from '../../../src/core/values/json.ts';

const fieldsOf = (value: Json | undefined): JsonObject => (isObject(value) ? (value as JsonObject) : {});
const numberIn = (fields: JsonObject, name: string): number | null => {
  const value = fields[name];
  return typeof value === 'number' ? value : null;
};

const chat: ModelOperation = {
  path: '/chat',
  description: 'Asks a model.',
  input: { type: 'object', properties: { model: { type: 'string' } }, required: ['model'] },
  needs: (args) => ({
    model: typeof args['model'] === 'string' ? args['model'] : null,
    streaming: args['stream'] === true,
    tools: args['tools'] !== undefined,
    inputChars: typeof args['prompt'] === 'string' ? args['prompt'].length : 0,
    maxOutputTokens: numberIn(args, 'max_tokens'),
  }),
  withModel: (args, model) => ({ ...args, model }),
  usage(answer) {
    const used = fieldsOf(fieldsOf(answer)['usage']);
    const inputTokens = numberIn(used, 'in');
    const outputTokens = numberIn(used, 'out');
    if (inputTokens === null || outputTokens === null) return null;
    return {
      inputTokens,
      outputTokens,
      cacheReadTokens: numberIn(used, 'cached') ?? 0,
      cacheWriteTokens: numberIn(used, 'cache_write') ?? 0,
    };
  },
  readError: () => null,
  read: () => ({ take: () => ({ kind: 'done' }), textOf: () => [], answer: () => null }),
  asStream: () => [],
  sayError: ({ message }) => ({ error: { message } }),
  sayErrorInStream: () => [],
};

export const aProtocol: ModelProtocol = { operations: { chat }, headers: {}, listing: null, retry: null };

/** `plain`: without a usual place. `echo`: with one. */
export const kinds: ReadonlyMap<string, ModelKind> = new Map([
  ['plain', { protocol: aProtocol, url: null }],
  ['echo', { protocol: aProtocol, url: 'https://echo.test/v1' }],
]);

export const aProvider = (change: Partial<ModelProvider> = {}): ModelProvider => ({
  name: 'echo',
  kind: 'echo',
  url: 'https://echo.test/v1',
  headers: {},
  timeoutMs: 600_000,
  limits: {},
  protocol: aProtocol,
  declared: { models: [], aliases: {} },
  ...change,
});
