import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Client, ClientCapabilities } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { isPending, isRefusal, isSuccess } from '../../../src/core/call/reply.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type Called,
  connectHttp,
  connectInMemory,
  type ConnectOptions,
  type Revision,
  revisions,
  serveHttp,
} from '../../support/mcp-connect.ts';
import { type DoorOptions, openDoor } from '../../support/mcp-gateway.ts';
import { createTalk } from '../../support/mcp-workflows.ts';

const capabilities: ClientCapabilities = { elicitation: { form: {} }, sampling: {} };

const answersMilk = (client: Client) =>
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    assert.match(params.message, /milk/);
    return { action: 'accept', content: { milk: 'oat' } };
  });

const ways = {
  'in memory': async (t: TestContext, revision: Revision, client: ConnectOptions, door: Partial<DoorOptions> = {}) =>
    connectInMemory(t, (await openDoor(t, { workflow: createTalk().workflow, ...door })).door, revision, client),
  'over HTTP': async (t: TestContext, revision: Revision, client: ConnectOptions, door: Partial<DoorOptions> = {}) => {
    const { url } = await serveHttp(t, (await openDoor(t, { workflow: createTalk().workflow, ...door })).door);
    return connectHttp(t, url, revision, client);
  },
};

const resultOf = ({ reply }: Called): unknown => (isSuccess(reply) ? reply.result : reply);

for (const [way, connect] of Object.entries(ways))
  for (const revision of revisions) {
    test(`a body asks the client's user, ${way}, in ${revision}`, async (t) => {
      const client = await connect(t, revision, { capabilities, prepare: answersMilk });
      const called = await client.step({ action: 'ask_milk' });
      assert.deepEqual(resultOf(called), { action: 'accept', content: { milk: 'oat' } });
    });

    test(`a body hears that the user declined, ${way}, in ${revision}`, async (t) => {
      const prepare = (client: Client) =>
        client.setRequestHandler('elicitation/create', async () => ({ action: 'decline' }));
      const client = await connect(t, revision, { capabilities, prepare });
      assert.deepEqual(resultOf(await client.step({ action: 'ask_milk' })), { action: 'decline', content: null });
    });

    test(`a body asks several things, one after the other and at once, ${way}, in ${revision}`, async (t) => {
      const client = await connect(t, revision, { capabilities, prepare: answersMilk });
      const called = await client.step({ action: 'ask_often' });
      assert.deepEqual(resultOf(called), ['oat', 'oat', 'oat', 'oat']);
    });

    test(`a body asks the client's model, ${way}, in ${revision}`, async (t) => {
      const prepare = (client: Client) =>
        client.setRequestHandler('sampling/createMessage', async ({ params }) => {
          const [first] = params.messages;
          const said = JSON.stringify(first?.content);
          return { role: 'assistant', model: 'm', content: { type: 'text', text: `heard ${said.length > 0}` } };
        });
      const client = await connect(t, revision, { capabilities, prepare });
      const called = await client.step({ action: 'ask_model' });
      assert.equal((resultOf(called) as { content: { text: string } }).content.text, 'heard true');
    });

    test(`an answer that does not fit the question does not reach the body, ${way}, in ${revision}`, async (t) => {
      const prepare = (client: Client) =>
        client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { milk: 7 } }));
      const client = await connect(t, revision, { capabilities, prepare });
      const { reply } = await client.step({ action: 'ask_milk' });
      assert.ok(isRefusal(reply) && reply.error === 'action_error', JSON.stringify(reply));
      assert.match(reply.error_message, /does not fit the question: \/milk must be/);
    });

    test(`who waits no longer for a step that asks its user can still answer it, ${way}, in ${revision}`, async (t) => {
      const told = Promise.withResolvers<void>();
      const prepare = (client: Client) =>
        client.setRequestHandler('elicitation/create', async () => {
          // In 2026-07-28 the client comes back with the answer, after the time for which it wanted to wait.
          if (revision === '2026-07-28') setTimeout(told.resolve, 700);
          await told.promise;
          return { action: 'accept', content: { milk: 'oat' } };
        });
      const client = await connect(t, revision, { capabilities, prepare });
      const asked = { action: 'ask_milk', key: 'k1', wait_seconds: 0.5 };
      const first = client.step(asked);
      // In 2025-11-25 the reply does not wait for the answer.
      if (revision === '2025-11-25') void first.then(() => told.resolve());
      const { reply, text } = await first;
      assert.ok(isPending(reply), text);
      const last = await eventually('the step has ended', async () => {
        const again = await client.step(asked);
        return isPending(again.reply) ? null : again;
      });
      assert.deepEqual(resultOf(last), { action: 'accept', content: { milk: 'oat' } });
    });

    test(`a client that declared nothing is not asked, ${way}, in ${revision}`, async (t) => {
      const client = await connect(t, revision, {});
      const { reply } = await client.step({ action: 'ask_milk' });
      assert.ok(isRefusal(reply) && reply.error === 'action_error', JSON.stringify(reply));
      assert.match(reply.error_message, /did not declare/);
      assert.equal(reply.effect, 'none', 'a body that only asked has done nothing');
      assert.ok(reply.valid_next_actions.includes('ask_milk'));
      const model = await client.step({ action: 'ask_model' });
      assert.ok(isRefusal(model.reply) && model.reply.error === 'action_error');
    });

    test(`the budget ends an action that waits for its user, ${way}, in ${revision}`, async (t) => {
      const answer = Promise.withResolvers<{ action: 'cancel' }>();
      t.after(() => answer.resolve({ action: 'cancel' }));
      const asked = Promise.withResolvers<void>();
      const prepare = (client: Client) =>
        client.setRequestHandler('elicitation/create', async () => {
          asked.resolve();
          return answer.promise;
        });
      const client = await connect(t, revision, { capabilities, prepare });
      const called = client.step({ action: 'ask_in_a_hurry' });
      await asked.promise;
      // In 2026-07-28 the client answers first and hears the end then; in 2025-11-25 the reply does not wait for it.
      if (revision === '2026-07-28') setTimeout(() => answer.resolve({ action: 'cancel' }), 600);
      const { reply } = await called;
      assert.ok(isRefusal(reply) && reply.error === 'action_timeout', JSON.stringify(reply));
      assert.deepEqual([reply.timeout_seconds, reply.effect], [0.3, 'unknown']);
      await eventually('the body has said that it only asked', async () => {
        const { reply: other } = await client.step({ action: 'nothing', session: reply.session });
        return isRefusal(other) && other.valid_next_actions.includes('ask_in_a_hurry');
      });
    });
  }

