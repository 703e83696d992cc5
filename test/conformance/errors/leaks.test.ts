/** CONTRACT section 8: what each reader of a failure sees. Secrets and paths of the gateway's own reach no model. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { createMachine } from 'xstate';
import { mount, type Tool, type ToolContext, partial } from '../../../src/index.ts';
import { openGateway as openWhole } from '../../../src/main.ts';
import { openMcpDoor } from '../../../src/compose/serve/open-mcp-door.ts';
import { createSeal } from '../../../src/compose/state/seal.ts';
import { connectInMemory } from '../../support/mcp-connect.ts';
import { hideOwn, ownOf } from '../../../src/compose/serve/hide-own.ts';
import { openHttp } from '../../e2e/http/open-http.ts';
import { aPolicy, anAgent } from '../../support/a-policy.ts';
import { attemptOf } from '../../support/function-upstream.ts';
import { errorOf } from '../../support/check-reply.ts';
import { folderOf, openGateway } from '../../support/open-gateway.ts';
import { openWorkflow, refusal } from '../../support/open-workflow.ts';
import { withReader } from '../../support/read-journal.ts';
import { aTool } from '../../support/tools.ts';

const envSecret = 'zebra-umbrella-4711';
const pin = '86420531';
const source = path.resolve(import.meta.dirname, '../../../src');
const install = path.join(source, 'shell', 'x.ts');

/** In the environment while the gateway opens. */
function plant(t: TestContext): void {
  process.env['BANK_API_KEY'] = envSecret;
  t.after(() => delete process.env['BANK_API_KEY']);
}

const failing = (file: string): readonly Tool[] => {
  const words = `${envSecret} ${pin} in ${install}:12:3 and ${file}-wal, file://${install}`;
  const stack = `\n    at run (${install}:12:3)\n    at async /somewhere/else.js:1:2`;
  const cause = () => new Error(`inner ${words}`, { cause: new Error('the last cause') });
  return [
    aTool('throws', () => {
      throw Object.assign(new Error(`bad ${words}${stack}`, { cause: cause() }), {
        name: `Odd ${envSecret} ${install}`,
      });
    }),
    aTool('fails', (_, ctx: ToolContext) => ctx.fail('ToolTerminal', 'NotFound', `no ${words}`, { cause: cause() })),
    aTool('some', () => partial({}, [{ item: 0, kind: 'threw', message: words }])),
    aTool('odd', () => ({ n: words }), { output: { type: 'object', properties: { n: { type: 'number' } } } }),
  ];
};

const policy = () =>
  aPolicy(['local', 'bot'].map((name) => anAgent(name, [['permit', '**']], { redact: ['args.pin'] })));

function assertClean(told: unknown, file: string, what: string): void {
  const text = JSON.stringify(told);
  for (const secret of [envSecret, pin, source, file, '/somewhere/else.js'])
    assert.ok(!text.includes(secret), `${what} shows ${secret}: ${text}`);
}

function assertAudit(records: unknown, what: string): void {
  const text = JSON.stringify(records);
  assert.ok(!text.includes(envSecret) && !text.includes(pin), `the record of ${what} holds a secret: ${text}`);
  if (what === 'throws' || what === 'fails') {
    assert.match(text, /inner \[redacted\] \[redacted\]/);
    assert.match(text, /the last cause/);
    assert.ok(text.includes(install), 'the audit keeps paths');
  }
}

