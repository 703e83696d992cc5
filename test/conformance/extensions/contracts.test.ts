/** What ships as an extension keeps the contracts that authors test against. */
import { createServer, type AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { createEnvProvider } from '../../../src/adapters/credentials/local-providers.ts';
import { provesCredentials, provesNotifier, provesProtocol } from '../../../src/extension/testing.ts';
import type { JsonObject } from '../../../src/extension/index.ts';
import { anthropicProtocol } from '../../../src/extensions/anthropic/anthropic-protocol.ts';
import { openaiProtocol } from '../../../src/extensions/openai/openai-protocol.ts';
import { smtp } from '../../../src/extensions/smtp/index.ts';
import { builtInKind } from '../../support/credentials/built-in-kinds.ts';
import { startOwnVault } from '../../support/credentials/vault-server.ts';
import { messagesAnswer, messagesStream } from '../../support/models/anthropic-messages.ts';
import { chatAnswer, chatStream } from '../../support/models/openai-chat.ts';
import { responsesAnswer, responsesStream } from '../../support/models/openai-responses.ts';
import { type Asked, created, type Said, type WireEvent } from '../../support/models/said.ts';
import { startMailReceiver } from '../notices/mail-receiver.ts';

provesCredentials('Vault', {
  async stage(t) {
    const vault = await startOwnVault(t);
    let nth = 1;
    const put = (field: string) => vault.put('stripe', { [field]: `plantedVaultSecret${nth}` });
    await put('api_key');
    const settings = { address: vault.address, path: 'secret/data/stripe', field: 'api_key', token: vault.token };
    return {
      provider: builtInKind('vault', settings),
      secret: () => `plantedVaultSecret${nth}`,
      rotate: async () => {
        nth += 1;
        await put('api_key');
      },
      break: () => put('other'),
      mend: () => put('api_key'),
      broken: /^no field 'api_key'$/,
    };
  },
});

provesCredentials('a variable', {
  async stage() {
    const env: Record<string, string> = { KEY: 'plantedEnvSecret1' };
    const secret = () => env['KEY'] ?? 'plantedEnvSecret3';
    return {
      provider: createEnvProvider({ provider: 'env', variable: 'KEY' }, env),
      secret,
      rotate: async () => void (env['KEY'] = 'plantedEnvSecret2'),
      break: async () => void delete env['KEY'],
      mend: async () => void (env['KEY'] = 'plantedEnvSecret3'),
      broken: /^KEY is not set$/,
    };
  },
});

provesNotifier('mail', {
  cannot: {},
  shows: (id) => `Id: ${id}`,
  secret: 'planted-password',
  async stage(t, receiving) {
    if (receiving === 'never answers') return muteServer(t);
    const server = await startMailReceiver(t);
    if (receiving === 'is away') await server.stop();
    if (receiving === 'refuses for good') server.answer((stage) => (stage === 'data' ? 550 : null));
    const settings = { server: server.url('user:planted-password'), from: 'a@x.example', to: ['b@x.example'] };
    return {
      deliver: smtp.notifiers.smtp.create(settings),
      received: async () => server.got.map(({ text }) => text),
      mend: () => server.start(),
      wasAsked: () => server.tried.length > 0,
    };
  },
});

async function muteServer(t: TestContext) {
  let connections = 0;
  const mute = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  t.after(() => mute.close());
  const server = `smtp://user:planted-password@127.0.0.1:${(mute.address() as AddressInfo).port}`;
  return {
    deliver: smtp.notifiers.smtp.create({ server, from: 'a@x.example', to: ['b@x.example'] }),
    received: async () => [],
    mend: async () => undefined,
    wasAsked: () => connections > 0,
  };
}

const tokens = { input: 40, output: 9, cacheRead: 10 };
const tools = [{ id: 'call_1', name: 'weather', input: { city: 'Zürich', days: 3 } }];
const scripts: Readonly<Record<string, Said>> = {
  'a text': { text: 'The weather is fine, ünïcödé and 🎉.', tokens },
  'calls of tools': { tools, tokens },
  'an answer that was cut': { text: 'So much', stop: 'length', tokens },
};

const samplesOf = (
  request: JsonObject,
  answer: (said: Said, asked: Asked) => JsonObject,
  stream: (said: Said, asked: Asked) => readonly WireEvent[],
) => {
  const asked: Asked = { id: '7', model: 'm', body: request, createdAt: created };
  return Object.entries(scripts).map(([what, said]) => {
    const [written, events] = [answer(said, asked), stream(said, asked)];
    return { what, request, answer: withoutAnnotations(written), stream: events };
  });
};

/** Chat completions alone say an empty list in an answer that their stream does not say. */
function withoutAnnotations(answer: JsonObject): JsonObject {
  const choices = answer['choices'] as readonly JsonObject[] | undefined;
  if (choices === undefined) return answer;
  const bare = ({ annotations: _, ...message }: JsonObject) => message;
  return { ...answer, choices: choices.map((each) => ({ ...each, message: bare(each['message'] as JsonObject) })) };
}

const messages = [{ role: 'user', content: 'how is the weather?' }];

provesProtocol('openai', {
  protocol: openaiProtocol,
  samples: {
    chat: samplesOf({ model: 'm', messages, stream_options: { include_usage: true } }, chatAnswer, chatStream),
    responses: samplesOf({ model: 'm', input: 'how is the weather?' }, responsesAnswer, responsesStream),
  },
});

provesProtocol('anthropic', {
  protocol: anthropicProtocol,
  samples: { messages: samplesOf({ model: 'm', max_tokens: 100, messages }, messagesAnswer, messagesStream) },
});
