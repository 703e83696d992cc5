/**
 * When is a delivery tried again? Not before its time, and not after its receiver asked for quiet. Time is the test's.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { eventually } from '../../../../test/support/eventually.ts';
import { createManualClock } from '../../../../test/support/manual-clock.ts';
import { aHook, openNoticeHome } from '../../../../test/support/notice-home.ts';
import { type AnswerWith, startReceiver } from '../../../../test/support/webhook-receiver.ts';
import { noticeLimits } from './notice-limits.ts';

const quiet: AnswerWith = (response) => void response.writeHead(503, { 'retry-after': '40' }).end();

for (const [name, answer, waitMs] of [
  ['a second after it failed', 500, 1_000],
  ['when the receiver said', quiet, 40_000],
] as const)
  test(`a delivery is tried again ${name}, and not before`, async (t) => {
    const home = await openNoticeHome(t);
    const receiver = await startReceiver(t);
    receiver.answer(() => answer);
    const clock = createManualClock();
    const limits = { ...noticeLimits, closeGraceMs: 0 };
    const webhooks = await home.start([aHook({ url: receiver.url })], { clock, limits });
    await home.record();
    const rests = () => eventually('it rests', async () => clock.waiting() === 1);
    await rests();
    clock.forward(noticeLimits.pollMs);
    await eventually('the failure is on disk', async () => readFileSync(home.cursorFile, 'utf8').includes('"tries":1'));
    await rests();
    for (let passedMs = 0; passedMs + noticeLimits.pollMs < waitMs; passedMs += noticeLimits.pollMs) {
      clock.forward(noticeLimits.pollMs);
      await rests();
    }
    assert.equal(receiver.got.length, 1, 'not before its time');
    clock.forward(noticeLimits.pollMs);
    await eventually('the second try', async () => receiver.got.length === 2);
    const closing = webhooks.close();
    clock.forward(1);
    await closing;
  });
