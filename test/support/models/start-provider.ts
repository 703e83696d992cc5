/**
 * A local provider of models over real HTTP: exact in what it writes, scripted request by request, with a ledger.
 * `POST …/chat/completions`, `POST …/responses`, `POST …/v1/messages` and `GET …/models` are told apart by their path.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { JsonObject } from '../../../src/core/values/json.ts';
import { messagesAnswer, messagesStream } from './anthropic-messages.ts';
import { type Bill, billOf, type LedgerEntry, type Prices } from './ledger.ts';
import { type ListingForm, listings } from './model-listings.ts';
import { chatAnswer, chatStream } from './openai-chat.ts';
import { responsesAnswer, responsesStream } from './openai-responses.ts';
import { anthropicErrors, openaiErrors, type Refusal } from './provider-errors.ts';
import { type Asked, created, type Said, tokensOf } from './said.ts';
import type { Script } from './script.ts';
import { writeAnswer, writeRefusal } from './write-answer.ts';

export interface ProviderOptions {
  /** The keys that it accepts; without any, every one. */
  readonly keys?: readonly string[];
  readonly models?: readonly string[];
  readonly listing?: ListingForm;
  readonly prices?: Prices | Readonly<Record<string, Prices>>;
  /** What becomes of requests that no `next` was written for. */
  readonly always?: Script | ((asked: Asked) => Script);
  readonly port?: number;
}

export interface Provider {
  /** As the base URL of OpenAI's client. */
  readonly openai: string;
  /** As the base URL of Anthropic's client. */
  readonly anthropic: string;
  readonly ledger: readonly LedgerEntry[];
  bill(): Bill;
  /** For the next requests, in order; listings do not count. */
  next(...scripts: readonly Script[]): void;
  /** From now on, for requests without a `next`. */
  always(script: Script | ((asked: Asked) => Script)): void;
  /** Lets go on all that is held, and what would be held from now on. */
  release(): void;
  stop(): Promise<void>;
}

type Operation = 'chat' | 'responses' | 'messages';

const operations: Readonly<Record<string, Operation>> = {
  '/v1/chat/completions': 'chat',
  '/v1/responses': 'responses',
  '/v1/messages': 'messages',
};

const writers = {
  chat: { answer: chatAnswer, stream: chatStream },
  responses: { answer: responsesAnswer, stream: responsesStream },
  messages: { answer: messagesAnswer, stream: messagesStream },
} as const;

const defaultSaid: Said = { text: 'Hello! How can I help you today?' };

export async function startProvider(t: Pick<TestContext, 'after'>, options: ProviderOptions = {}): Promise<Provider> {
  const ledger: LedgerEntry[] = [];
  const queue: Script[] = [];
  const held = Promise.withResolvers<void>();
  let always = options.always ?? {};

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const entry = await enter(request, ledger.length + 1);
    ledger.push(entry);
    response.on('close', () => {
      if (entry.ended === 'open') entry.ended = 'left';
    });
    const isAnthropic = entry.headers['anthropic-version'] !== undefined;
    if (isAllowed(entry, options.keys) && pathOf(entry) === '/v1/models') return list(entry, response, isAnthropic);
    const read = readAsked(entry, isAnthropic, options.keys);
    if ('status' in read) return writeRefusal(entry, response, read);
    const { operation, asked } = read;
    const script = queue.shift() ?? (typeof always === 'function' ? always(asked) : always);
    if (script.refuses !== undefined) return writeRefusal(entry, response, script.refuses);
    const said = script.says ?? defaultSaid;
    const choices = operation === 'chat' && typeof asked.body['n'] === 'number' ? asked.body['n'] : 1;
    const isStream = asked.body['stream'] === true;
    const { answer, stream } = writers[operation];
    await writeAnswer(entry, response, {
      script,
      release: held.promise,
      tokens: tokensOf(said, asked, choices),
      headers: isAnthropic ? { 'request-id': `req_${entry.id}` } : { 'x-request-id': `req_${entry.id}` },
      content: isStream
        ? { kind: 'stream', events: stream(said, asked) }
        : { kind: 'plain', answer: answer(said, asked) },
    });
  }

  function list(entry: LedgerEntry, response: ServerResponse, isAnthropic: boolean): void {
    const write = listings[options.listing ?? (isAnthropic ? 'anthropic' : 'openai')];
    entry.ended = 'whole';
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(write(options.models ?? ['gpt-5', 'gpt-5-mini'])));
  }

  const server = createServer((request, response) => void serve(request, response));
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    held.resolve();
    server.closeAllConnections();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  t.after(stop);
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    openai: `${address}/v1`,
    anthropic: address,
    ledger,
    bill: () => billOf(ledger, (model) => pricesOf(options.prices, model)),
    next: (...scripts) => void queue.push(...scripts),
    always: (script) => void (always = script),
    release: () => held.resolve(),
    stop,
  };
}

const pathOf = ({ path }: LedgerEntry): string => path.replace(/\?.*/, '');

function readAsked(
  entry: LedgerEntry,
  isAnthropic: boolean,
  keys: readonly string[] | undefined,
): Refusal | { readonly operation: Operation; readonly asked: Asked } {
  const errors = isAnthropic ? anthropicErrors : openaiErrors;
  if (!isAllowed(entry, keys)) return errors.badKey;
  const operation = operations[pathOf(entry)];
  if (operation === undefined || entry.method !== 'POST') return errors.noSuchModel;
  const { id, model, body } = entry;
  if (body === null || !isWhole(operation, body)) return errors.invalid;
  return { operation, asked: { id, model, body, createdAt: created } };
}

async function enter(request: IncomingMessage, at: number): Promise<LedgerEntry> {
  let text = '';
  request.setEncoding('utf8');
  for await (const piece of request) text += String(piece);
  const body = text === '' ? null : (JSON.parse(text) as JsonObject);
  return {
    id: String(at).padStart(6, '0'),
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    body,
    model: typeof body?.['model'] === 'string' ? body['model'] : '',
    billed: null,
    events: 0,
    ended: 'open',
  };
}

function isAllowed({ headers }: LedgerEntry, keys: readonly string[] | undefined): boolean {
  if (keys === undefined) return true;
  const bearer = headers.authorization?.replace(/^Bearer /, '') ?? '';
  return keys.some((key) => key === bearer || key === headers['x-api-key']);
}

function isWhole(operation: Operation, body: JsonObject): boolean {
  if (typeof body['model'] !== 'string') return false;
  if (operation === 'responses') return body['input'] !== undefined;
  return Array.isArray(body['messages']) && (operation === 'chat' || typeof body['max_tokens'] === 'number');
}

function pricesOf(prices: ProviderOptions['prices'], model: string): Prices {
  const free: Prices = { input: 0, output: 0 };
  if (prices === undefined) return free;
  return 'input' in prices && typeof prices.input === 'number'
    ? (prices as Prices)
    : ((prices as Readonly<Record<string, Prices>>)[model] ?? free);
}
