/** Which changes of a breaker are on record: openings and closings, not every trial, and not all of a flood. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import path from 'node:path';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { folderOf } from '../../../test/support/open-gateway.ts';
import { classify } from '../../core/recovery/classify.ts';
import type { ErrorKind, ErrorSubject } from '../../core/taxonomy.ts';
import { joinRecovery } from '../../core/recovery/declared.ts';
import type { Trouble } from '../../core/recovery/plan.ts';
import { openGateway } from '../../main.ts';
import { breakerWaitMs, noteAttempt } from '../attempt/upstream-health.ts';
import { recordBreakers } from './record-breakers.ts';

const recovery = { ...joinRecovery('pay', []), breaker: { failures: 1, openMs: 10_000 } };
function trouble(kind: ErrorKind, subject?: ErrorSubject): Trouble {
  const classification = classify(kind, subject, 'plain');
  const error = { kind, message: 'x', ...(subject === undefined ? {} : { subject }) };
  return { error, classification, effect: classification.effect };
}

async function open(t: TestContext) {
  const clock = createManualClock();
  const file = path.join(folderOf(t), 'recourse.db');
  const options = { tools: [], file, onNotice: () => undefined };
  const { gateway, shell } = await openGateway(options, { clock });
  t.after(() => gateway.close({ drain_seconds: 0 }));
  const onRecord = async () => {
    await recordBreakers(shell);
    const entries = await shell.ports.store.entries({ epoch: 0, seq: 0 }, 1_000);
    return entries.filter(({ kind }) => kind.startsWith('breaker_')).map(({ kind, body }) => [kind, JSON.parse(body)]);
  };
  return {
    clock,
    shell,
    onRecord,
    kinds: async () => (await onRecord()).map(([kind]) => String(kind).slice('breaker_'.length)),
    fails: () => noteAttempt(recovery, trouble('5xx'), shell),
    answers: () => noteAttempt(recovery, null, shell),
    tries: () => breakerWaitMs(recovery, shell),
  };
}

test('an opening says why and for how long; a trial that fails is no second one', async (t) => {
  const { clock, onRecord, kinds, fails, answers, tries } = await open(t);
  assert.deepEqual(await kinds(), []);
  fails();
  const [opened] = await onRecord();
  const { process: _process, ...body } = opened?.[1] ?? {};
  assert.deepEqual(
    [opened?.[0], body],
    ['breaker_opened', { upstream: 'pay', why: '5xx', retry_after_seconds: 10, openings: 1 }],
  );
  clock.forward(10_000);
  assert.equal(tries(), null, 'a trial may pass');
  fails();
  clock.forward(10_000);
  assert.deepEqual(await kinds(), ['opened']);
  assert.equal(tries(), null);
  answers();
  assert.deepEqual(await kinds(), ['opened', 'closed']);
});

test('one that opens and closes all the time is recorded once a minute each, and never stays untold', async (t) => {
  const { clock, kinds, fails, answers } = await open(t);
  for (let count = 0; count < 50; count++) {
    fails();
    await kinds();
    answers();
    await kinds();
  }
  assert.deepEqual(await kinds(), ['opened', 'closed']);
  fails();
  assert.deepEqual(await kinds(), ['opened', 'closed']);
  clock.forward(60_000);
  assert.deepEqual(await kinds(), ['opened', 'closed', 'opened'], 'what was held back is told after the minute');
});

test('one that opened and closed between two looks is told, in order', async (t) => {
  const { kinds, fails, answers } = await open(t);
  fails();
  answers();
  assert.deepEqual(await kinds(), ['opened']);
  assert.deepEqual(await kinds(), ['opened', 'closed']);
  assert.deepEqual(await kinds(), ['opened', 'closed']);
});

test('calls that the breaker held back do not keep it open', async (t) => {
  const { clock, shell, fails, tries } = await open(t);
  fails();
  clock.forward(9_999);
  assert.equal(tries(), 1);
  noteAttempt(recovery, trouble('never_sent', 'breaker_open'), shell);
  clock.forward(1);
  assert.equal(tries(), null, 'the next one is the trial');
});
