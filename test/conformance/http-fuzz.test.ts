/**
 * Whatever arrives at the HTTP door, from nearly right requests to bytes that are no HTTP: never a 500, never an answer
 * that the document does not describe, and the door goes on. In a time box; `RECOURSE_FUZZ_REQUESTS` sets a number
 * instead.
 */
import assert from 'node:assert/strict';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { isObject } from '../../src/core/values/json.ts';
import { doorProblems } from '../../src/core/http/door-problems.ts';
import { checkAnswer } from '../e2e/http/check-answer.ts';
import { openHttp } from '../e2e/http/open-http.ts';
import { type RandomRequest, randomRequests } from '../support/http-random.ts';
import { aPolicy, anAgent } from '../support/a-policy.ts';
import { aTool } from '../support/tools.ts';
import { coffee } from '../support/workflows.ts';

const wanted = Number(process.env['RECOURSE_FUZZ_REQUESTS'] ?? 0);
const seconds = wanted > 0 ? 24 * 3_600 : Number(process.env['RECOURSE_PROPERTY_SECONDS'] ?? 10);
const seed = Number(process.env['RECOURSE_PROPERTY_SEED'] ?? Date.now() % 1_000_000);
const atOnce = 16;

const count = { requests: 0, answers: 0, connections: 0, bytesAnswered: 0 };
const statuses = new Map<number, number>();

type Asked = Extract<RandomRequest, { kind: 'request' }>;

/** Null if there was none: the server may hang up on what it cannot take. */
function answerTo(url: URL, asked: Asked, agent: Agent): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const { method, target: path, body } = asked;
  const headers = { ...asked.headers, 'content-length': String(body?.length ?? 0) };
  const options = { hostname: url.hostname, port: url.port, method, path, headers, agent };
  const request = httpRequest(options, (response) => void read(asked, response).then(resolve, reject));
  request.on('error', () => resolve());
  // A client may wait to be told to go on, and this one does not.
  request.end(body ?? undefined);
  return promise;
}

async function read({ method, target }: Asked, response: IncomingMessage): Promise<void> {
  const { statusCode: status = 0, headers } = response;
  count.answers += 1;
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const isStream = headers['content-type'] === 'text/event-stream';
  if (isStream) {
    assert.equal(status, 200);
    response.destroy();
    return;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  checkAnswer(method, target, { status, headers, text: Buffer.concat(chunks).toString('utf8') });
}

/** Whatever comes back on a connection is one response after the other, each of them typed. */
function answerToBytes(url: URL, bytes: Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(Number(url.port), url.hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    // A stream has no end, and what came of it is enough.
    if (Buffer.concat(chunks).includes('text/event-stream')) socket.destroy();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    try {
      checkBytes(Buffer.concat(chunks).toString('latin1'));
      resolve();
    } catch (error) {
      reject(error as Error);
    }
  });
  socket.end(bytes);
  return promise;
}

function checkBytes(heard: string): void {
  if (heard === '') return;
  count.bytesAnswered += 1;
  for (const each of heard.split(/(?=HTTP\/1\.1 \d{3} )/)) {
    const [, status, head = ''] = /^HTTP\/1\.1 (\d{3}) [^\r]*\r\n([\s\S]*?)\r\n\r\n/.exec(each) ?? [];
    assert.ok(status !== undefined, `no response: ${each.slice(0, 200)}`);
    assert.notEqual(status, '500', each);
    if (status === '100') continue;
    assert.match(head, /content-type: (?:application\/(?:problem\+)?json|text\/event-stream|text\/plain)/i, each);
    const body = each.slice(each.indexOf('\r\n\r\n') + 4);
    if (Number(status) < 400 || body === '') continue;
    const problem = JSON.parse(Buffer.from(body, 'latin1').toString('utf8')) as Record<string, unknown>;
    // In the words of a provider, for clients of models.
    if (isObject(problem['error'])) {
      assert.equal(typeof problem['error']['type'], 'string', each);
      continue;
    }
    assert.equal(problem['status'], Number(status), each);
    assert.ok('error' in problem || String(problem['code']) in doorProblems, each);
  }
}

test(
  `[C3-http-1] random HTTP never yields a 500 or an untyped body, from seed ${seed}`,
  { timeout: 24 * 3_600_000 },
  async (t) => {
    const amount = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] };
    const tools = [aTool('echo', (args) => args, { effect: 'pure' }), aTool('refund', () => 'paid', { input: amount })];
    const held = aTool('held', (args) => args);
    const policy = aPolicy([
      anAgent('bot', [
        ['defer', 'held'],
        ['permit', '*'],
        ['permit', '*/*'],
      ]),
    ]);
    const http = await openHttp(t, { tools: [...tools, held], workflows: [coffee()], policy, unverified: true });
    const first = await http.call({ tool: 'refund', args: { amount: 1 } });
    const opened = await http.ask('POST', '/v1/sessions', { body: { workflow: 'coffee' } });
    const waits = await http.call({ tool: 'held', args: { amount: 1 } });
    const { approval_id: approval } = waits.body['resolution'] as { readonly approval_id: string };
    const ids = [String(first.body['call_id']), String(opened.body['session']), approval];
    const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
    const requests = randomRequests({ keys: [...Object.values(http.keys), http.keys.agent, http.keys.agent], ids });
    const property = fc.asyncProperty(fc.array(requests, { minLength: atOnce, maxLength: atOnce }), async (some) => {
      count.requests += some.filter(({ kind }) => kind === 'request').length;
      count.connections += some.filter(({ kind }) => kind === 'bytes').length;
      await Promise.all(
        some.map((each) =>
          each.kind === 'request' ? answerTo(http.url, each, agent) : answerToBytes(http.url, each.bytes),
        ),
      );
    });
    const timeLimit = { interruptAfterTimeLimit: seconds * 1_000, markInterruptAsFailure: false };
    const numRuns = wanted > 0 ? Math.ceil(wanted / atOnce) : 1_000_000;
    await fc.assert(property, { seed, numRuns, ...timeLimit });
    agent.destroy();
    assert.equal((await http.call({ tool: 'refund', args: { amount: 1 } })).status, 200, 'and the door goes on');
    assert.deepEqual(
      http.notices.filter(({ kind }) => kind === 'suppressed' || kind === 'unexpected'),
      [],
    );
    const seen = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${status}: ${times}`);
    t.diagnostic(
      `${count.requests} requests, ${count.answers} of them answered (${seen.join(', ')}); ` +
        `${count.connections} connections with random bytes, ${count.bytesAnswered} of them answered`,
    );
    for (const status of [200, 400, 401, 403, 404, 405, 415, 422])
      assert.ok(statuses.has(status), `no ${status} was met`);
    assert.ok(count.answers > count.requests / 2 && count.bytesAnswered > 0, 'most were answered');
  },
);
