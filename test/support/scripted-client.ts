/** A client whose gateway is a script, and what its calls throw. */
import assert from 'node:assert/strict';
import { CallError } from '../../src/client/call-error.ts';
import { createClient, type ClientBounds } from '../../src/client/create-client.ts';
import { createScriptedTransport, type ScriptedAnswer } from '../../src/client/testing.ts';
import { ToolDeniedError } from '../../src/client/tool-denied-error.ts';

export const scripted = (answers: readonly ScriptedAnswer[], bounds: ClientBounds = {}) => {
  const transport = createScriptedTransport({ refund: answers });
  const client = createClient({ transport, ...bounds });
  return { transport, client, call: () => client.call('refund', { order: 'ord_1' }) };
};

export async function errorOf(call: Promise<unknown>): Promise<CallError> {
  const error: unknown = await call.then(
    (value) => assert.fail(`it succeeded: ${JSON.stringify(value)}`),
    (thrown) => thrown,
  );
  assert.ok(error instanceof CallError, String(error));
  return error;
}

export async function denialOf(call: Promise<unknown>): Promise<ToolDeniedError> {
  const error: unknown = await call.then(
    () => assert.fail('it succeeded'),
    (thrown) => thrown,
  );
  assert.ok(error instanceof ToolDeniedError, String(error));
  return error;
}
