/**
 * Runs the client's own files, types stripped, in a context that has web globals and nothing else: no process, no
 * Buffer, no require, and no import outside of what is linked here. Prints what came of it. Started by
 * anywhere.test.ts.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import vm from 'node:vm';
import { errorSamples, successSample } from '../../support/reply-samples.ts';

const web = ['fetch', 'Response', 'Headers', 'Request', 'URL', 'AbortController', 'AbortSignal', 'crypto'];
const timers = ['setTimeout', 'clearTimeout', 'queueMicrotask', 'TextEncoder', 'TextDecoder'];
const given = [...web, ...timers].map((name) => [name, Reflect.get(globalThis, name)]);
const context = vm.createContext(Object.fromEntries(given));

/** What node:vm has under a flag, and its types have not. */
interface Module {
  link(linker: (specifier: string, from: Module) => Module): Promise<void>;
  evaluate(): Promise<void>;
  readonly namespace: Record<string, unknown>;
  readonly identifier: string;
}
const { SourceTextModule } = vm as unknown as {
  SourceTextModule: new (code: string, options: object) => Module;
};

const loaded = new Map<string, Module>();

function load(file: string): Module {
  const known = loaded.get(file);
  if (known !== undefined) return known;
  const code = stripTypeScriptTypes(readFileSync(file, 'utf8'));
  const module = new SourceTextModule(code, { context, identifier: file });
  loaded.set(file, module);
  return module;
}

function resolve(specifier: string, from: Module): Module {
  if (!specifier.startsWith('.')) throw new Error(`${from.identifier} wants ${specifier}`);
  return load(path.join(path.dirname(from.identifier), specifier));
}

const [client = '', testing = ''] = process.argv.slice(2);
const main = new SourceTextModule(
  `
  import { createClient, httpTransport, ToolDeniedError } from ${JSON.stringify(`./${path.basename(client)}`)};
  import { createScriptedTransport, permit, retryAfter } from ${JSON.stringify(`./${path.basename(testing)}`)};
  const thrown = (call) => call.then(() => null, (error) => error);
  export async function run(url) {
    const client = createClient({ transport: httpTransport({ url, key: 'rk_1' }) });
    const result = await client.call('refund', { order: 'ord_1' });
    const denial = await thrown(client.call('payout'));
    const aborted = await thrown(client.call('refund', {}, { signal: AbortSignal.abort() }));
    const transport = createScriptedTransport({ refund: [retryAfter(2), permit('done')] });
    const scripted = await createClient({ transport }).call('refund');
    return JSON.stringify({
      nodeIsHere: typeof process !== 'undefined' || typeof Buffer !== 'undefined' || typeof require !== 'undefined',
      result,
      denied: [denial.name, denial.code, denial instanceof ToolDeniedError],
      aborted: [aborted.error, aborted.effect],
      scripted: [scripted, transport.clock.waits],
    });
  }`,
  { context, identifier: path.join(path.dirname(client), 'main.js') },
);
await main.link(resolve);
await main.evaluate();

const server = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    const { tool } = JSON.parse(body) as { tool: string };
    const reply = tool === 'payout' ? errorSamples.denied : { ...successSample, result: { refunded: 40 } };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
  });
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const run = main.namespace['run'] as (url: string) => Promise<string>;
process.stdout.write(await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
server.closeAllConnections();
server.close();
