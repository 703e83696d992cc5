/**
 * The clients of models as their users write them, each with the same questions: what they hand to their user is what
 * is compared. Nothing of the gateway is known here but an address and a key.
 */
import { isObject } from '../../../src/core/values/json.ts';
import { loadClient, type Untyped } from './client-packages.ts';

export interface Place {
  /** As the base URL of OpenAI's client, and of Anthropic's. */
  readonly openai: string;
  readonly anthropic: string;
  readonly key: string;
}

export interface ModelClient {
  readonly name: string;
  /** Whose errors it reads. */
  readonly speaks: 'openai' | 'anthropic';
  /** The tool of the gateway that answers it. */
  readonly tool: string;
  plain(place: Place): Promise<unknown>;
  /** All that came, piece by piece. */
  streamed(place: Place): Promise<unknown>;
  /** The same, with a tool that the model may call. */
  plainTools(place: Place): Promise<unknown>;
  streamedTools(place: Place): Promise<unknown>;
  /** Reads some of a stream, and goes. */
  leave(place: Place): Promise<void>;
}

const question = 'What is the weather in Paris?';
const messages = [{ role: 'user', content: question }];
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const weather = { name: 'get_weather', description: 'The weather of a city.', parameters };
const gpt = 'gpt-5';
const claude = 'claude-opus-5';

async function allOf(stream: AsyncIterable<Untyped>): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  for await (const each of stream) all.push(each);
  return all;
}

async function openaiChat(): Promise<ModelClient> {
  const { default: OpenAI } = await loadClient('openai');
  const at = ({ openai: baseURL, key: apiKey }: Place) => new OpenAI({ baseURL, apiKey, maxRetries: 0 });
  const tools = [{ type: 'function', function: weather }];
  const stream = async (place: Place, more: object) => {
    const asked = { model: gpt, messages, stream: true, stream_options: { include_usage: true }, ...more };
    return allOf(await at(place).chat.completions.create(asked));
  };
  return {
    name: 'openai, chat completions',
    speaks: 'openai',
    tool: 'gpt/chat',
    plain: (place) => at(place).chat.completions.create({ model: gpt, messages }),
    streamed: (place) => stream(place, {}),
    plainTools: (place) => at(place).chat.completions.create({ model: gpt, messages, tools }),
    streamedTools: (place) => stream(place, { tools }),
    async leave(place) {
      const asked = await at(place).chat.completions.create({ model: gpt, messages, stream: true });
      for await (const _ of asked) break;
    },
  };
}

async function openaiResponses(): Promise<ModelClient> {
  const { default: OpenAI } = await loadClient('openai');
  const at = ({ openai: baseURL, key: apiKey }: Place) => new OpenAI({ baseURL, apiKey, maxRetries: 0 });
  const tools = [{ type: 'function', strict: true, ...weather }];
  const asked = { model: gpt, input: question };
  return {
    name: 'openai, responses',
    speaks: 'openai',
    tool: 'gpt/responses',
    plain: (place) => at(place).responses.create(asked),
    streamed: async (place) => allOf(await at(place).responses.create({ ...asked, stream: true })),
    plainTools: (place) => at(place).responses.create({ ...asked, tools }),
    async streamedTools(place) {
      const stream = at(place).responses.stream({ ...asked, tools });
      return [await allOf(stream), await stream.finalResponse()];
    },
    async leave(place) {
      for await (const _ of await at(place).responses.create({ ...asked, stream: true })) break;
    },
  };
}

async function anthropicMessages(): Promise<ModelClient> {
  const { default: Anthropic } = await loadClient('@anthropic-ai/sdk');
  const at = ({ anthropic: baseURL, key: apiKey }: Place) => new Anthropic({ baseURL, apiKey, maxRetries: 0 });
  const asked = { model: claude, max_tokens: 1_000, messages };
  const tools = [{ name: weather.name, description: weather.description, input_schema: parameters }];
  return {
    name: '@anthropic-ai/sdk, messages',
    speaks: 'anthropic',
    tool: 'claude/messages',
    plain: (place) => at(place).messages.create(asked),
    streamed: async (place) => allOf(await at(place).messages.create({ ...asked, stream: true })),
    plainTools: (place) => at(place).beta.messages.create({ ...asked, tools }),
    streamedTools: (place) =>
      at(place)
        .messages.stream({ ...asked, tools })
        .finalMessage(),
    async leave(place) {
      for await (const _ of await at(place).messages.create({ ...asked, stream: true })) break;
    },
  };
}

