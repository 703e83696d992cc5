/**
 * Seed 001's table of classes and codes, row by row: what produces each code.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { readConfig } from '../../../src/config/read-config.ts';
import { readLock } from '../../../src/config/lock.ts';
import { model } from '../../../src/core/gates/model.ts';
import { entriesOf } from '../../../src/core/model/provider-tools.ts';
import type { JsonObject } from '../../../src/core/values/json.ts';
import { aRequest, facts } from '../../support/builders.ts';
import { aProvider } from '../../support/models/a-provider.ts';
import { codes, type ErrorCode, type ErrorKind } from '../../../src/core/taxonomy.ts';
import { defineExtension, type Extension } from '../../../src/extension/index.ts';
import { createGateway, type ErrorReply, GatewayError, type Reply } from '../../../src/index.ts';
import { breakDisk, mendDisk, whyNoFileLimit } from '../../support/limit-file-size.ts';
import { folderOf, openGateway } from '../../support/open-gateway.ts';
import { openWorkflow } from '../../support/open-workflow.ts';
import { aTool, createHeldTool } from '../../support/tools.ts';
import { counter } from '../../support/workflows.ts';

type Produced = { readonly class: string; readonly code: string };
interface Row {
  readonly by: string;
  readonly produce: (t: TestContext) => Promise<Produced>;
  readonly skip?: string | false;
}

const told = (reply: Reply): ErrorReply => {
  assert.ok('error' in reply, JSON.stringify(reply));
  return reply;
};

const states = (kind: ErrorKind): Row => ({
  by: `a tool that states ${kind}`,
  async produce(t) {
    const gateway = await openGateway(t, [
      aTool('act', (_, ctx) => ctx.fail({ kind, message: 'as stated' }), { retry: { retryable: false } }),
    ]);
    return told(await gateway.call({ tool: 'act' }));
  },
});

const problem = (by: string, found: () => string | undefined): Row => ({
  by,
  produce: async () => ({ class: 'Validation', code: found() ?? 'none' }),
});

const cancels = (by: string, what: 'session' | 'turn' | 'call'): Row => ({
  by,
  async produce(t) {
    const slow = createHeldTool('slow');
    const gateway = await openGateway(t, [slow.definition]);
    const session = await gateway.openSession();
    const asked = gateway.call({ tool: 'slow', session, turn: 'one' });
    const run = await slow.begun();
    const target = { session: { session }, turn: { session, turn: 'one' }, call: { call: run.context.call_id } };
    await gateway.cancel(target[what]);
    run.finish(1);
    return told(await asked);
  },
});

/** Told by gate 8, before anything is sent. */
const lacks = (by: string, args: JsonObject): Row => ({
  by,
  async produce() {
    const tiny = { name: 'tiny', streaming: false, tools: false, contextTokens: 8 };
    const catalogue = entriesOf(aProvider({ declared: { models: [tiny], aliases: {} } }));
    const request = aRequest({ tool: 'echo/chat', args: { model: 'tiny', ...args } });
    const answer = model.check(request, facts({ catalogue }), []);
    assert.ok(answer.kind === 'refuse', answer.kind);
    return answer.refusal;
  },
});

const hosted = (by: string, extensions: readonly Extension[]): Row => ({
  by,
  async produce(t) {
    const upstreams = { legacy: { kind: 'soap' } };
    const opening = createGateway({ tools: [], extensions, upstreams, file: path.join(folderOf(t), 'recourse.db') });
    const refused = await opening.then(
      (gateway) => gateway.close(),
      (error: unknown) => error,
    );
    assert.ok(refused instanceof GatewayError, 'it is refused');
    return { class: 'ExtensionHost', code: refused.code ?? 'none' };
  },
});

const soap = (more: Partial<Extension>): Extension =>
  defineExtension({
    name: 'soap',
    contract: 1,
    upstreams: { soap: { tools: [], create: () => ({ invoke: async () => assert.fail('nobody calls it') }) } },
    ...more,
  });

const schema = { type: 'object', properties: { n: { type: 'number' } } };

