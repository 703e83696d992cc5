import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import test, { type TestContext } from 'node:test';
import fc from 'fast-check';
import { serveStdio } from '../../../src/doors/mcp/stdio/serve-stream.ts';
import { eventually } from '../../support/eventually.ts';
import { calledOf, serveHttp } from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';
import { coffee } from '../../support/mcp-workflows.ts';

/** In a time box that the runs are printed of; `RECOURSE_FUZZ_RUNS` sets a number instead. */
const wanted = Number(process.env['RECOURSE_FUZZ_RUNS'] ?? 0);
const seconds = 4;
const bounds =
  wanted > 0
    ? { numRuns: wanted }
    : { numRuns: 1_000_000, interruptAfterTimeLimit: seconds * 1_000, markInterruptAsFailure: false };

const methods = fc.oneof(
  fc.constant('tools/call'),
  fc.constantFrom(
    'tools/call',
    'tools/list',
    'resources/read',
    'resources/list',
    'ping',
    'server/discover',
    'initialize',
  ),
  fc.string(),
);
const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const controls = fc.record(
  { 'recourse/key': fc.jsonValue(), 'recourse/session': fc.jsonValue() },
  { requiredKeys: [] },
);
const meta = fc.oneof(
  { weight: 6, arbitrary: controls.map((given) => ({ ...given, ...envelope })) },
  { weight: 1, arbitrary: controls },
  { weight: 1, arbitrary: fc.jsonValue() },
);
const stepArguments = fc.oneof(
  fc.record(
    {
      action: fc.oneof(fc.constantFrom('take_order', 'pay', 'cancel', '__proto__', 'constructor'), fc.jsonValue()),
      inputs: fc.oneof(fc.constant({ drink: 'latte' }), fc.jsonValue()),
      session: fc.jsonValue(),
      key: fc.jsonValue(),
      expected_seq: fc.jsonValue(),
      wait_seconds: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
  fc.jsonValue(),
);
const params = fc.oneof(
  { weight: 1, arbitrary: fc.jsonValue() },
  {
    weight: 8,
    arbitrary: fc.record(
      {
        name: fc.oneof(fc.constantFrom('step', 'reset_session', 'fork_session', 'pay'), fc.jsonValue()),
        arguments: stepArguments,
        uri: fc.oneof(fc.constantFrom('recourse://next', 'recourse://history/x?after=1'), fc.jsonValue()),
        requestState: fc.jsonValue(),
        inputResponses: fc.jsonValue(),
        _meta: meta,
      },
      { requiredKeys: ['name', 'arguments', '_meta'] },
    ),
  },
);
const message = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record(
      { jsonrpc: fc.constant('2.0'), method: methods, params },
      { requiredKeys: ['jsonrpc', 'method'] },
    ),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
);

/** Either a result, and that of a tool is a valid reply, or an error with a code. */
function checkAnswer(asked: unknown, answer: Record<string, unknown>): void {
  const isCall = (asked as { method?: unknown } | null)?.method === 'tools/call';
  if ('error' in answer) {
    const { code, message: said } = answer['error'] as { code: number; message: string };
    assert.ok(Number.isInteger(code) && typeof said === 'string', JSON.stringify(answer));
    // A malformed handshake is the SDK's own business.
    if ((asked as { method?: unknown } | null)?.method === 'initialize') return;
    assert.notEqual(code, -32_603, `no bug of ours: ${JSON.stringify({ asked, answer })}`);
    return;
  }
  assert.ok('result' in answer, JSON.stringify(answer));
  if (isCall) calledOf(answer['result'] as Record<string, unknown>);
}

async function overLines(t: TestContext) {
  const { door, notices } = await openDoor(t, { workflow: coffee });
  const input = new PassThrough();
  const output = new PassThrough();
  const answers = new Map<unknown, Record<string, unknown>>();
  let rest = '';
  output.on('data', (data: Buffer) => {
    const lines = (rest + data.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const answer = JSON.parse(line) as Record<string, unknown>;
      answers.set(answer['id'], answer);
    }
  });
  const served = serveStdio(door, { input, output });
  t.after(() => served.close());
  let last = 0;
  const ask = async (asked: unknown): Promise<Record<string, unknown>> => {
    const id = `fuzz-${(last += 1)}`;
    input.write(`${JSON.stringify({ ...(asked as object), id })}\n`);
    return eventually(`an answer to ${JSON.stringify(asked)}`, async () => answers.get(id));
  };
  return { ask, input, notices };
}

test('whatever a client writes, it gets a typed answer, and the server lives, over lines', async (t) => {
  const { ask, notices } = await overLines(t);
  let written = 0;
  const request = fc.record(
    { jsonrpc: fc.constant('2.0'), method: methods, params },
    { requiredKeys: ['jsonrpc', 'method'] },
  );
  await fc.assert(
    fc.asyncProperty(request, async (asked) => {
      written += 1;
      checkAnswer(asked, await ask(asked));
    }),
    bounds,
  );
  t.diagnostic(`${written} were written`);
  assert.ok(written >= 20, 'enough to mean something');
  const alive = await ask({ jsonrpc: '2.0', method: 'ping', params: { _meta: envelope } });
  assert.ok('result' in alive || 'error' in alive);
  assert.ok(!notices.some((notice) => JSON.stringify(notice).includes('a bug')), JSON.stringify(notices));
});

test('whatever is posted, it gets a typed answer, and the server lives, over HTTP', async (t) => {
  const { door, notices } = await openDoor(t, { workflow: coffee });
  const { url } = await serveHttp(t, door);
  const headersOf = (asked: unknown) => {
    const { method, params: given } = (asked ?? {}) as { method?: unknown; params?: { name?: unknown; uri?: unknown } };
    const name = given?.name ?? given?.uri;
    const isHeader = (value: unknown): value is string => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);
    return {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      ...(isHeader(method) ? { 'mcp-method': method } : {}),
      ...(isHeader(name) ? { 'mcp-name': name } : {}),
    };
  };
  let served = 0;
  let posted = 0;
  await fc.assert(
    fc.asyncProperty(message, async (drawn) => {
      posted += 1;
      const isRequest = typeof drawn === 'object' && drawn !== null && 'method' in drawn;
      const asked = isRequest ? { ...drawn, id: 1 } : drawn;
      const response = await fetch(url, { method: 'POST', headers: headersOf(asked), body: JSON.stringify(asked) });
      const body = await response.text();
      if (response.status === 202) return;
      assert.notEqual(response.status, 500, `${JSON.stringify(asked)}: ${body}`);
      const answer = JSON.parse(body) as Record<string, unknown>;
      if ('result' in answer) served += 1;
      checkAnswer(asked, answer);
    }),
    bounds,
  );
  t.diagnostic(`${posted} were posted, ${served} of them served`);
  assert.ok(!notices.some((notice) => JSON.stringify(notice).includes('a bug')), JSON.stringify(notices));
});