/** Without what it makes up itself: times, ids of its own, the headers of the answer. */
const generated = ({ text, toolCalls, finishReason, usage, reasoningText }: Untyped) =>
  Promise.all([text, toolCalls, finishReason, usage, reasoningText]);

async function aiSdk(kind: 'chat' | 'responses' | 'messages'): Promise<ModelClient> {
  const { generateText, streamText, tool, jsonSchema } = await loadClient('ai');
  const { createOpenAI } = await loadClient('@ai-sdk/openai');
  const { createAnthropic } = await loadClient('@ai-sdk/anthropic');
  const modelAt = ({ openai, anthropic, key: apiKey }: Place) => {
    if (kind === 'messages') return createAnthropic({ baseURL: `${anthropic}/v1`, apiKey })(claude);
    return createOpenAI({ baseURL: openai, apiKey })[kind](gpt);
  };
  const tools = { get_weather: tool({ description: weather.description, inputSchema: jsonSchema(parameters) }) };
  const asked = (place: Place, more: object = {}) => ({
    model: modelAt(place),
    prompt: question,
    maxRetries: 0,
    onError: () => undefined,
    ...more,
  });
  const stream = async (place: Place, more: object = {}) => {
    const streamed = streamText(asked(place, more));
    const parts = await allOf(streamed.fullStream);
    // Errors come as parts.
    const failed = parts.find((each) => isObject(each) && each['type'] === 'error');
    if (isObject(failed)) throw failed['error'];
    return [await allOf(piecesOf(parts)), await generated(streamed)];
  };
  return {
    name: `ai, ${kind}`,
    speaks: kind === 'messages' ? 'anthropic' : 'openai',
    tool: kind === 'messages' ? 'claude/messages' : `gpt/${kind}`,
    plain: async (place) => generated(await generateText(asked(place))),
    streamed: (place) => stream(place),
    plainTools: async (place) => generated(await generateText(asked(place, { tools }))),
    streamedTools: (place) => stream(place, { tools }),
    async leave(place) {
      const left = new AbortController();
      const streamed = streamText(asked(place, { abortSignal: left.signal }));
      for await (const _ of streamed.textStream) left.abort();
    },
  };
}

async function* piecesOf(parts: readonly unknown[]): AsyncGenerator<unknown> {
  for (const part of parts)
    if (isObject(part) && /^(?:text|tool-input|reasoning)-delta$/.test(String(part['type'])))
      yield [part['type'], part['text'] ?? part['delta']];
}

async function langchain(kind: 'chat' | 'messages'): Promise<ModelClient> {
  const { ChatOpenAI } = await loadClient('@langchain/openai');
  const { ChatAnthropic } = await loadClient('@langchain/anthropic');
  const { tool } = await loadClient('@langchain/core/tools');
  const at = ({ openai, anthropic, key: apiKey }: Place) =>
    kind === 'chat'
      ? new ChatOpenAI({ model: gpt, apiKey, maxRetries: 0, configuration: { baseURL: openai } })
      : new ChatAnthropic({ model: claude, apiKey, maxRetries: 0, maxTokens: 1_000, anthropicApiUrl: anthropic });
  const tools = [tool(() => 'sunny', { name: weather.name, description: weather.description, schema: parameters })];
  return {
    name: `langchain, ${kind}`,
    speaks: kind === 'chat' ? 'openai' : 'anthropic',
    tool: kind === 'chat' ? 'gpt/chat' : 'claude/messages',
    plain: (place) => at(place).invoke(question),
    streamed: async (place) => allOf(await at(place).stream(question)),
    plainTools: (place) => at(place).bindTools(tools).invoke(question),
    streamedTools: async (place) => allOf(await at(place).bindTools(tools).stream(question)),
    async leave(place) {
      const left = new AbortController();
      const stream = await at(place).stream(question, { signal: left.signal });
      try {
        for await (const _ of stream) left.abort();
      } catch {
        // Expected: it was aborted.
      }
    },
  };
}

export const createClients = async (): Promise<readonly ModelClient[]> =>
  Promise.all([
    openaiChat(),
    openaiResponses(),
    anthropicMessages(),
    aiSdk('chat'),
    aiSdk('responses'),
    aiSdk('messages'),
    langchain('chat'),
    langchain('messages'),
  ]);
