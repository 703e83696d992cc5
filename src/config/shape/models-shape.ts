/** Shape of the section models: providers, what their models can do and cost. Data only; read-models.ts checks it. */
import { headersShape } from './http-shape.ts';
import { providerRecoveryFields } from './recovery-shape.ts';
import { count, duration, flag, named, type Shape, text } from './shape.ts';

const maxTokens = 1_000_000_000;
const modelKey = ['^[^\\s\\u0000-\\u001f]{1,128}$', 'the name of a model, without spaces'] as const;

const price = (says: string): Shape =>
  text(says, {
    pattern: ['^[0-9]{1,9}(?:\\.[0-9]{1,6})? [A-Z]{3}$', 'an amount of a currency, such as 1.25 USD'],
  });

const modelShape: Shape = {
  kind: 'fields',
  says: 'what a model can do and costs; what is not written is not known, and lets pass',
  fields: {
    context: { shape: count('the tokens of its window, answer included', 1, maxTokens) },
    max_output: { shape: count('the most tokens that it writes in one answer', 1, maxTokens) },
    streaming: { shape: flag('whether it streams') },
    tools: { shape: flag('whether it calls tools') },
    price: {
      shape: {
        kind: 'fields',
        says: 'what a million tokens cost',
        fields: {
          input: { shape: price('of input'), required: true },
          cached: { shape: price('of input from the cache of the provider; as input if not given') },
          cache_write: { shape: price('of input that is written to that cache; as input if not given') },
          output: { shape: price('of output'), required: true },
        },
      },
    },
  },
};

const provider: Shape = {
  kind: 'fields',
  says: 'a provider of models',
  fields: {
    kind: {
      shape: text('how it is spoken to, such as openai or anthropic', {
        pattern: ['^[A-Za-z0-9_-]{1,64}$', 'the name of a kind'],
      }),
      required: true,
    },
    url: {
      shape: text('where its paths begin; the usual place of its kind if not given', {
        template: true,
        pattern: ['^https?://', 'an address that begins with http:// or https://'],
      }),
    },
    headers: { shape: headersShape },
    timeout: { shape: duration('how long a call may take; 10m if not given') },
    connect_timeout: { shape: duration('how long a connection may take; 10s if not given', 1, 600_000) },
    headers_timeout: { shape: duration('how long an answer may take to begin; 15m if not given') },
    body_timeout: { shape: duration('how long an answer may pause; 1m if not given') },
    max_response: { shape: count('bytes of an answer; 4194304 if not given', 1, 1 << 30) },
    connections: { shape: count('connections at once; 128 if not given', 1, 10_000) },
    ...providerRecoveryFields,
    models: { shape: named('its models; any may be asked for if not given', modelShape, modelKey) },
    aliases: {
      shape: named('other names of its models', text('the name of a model', { pattern: modelKey }), modelKey),
    },
  },
};

export const modelsShape: Shape = named('the providers of models behind the gateway', provider);