interface InputRequired {
  readonly resultType: 'input_required';
  readonly requestState: string;
  readonly inputRequests: Readonly<Record<string, unknown>>;
}

/** A client that handles the questions itself. */
async function manual(t: TestContext, door: Partial<DoorOptions> = {}) {
  const talk = createTalk();
  const opened = await openDoor(t, { workflow: talk.workflow, ...door });
  const { url } = await serveHttp(t, opened.door);
  const { client } = await connectHttp(t, url, '2026-07-28', { capabilities, inputRequired: { autoFulfill: false } });
  const send = (change: object): Promise<unknown> => {
    const params = { name: 'step', arguments: { action: 'ask_milk' }, ...change };
    return client.request({ method: 'tools/call', params }, z.looseObject({}), { allowInputRequired: true });
  };
  const refused = async (params: object) => {
    const result = (await send(params)) as { isError?: boolean; structuredContent: { error: string; message: string } };
    assert.equal(result.isError, true, JSON.stringify(result));
    assert.equal(result.structuredContent.error, 'validation_failed');
    assert.match(result.structuredContent.message, /requestState/);
  };
  return { ...opened, heard: talk.heard, send, refused };
}

const accepted = { action: 'accept', content: { milk: 'soy' } };

test('a state that is forged, replayed or for another call is refused, and the true one still works', async (t) => {
  const { send, refused } = await manual(t);
  const first = (await send({})) as InputRequired;
  assert.equal(first.resultType, 'input_required');
  const [key = ''] = Object.keys(first.inputRequests);
  const inputResponses = { [key]: accepted };
  await refused({ requestState: 'forged', inputResponses });
  await refused({ requestState: `${first.requestState}A`, inputResponses });
  await refused({ requestState: first.requestState, inputResponses, arguments: { action: 'ask_milk', key: 'other' } });
  const done = (await send({ requestState: first.requestState, inputResponses })) as {
    structuredContent: { result: unknown };
  };
  assert.deepEqual(done.structuredContent.result, accepted);
  await refused({ requestState: first.requestState, inputResponses });
});

test('a client that comes back without the answer is asked again, under another state', async (t) => {
  const { send, refused } = await manual(t);
  const first = (await send({})) as InputRequired;
  const again = (await send({ requestState: first.requestState })) as InputRequired;
  assert.equal(again.resultType, 'input_required');
  assert.notEqual(again.requestState, first.requestState);
  await refused({ requestState: first.requestState });
});

test('a client that never comes back has left: its state expires, and the body hears that nobody answers', async (t) => {
  const { send, refused, heard } = await manual(t, { doorLimits: { parkedForMs: 20 } });
  const first = (await send({})) as InputRequired;
  await eventually('the body hears of it', async () => heard.some((error) => /left/.test(error)));
  await refused({ requestState: first.requestState, inputResponses: {} });
});

test('whoever comes back with a state that is good no more hears what is possible in the session that the call names', async (t) => {
  const { send } = await manual(t);
  const first = (await send({ arguments: { action: 'ask_milk', inputs: {}, key: 'k1' } })) as InputRequired;
  const inputResponses = { question_1: accepted };
  const answer = { requestState: first.requestState, inputResponses };
  const done = (await send({ arguments: { action: 'ask_milk', inputs: {}, key: 'k1' }, ...answer })) as Refused;
  const { session } = done.structuredContent;
  const { isError, structuredContent: late } = (await send({
    arguments: { action: 'ask_milk', session },
    ...answer,
  })) as Refused;
  assert.deepEqual(
    [isError, late.error, late.requested, late.session],
    [true, 'validation_failed', 'ask_milk', session],
  );
  assert.ok(late.valid_next_actions.includes('ask_milk'), JSON.stringify(late));
  const foreign = (await send({ arguments: { action: 'ask_milk', session: 'ses_nonsense' }, ...answer })) as Refused;
  assert.deepEqual([foreign.structuredContent.session, foreign.structuredContent.valid_next_actions], [null, []]);
});

interface Refused {
  readonly isError?: boolean;
  readonly structuredContent: {
    readonly error: string;
    readonly requested: string;
    readonly session: string | null;
    readonly valid_next_actions: readonly string[];
  };
}
