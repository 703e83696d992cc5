/** The shapes of the AI SDK and the OpenAI Agents SDK are written down here as those libraries make them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { CallError } from '../call-error.ts';
import { createClient } from '../create-client.ts';
import { governTools } from './govern-tools.ts';
import { tellModel } from '../refusal-of.ts';
import { createScriptedTransport, deny, lost, permit } from '../testing.ts';
import { ToolDeniedError } from '../tool-denied-error.ts';
import { remote } from './tool-shapes.ts';

const mustNotRun = async (): Promise<never> => assert.fail('a body of the agent ran');

const version5 = {
  description: 'Gives money back.',
  inputSchema: z.object({ order: z.string() }),
  providerOptions: { acme: { cache: true } },
  toModelOutput: () => ({ type: 'text', value: 'x' }) as const,
  execute: mustNotRun as (args: { order: string }, options: object) => Promise<{ refunded: number }>,
};

const version4 = {
  description: 'Gives money back.',
  parameters: z.object({ order: z.string() }),
  execute: mustNotRun as (args: { order: string }, options: object) => Promise<{ refunded: number }>,
};

const hidden = Symbol('a mark of the library');
const openAi = {
  type: 'function' as const,
  name: 'refund',
  description: 'Gives money back.',
  parameters: { type: 'object' as const, properties: {}, required: [], additionalProperties: false as const },
  strict: true,
  needsApproval: async () => false,
  isEnabled: async () => true,
  [hidden]: 1,
  invoke: mustNotRun as (context: object, input: string, details?: object) => Promise<string | { refunded: number }>,
};

const answering = () =>
  createScriptedTransport({ refund: permit({ refunded: 40 }), 'pay/refund': permit({ refunded: 41 }) });

describe('each shape stays what it was, and its body is a call', () => {
  test('plain functions', async () => {
    const transport = answering();
    const tools = { refund: mustNotRun as (args: { order: string }) => Promise<{ refunded: number }> };
    const { refund } = governTools(tools, { transport });
    assert.deepEqual(await refund({ order: 'ord_1' }), { refunded: 40 });
    assert.deepEqual(transport.calls[0]?.args, { order: 'ord_1' });
  });

  for (const [version, tool] of [
    ['5', version5],
    ['4', version4],
  ] as const)
    test(`tools of the AI SDK, version ${version}`, async () => {
      const transport = answering();
      const { refund } = governTools({ refund: tool }, { transport });
      const signal = new AbortController().signal;
      const result = await refund.execute({ order: 'ord_1' }, { toolCallId: 't1', messages: [], abortSignal: signal });
      assert.deepEqual(result, { refunded: 40 });
      assert.deepEqual({ ...refund, execute: 0 }, { ...tool, execute: 0 });
      assert.notEqual(refund.execute, tool.execute);
    });

  test('tools of the OpenAI Agents SDK', async () => {
    const transport = answering();
    const [refund] = governTools([openAi], { transport });
    assert.deepEqual(await refund.invoke({}, '{"order":"ord_1"}'), { refunded: 40 });
    assert.deepEqual(transport.calls[0]?.args, { order: 'ord_1' });
    assert.deepEqual(Reflect.ownKeys(refund).sort(byText), Reflect.ownKeys(openAi).sort(byText));
    assert.deepEqual({ ...refund, invoke: 0 }, { ...openAi, invoke: 0 });
  });

  test('a class of somebody, with its getters', async () => {
    class Refund {
      get description() {
        return 'Gives money back.';
      }
      execute = async (_args: { order: string }): Promise<unknown> => assert.fail('a body of the agent ran');
    }
    const { refund } = governTools({ refund: new Refund() }, { transport: answering() });
    assert.ok(refund instanceof Refund);
    assert.equal(refund.description, 'Gives money back.');
    assert.deepEqual(await refund.execute({ order: 'ord_1' }), { refunded: 40 });
  });

  test('all of them in one record, in the order in which they were given', () => {
    const governed = governTools({ b: mustNotRun, pay: version5, a: openAi }, { transport: answering() });
    assert.deepEqual(Object.keys(governed), ['b', 'pay', 'a']);
  });

  test('what was given is not changed', () => {
    const tools = Object.freeze({ refund: Object.freeze({ ...version5 }) });
    assert.notEqual(governTools(tools, { transport: answering() }).refund, tools.refund);
    assert.equal(tools.refund.execute, version5.execute);
  });
});

describe('the input that a model writes as text', () => {
  test('is read as JSON; nothing at all is no arguments', async () => {
    for (const [input, args] of [
      ['', {}],
      ['  ', {}],
      ['[1]', [1]],
    ] as const) {
      const transport = answering();
      await governTools([openAi], { transport })[0].invoke({}, input);
      assert.deepEqual(transport.calls[0]?.args, args);
    }
  });

  test('is refused when it is not JSON, and nothing is sent', async () => {
    const transport = answering();
    const refused = governTools([openAi], { transport })[0].invoke({}, '{"order":');
    await assert.rejects(
      refused,
      (error) => error instanceof CallError && error.error === 'validation_failed' && error.effect === 'none',
    );
    assert.equal(transport.calls.length, 0);
  });
});

describe('names', () => {
  test('have a prefix, or are changed one by one', async () => {
    const transport = createScriptedTransport({ default: permit() });
    const tools = { refund: mustNotRun, look: mustNotRun };
    const governed = governTools(tools, { transport, prefix: 'pay/', names: { look: 'orders/read' } });
    await governed.refund();
    await governed.look();
    assert.deepEqual(
      transport.calls.map(({ tool }) => tool),
      ['pay/refund', 'orders/read'],
    );
  });

  const transport = createScriptedTransport({});
  const mistakes: readonly (readonly [string, () => unknown, RegExp])[] = [
    [
      'for a tool that is not there',
      () => governTools({ a: mustNotRun }, { transport, names: { b: 'x' } }),
      /there is no tool 'b'/,
    ],
    [
      'that two tools share',
      () => governTools({ a: mustNotRun, b: mustNotRun }, { transport, names: { a: 'b' } }),
      /two tools are called 'b'/,
    ],
    ['that a list cannot give', () => governTools([version5], { transport }), /has no name/],
    [
      'that a function in a list cannot be trusted to have',
      () => governTools([async function refund() {}], { transport }),
      /has no name/,
    ],
  ];
  for (const [what, act, message] of mistakes) test(`${what} are refused`, () => assert.throws(act, message));
});

describe('what nobody can govern from here', () => {
  const hosted = { type: 'hosted_tool', name: 'web_search', providerData: {} };
  const forPeople = { description: 'Asks the user.', inputSchema: z.object({}) };

  test('is refused by name, rather than let through in silence', () => {
    const transport = createScriptedTransport({});
    assert.throws(
      () => governTools([hosted as never], { transport }),
      /'web_search' has nothing that could be governed/,
    );
    assert.throws(() => governTools({ ask: forPeople }, { transport }), /'ask' has nothing that could be governed/);
  });

  test('passes as it is when it is named', () => {
    const transport = createScriptedTransport({});
    const [passed] = governTools([hosted as never], { transport, ungoverned: ['web_search'] });
    assert.equal(passed, hosted as never);
  });

  test('must be there to be named', () => {
    const options = { transport: createScriptedTransport({}), ungoverned: ['web_serach'] };
    assert.throws(() => governTools({ refund: version5 }, options), /ungoverned: there is no tool 'web_serach'/);
  });

  test('has a body that is elsewhere, if it says so', async () => {
    const execute = remote<(args: { order: string }) => Promise<{ refunded: number }>>();
    const refund = { description: 'Gives money back.', inputSchema: z.object({ order: z.string() }), execute };
    await assert.rejects(refund.execute({ order: 'ord_1' }), /pass it through governTools/);
    const governed = governTools({ refund }, { transport: answering() });
    assert.deepEqual(await governed.refund.execute({ order: 'ord_1' }), { refunded: 40 });
  });
});

describe('a refusal', () => {
  test('is thrown', async () => {
    const transport = createScriptedTransport({ refund: deny({ ruleRef: 'a.yaml:3' }) });
    const [refund] = governTools([openAi], { transport });
    await assert.rejects(
      refund.invoke({}, '{}'),
      (error) => error instanceof ToolDeniedError && error.ruleRef === 'a.yaml:3',
    );
  });

  test('is told to the model instead, if so wished', async () => {
    const transport = createScriptedTransport({ refund: deny() });
    const [refund] = governTools([openAi], { transport, onRefusal: tellModel });
    assert.match(String(await refund.invoke({}, '{}')), /"code":"POLICY_DENY"/);
  });

  test('is told to nobody else when it is none: a mistake of the test is thrown', async () => {
    const [refund] = governTools([openAi], { transport: createScriptedTransport({}), onRefusal: tellModel });
    await assert.rejects(refund.invoke({}, '{}'), /is not scripted/);
  });
});

describe('calls', () => {
  test('get a key from whoever knows a better one', async () => {
    const transport = answering();
    const key = ({ tool, toolCallId }: { tool: string; toolCallId: string | null }) => `${tool}:${toolCallId}`;
    await governTools({ refund: version5 }, { transport, key }).refund.execute({ order: '1' }, { toolCallId: 't1' });
    await governTools([openAi], { transport, key })[0].invoke({}, '{}', { toolCall: { callId: 'c1' } });
    assert.deepEqual(
      transport.calls.map((call) => call.key),
      ['refund:t1', 'refund:c1'],
    );
  });

  test('are stopped by the signal that their shape has', async () => {
    const aborted = AbortSignal.abort();
    const options = () => ({ transport: createScriptedTransport({ refund: lost() }) });
    const { refund } = governTools(
      { refund: mustNotRun as (args: object, options?: object) => Promise<never> },
      options(),
    );
    const calls = [
      refund({}, { signal: aborted }),
      governTools({ refund: version5 }, options()).refund.execute({ order: '1' }, { abortSignal: aborted }),
      governTools([openAi], options())[0].invoke({}, '{}', { signal: aborted }),
    ];
    for (const call of calls)
      await assert.rejects(
        call,
        (error) => error instanceof CallError && error.error === 'aborted' && error.effect === 'none',
      );
  });

  test('go through a client that is there already, or through one that is made', async () => {
    const transport = createScriptedTransport({ default: permit() });
    const client = createClient({ transport, session: 'ses_1' });
    await governTools({ a: mustNotRun }, { client }).a();
    await governTools({ a: mustNotRun }, { transport, session: 'ses_2' }).a();
    assert.deepEqual(
      transport.calls.map(({ session }) => session),
      ['ses_1', 'ses_2'],
    );
  });

  test('cannot name an agent where the transport says who it is', () => {
    const options = { transport: createScriptedTransport({}), agent: 'somebody' } as never;
    assert.throws(() => governTools({ a: mustNotRun }, options), /no option 'agent'/);
  });
});

const byText = (a: PropertyKey, b: PropertyKey) => (String(a) < String(b) ? -1 : 1);
