/** A provider of models that answers every request with the same stream of a chat completion, event by event. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

const pieces = 100;
const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_780_000_000, model: 'gpt-5' };
const chunk = (delta: object, finish: string | null) => ({
  ...head,
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  usage: null,
});
const chunks: readonly object[] = [
  chunk({ role: 'assistant', content: '', refusal: null }, null),
  ...Array.from({ length: pieces }, (_, at) => chunk({ content: ` word ${at}` }, null)),
  chunk({}, 'stop'),
  { ...head, choices: [], usage: { prompt_tokens: 20, completion_tokens: pieces, total_tokens: pieces + 20 } },
];
const events = [...chunks.map((each) => JSON.stringify(each)), '[DONE]'].map((data) =>
  Buffer.from(`data: ${data}\n\n`),
);

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    if (request.method === 'GET') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    return void (async () => {
      for (const event of events) {
        response.write(event);
        await turn();
      }
      response.end();
    })();
  });
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));

process.once('SIGTERM', () => {
  server.closeAllConnections();
  process.exit(0);
});
