/** CONTRACT section 6: a step that takes the result of an earlier one is told as adopted, not as sent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallId } from '../../src/core/call/call.ts';
import { eventually } from '../support/eventually.ts';
import { openWorkflow, refusal, success } from '../support/open-workflow.ts';
import { withReader } from '../support/read-journal.ts';
import { createHeld } from '../support/workflows.ts';

test('[C6-adopt-6] a late success that the next equal step adopts: whoever looks is told that nothing was sent', async (t) => {
  const held = createHeld();
  const gateway = await openWorkflow(t, [held.workflow]);
  const session = await gateway.open();
  const first = refusal(await gateway.ask('slow', { n: 1 }, { session }), 'action_timeout');
  held.runs[0]?.finish('late');
  await eventually('slow is possible again', async () => (await gateway.next(session)).includes('slow'));
  const { notices, call_id: id } = success(await gateway.ask('slow', { n: 1 }, { session }));
  assert.equal(notices?.[0]?.human_message, `adopted the result of call ${first.call_id}; nothing was sent`);
  assert.equal((await withReader(gateway.file, (reader) => reader.call(id as CallId)))?.attempt, 0);
  const told = (await gateway.history(session)).find(({ call_id: of }) => of === id);
  assert.deepEqual(told?.detail, { effect: 'applied', sends: 0, adopted_from: first.call_id });
});