const rows: Readonly<Record<string, Readonly<Partial<Record<ErrorCode, Row>>>>> = {
  Validation: {
    ShapeInvalid: problem('a recourse.yaml that is no YAML', () => readConfig('a: [', 'r.yaml').allProblems()[0]?.code),
    ContractVersionMismatch: problem(
      'a lock of another version',
      () => readLock('{"version":2}', 'recourse.lock').problems[0]?.code,
    ),
    ConfigSchemaViolation: problem('an unknown key', () => readConfig('runtme: {}', 'r.yaml').allProblems()[0]?.code),
  },
  ProviderTransient: {
    NetworkTimeout: {
      by: 'a tool that names it',
      async produce(t) {
        const act = aTool('act', (_, ctx) => ctx.fail('ProviderTransient', 'NetworkTimeout', 'no answer'));
        return told(await (await openGateway(t, [act])).call({ tool: 'act' }));
      },
    },
    Provider5xx: states('5xx'),
    RateLimited: states('429'),
  },
  ProviderCapability: {
    MissingStreaming: lacks('a stream of a model that does not stream', { stream: true }),
    MissingToolCalling: lacks('tools for a model that calls none', { tools: [] }),
    ContextWindowTooSmall: lacks('an answer that is longer than the window', { max_tokens: 9 }),
  },
  ToolTransient: {
    ExecutionTimeout: {
      by: 'a tool that does not end in its time',
      async produce(t) {
        const slow = createHeldTool('slow', { timeout_seconds: 0.01 });
        return told(await (await openGateway(t, [slow.definition])).call({ tool: 'slow' }));
      },
    },
    ResourceBusy: states('never_sent'),
  },
  ToolTerminal: {
    InputInvalid: {
      by: 'arguments that break the schema',
      async produce(t) {
        const gateway = await openGateway(t, [aTool('act', () => 1, { input: schema })]);
        return told(await gateway.call({ tool: 'act', args: { n: 'x' } }));
      },
    },
    OutputMalformed: {
      by: 'a result that breaks the schema',
      async produce(t) {
        const gateway = await openGateway(t, [aTool('act', () => ({ n: 'x' }), { output: schema })]);
        return told(await gateway.call({ tool: 'act' }));
      },
    },
    Forbidden: states('403_forbidden'),
    NotFound: states('404_not_found'),
  },
  Session: {
    ManifestDrift: {
      by: 'a session whose workflow changed',
      async produce(t) {
        const first = await openWorkflow(t, [counter()]);
        const session = await first.open();
        await first.close();
        const second = await openWorkflow(t, [counter({ version: '2' })], { file: first.file });
        return told(await second.ask('increment', {}, { session }));
      },
    },
    StoreUnavailable: {
      by: 'a disk that fails',
      skip: whyNoFileLimit(),
      async produce(t) {
        t.after(mendDisk);
        const gateway = await openGateway(t, [aTool('act', () => 1)], { limits: { storeRetryMs: [5] } });
        breakDisk();
        const reply = told(await gateway.call({ tool: 'act' }));
        mendDisk();
        return reply;
      },
    },
    ResumeMismatch: {
      by: 'a session of another agent',
      async produce(t) {
        const gateway = await openWorkflow(t, [counter()]);
        const session = await gateway.open();
        return told(await gateway.ask('look', {}, { session }, { agent: 'eve' }));
      },
    },
  },
  Cancellation: {
    SessionCancelled: cancels('a session that is cancelled', 'session'),
    TurnCancelled: cancels('a turn that is cancelled', 'turn'),
    ToolCancelled: cancels('a call that is cancelled', 'call'),
  },
  ExtensionHost: {
    LifecycleFailure: hosted('an extension that throws at its start', [
      soap({ start: () => Promise.reject(new Error('no database')) }),
    ]),
    DependencyCycle: hosted('an extension that needs itself', [soap({ needs: ['soap'] })]),
    DependencyMissing: hosted('an extension that needs one that is not there', [soap({ needs: ['gone'] })]),
  },
};

describe('seed 001, classes and codes', () => {
  for (const [errorClass, found] of Object.entries(rows))
    for (const [code, { by, produce, skip = false }] of Object.entries(found))
      test(`[C5-codes-1] [S001-codes-1] ${errorClass}/${code}: ${by}`, { skip }, async (t) => {
        assert.equal(codes[code as ErrorCode].class, errorClass);
        const { class: ofReply, code: produced } = await produce(t);
        assert.deepEqual([ofReply, produced], [errorClass, code]);
      });
});
