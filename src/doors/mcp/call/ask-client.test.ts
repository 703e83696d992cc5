import assert from 'node:assert/strict';
import test from 'node:test';
import type { JsonObject } from '../../../core/values/json.ts';
import { askClient } from './ask-client.ts';
import type { Exchange } from './exchange.ts';
import { createWaitingCall } from './waiting-call.ts';

/** What a body hears that asks with this schema, of a client that gives this answer. */
function asking(given: unknown, schema: JsonObject) {
  const asked: JsonObject[] = [];
  const push: Exchange['push'] = async (_method, params) => {
    asked.push(params);
    return given;
  };
  const exchange = { capabilities: { elicitation: {} }, push } as unknown as Exchange;
  const client = askClient(createWaitingCall(1), exchange);
  return { asked, heard: client.elicit('which milk?', schema, new AbortController().signal) };
}

const milk = { type: 'object', properties: { milk: { type: 'string' } } };

test('an accepted answer whose content is no object does not reach the body', async () => {
  for (const content of ['oat', ['oat'], 7, true])
    await assert.rejects(
      asking({ action: 'accept', content }, milk).heard,
      /does not fit the question: the content must be/,
    );
  for (const content of [undefined, null])
    assert.deepEqual(await asking({ action: 'accept', content }, milk).heard, { action: 'accept', content: null });
});

test('what a client sends along with a no does not reach the body', async () => {
  for (const action of ['decline', 'cancel'])
    assert.deepEqual(await asking({ action, content: { milk: 7 } }, milk).heard, { action, content: null });
});

test('a schema of fields that does not say that it is an object is asked with, and holds', async () => {
  const { properties } = milk;
  const wrong = asking({ action: 'accept', content: {} }, { properties, required: ['milk'] });
  await assert.rejects(wrong.heard, /does not fit the question: \/milk must be/);
  assert.deepEqual(wrong.asked[0]?.['requestedSchema'], { type: 'object', properties, required: ['milk'] });
});

test('a schema of no object cannot be asked with, and its author hears that', async () => {
  const { asked, heard } = asking({ action: 'accept', content: {} }, { type: 'string' });
  await assert.rejects(heard, { name: 'TypeError', message: /the schema is of no object/ });
  assert.deepEqual(asked, []);
});