describe('a failure that quotes what is the gateway’s own', () => {
  const names = ['throws', 'fails', 'some', 'odd'];

  test('[C8-model-2] [C8-audit-1] [S001-render-1] [S001-model-1] shows none of it in the library, and the audit has the causes without secrets', async (t) => {
    plant(t);
    const file = path.join(folderOf(t), 'recourse.db');
    const gateway = await openGateway(t, failing(file), { file, policy: policy() });
    for (const name of names) {
      const reply = await gateway.call({ tool: name, args: { pin } });
      assertClean(reply, file, name);
      assertAudit(await gateway.records(reply.call_id), name);
    }
    const thrown = errorOf(await gateway.call({ tool: 'throws', args: { pin } }), 'action_error');
    assert.equal(thrown.error_message, 'bad [redacted] [redacted] in [path] and [path], [path]');
    assert.equal(thrown.error_type, 'Odd [redacted] [path]');
  });

  test('[C8-model-2] shows none of it over HTTP', async (t) => {
    plant(t);
    const file = path.join(folderOf(t), 'recourse.db');
    const http = await openHttp(t, { tools: failing(file), file, policy: policy() });
    for (const name of names) {
      const { body } = await http.call({ tool: name, args: { pin } });
      assertClean(body, file, name);
      assert.equal(typeof body['call_id'], 'string');
      const id = body['call_id'] as never;
      assertAudit(await withReader(file, (reader) => reader.recordsOf(id)), name);
    }
  });

  test('[C8-model-2] shows none of it over MCP, neither as data nor as text', async (t) => {
    plant(t);
    const file = path.join(folderOf(t), 'recourse.db');
    const opened = await openWhole({ tools: failing(file), file, policy });
    t.after(() => opened.gateway.close({ drain_seconds: 0 }));
    const who = { tenant: 'default', agent: 'bot' };
    const served = {
      version: '1',
      who,
      workflow: null,
      server: null,
      mode: 'tools',
      seal: createSeal(file, assert.fail),
    } as const;
    const door = openMcpDoor(served, { current: () => opened as never });
    const client = await connectInMemory(t, door, '2025-11-25');
    for (const name of names) assertClean(await client.call(name, { pin }), file, name);
  });

  test('[C8-model-2] counts headers and variables of servers by their names', async () => {
    const connect = { headers: { Authorization: `Bearer ${envSecret}`, Accept: 'application/json' } };
    const own = ownOf(
      'recourse.db',
      [{ connect }, { connect: { env: { DB_PASSWORD: 'correct-horse', MODE: 'production' } } }],
      { PWD: '/somewhere' },
    );
    assert.deepEqual(own.secrets, [`Bearer ${envSecret}`, envSecret, 'correct-horse']);
    const failure = {
      kind: '5xx',
      subject: null,
      errorType: 'Error',
      message: `said ${envSecret} in production`,
      effect: null,
      retryAfterSeconds: null,
      code: null,
      cause: `correct-horse, ${install}`,
      given: { output: {}, tell: () => ({ message: `again ${envSecret}`, cause: null }) },
    } as const;
    const invoke = async () => ({ kind: 'failed', failure }) as const;
    const result = await hideOwn({ invoke }, own).invoke(attemptOf('it', {}), new AbortController().signal);
    assert.ok(result.kind === 'failed');
    assert.equal(result.failure.message, 'said [redacted] in production');
    assert.equal(result.failure.cause, `[redacted], ${install}`);
    assert.equal(result.failure.given?.tell({}).message, 'again [redacted]');
  });
});

test('[C8-model-3] [S001-model-2] with debug_messages the agent reads the cause, without secrets, and the call says so on record', async (t) => {
  plant(t);
  const machine = createMachine({ id: 'w', initial: 'a', states: { a: { on: { go: 'a' } } } });
  const run = async () => {
    throw new Error('outer', { cause: new Error(`inner ${envSecret} ${install}`) });
  };
  for (const debug of [true, false]) {
    const mounted = mount(machine, { actions: { go: { run } }, debug_messages: debug } as never);
    const gateway = await openWorkflow(t, [mounted]);
    const reply = refusal(await gateway.ask('go', {}, { session: await gateway.open() }), 'action_error');
    assert.equal(reply.error_message.includes(`inner [redacted] ${install}`), debug);
    assert.ok(!reply.error_message.includes(envSecret));
    const records = await withReader(gateway.file, (reader) => reader.recordsOf(reply.call_id as never));
    assert.equal(JSON.stringify(records).includes('debug_messages'), debug);
  }
});
