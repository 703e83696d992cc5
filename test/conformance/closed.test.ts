/**
 * What a gateway says that closes, or is closed: that, to whoever asks, and not that it starts or that its store fails.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isObject } from '../../src/core/values/json.ts';
import { createHeldTool } from '../support/tools.ts';
import { openGateway } from '../support/open-gateway.ts';
import { openWorkflow } from '../support/open-workflow.ts';
import { coffee } from '../support/workflows.ts';

const words = 'denied: daemon is closed, ask again once it is open';
const expected = { error: 'denied', code: 'DAEMON_NOT_READY', effect: 'none', message: words, human_message: words };

function saysClosed(reply: unknown, name: string): void {
  assert.ok(isObject(reply), name);
  const told = Object.fromEntries(Object.keys(expected).map((key) => [key, reply[key]]));
  assert.deepEqual(told, expected, name);
  assert.deepEqual(reply['resolution'], { type: 'retry_after', retry_after_seconds: 2 }, name);
  assert.deepEqual(reply['valid_next_actions'], [], name);
}

test('[C4-closing-2] calls, in every form, while it closes and after it', async (t) => {
  const slow = createHeldTool('slow');
  const gateway = await openGateway(t, [slow.definition]);
  const session = await gateway.openSession();
  const running = gateway.call({ tool: 'slow' });
  const run = await slow.begun();
  const askAll = async (when: string) => {
    for (const request of [
      { tool: 'slow' },
      { tool: 'slow', key: 'k' },
      { tool: 'slow', key: 'k', wait_seconds: 1 },
      { tool: 'slow', session },
      { tool: 'nothing' },
    ])
      saysClosed(await gateway.handle(request), `${when}: ${JSON.stringify(request)}`);
  };
  const closing = gateway.close();
  await askAll('closing');
  run.finish('in time');
  await running;
  await closing;
  await askAll('closed');
});

test('[C4-closing-2] steps and sessions of workflows, after it', async (t) => {
  const gateway = await openWorkflow(t, [coffee()]);
  const session = await gateway.open();
  const other = await gateway.open();
  await gateway.close();
  saysClosed(await gateway.ask('take_order', { drink: 'latte' }), 'a first step');
  saysClosed(await gateway.ask('take_order', { drink: 'latte' }, { key: 'k' }), 'a first step with a key');
  saysClosed(await gateway.ask('take_order', { drink: 'latte' }, { session }), 'a step');
  saysClosed(await gateway.complete({ session }), 'complete');
  const { sessions } = gateway;
  for (const [name, act] of Object.entries({
    open: () => sessions.open('coffee'),
    look: () => sessions.look(session),
    reset: () => sessions.reset(session),
    fork: () => sessions.fork(other),
    accept: () => sessions.accept(session),
    history: () => sessions.history(session),
  }))
    saysClosed(await act(), name);
  assert.deepEqual(
    gateway.notices.filter(({ kind }) => kind.startsWith('store')),
    [],
    'no operator is called',
  );
});
