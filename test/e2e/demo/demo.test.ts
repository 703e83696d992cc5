/** `recourse demo` and `npm start`: real agents through a real gateway, and nothing left of them afterwards. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { describe, test } from 'node:test';
import { type DemoEvent, type RunningDemo, startDemo } from '../../support/demo/demo-process.ts';
import { eventually } from '../../support/eventually.ts';
import { folder, recourse, root } from '../../support/recourse-process.ts';

const isReady = ({ event }: DemoEvent) => event === 'ready';
const comes = (outcome: string) => (event: DemoEvent) => event.outcome === outcome;

/** What the payment service of the demo has made, of one order. */
function refundsOf(store: string, order: string): number {
  const ledger = path.join(path.dirname(store), 'payments.jsonl');
  const lines = readFileSync(ledger, 'utf8').trimEnd().split('\n');
  return lines.filter((line) => line.includes('"kind":"effect"') && line.includes(`"${order}"`)).length;
}

/** Only after the last fault of the story, which would meet what the agent does next. */
async function decide(demo: RunningDemo, { gateway, store }: DemoEvent, words: readonly string[]): Promise<void> {
  await demo.next('the last fault', comes('escalated'));
  const at = words[0] === 'calls' ? [] : ['--url', gateway];
  const { status, stderr } = recourse([...words, '--file', store, ...at]);
  assert.equal(status, 0, `${stderr}${demo.complained()}`);
}

test('every kind of outcome comes once, and the demo ends', async (t) => {
  const demo = startDemo(t, ['--once', '--fast']);
  assert.equal(await demo.ended, 0, demo.complained());
  const outcomes = new Set(demo.events.map(({ outcome }) => outcome));
  const wanted = [
    'succeeded',
    'retried',
    'invalid_transition',
    'validation_failed',
    'POLICY_DENY',
    'RATE_EXCEEDED',
    'BUDGET_WARNING',
    'POLICY_DEFER',
    'in_doubt',
    'escalated',
  ];
  for (const outcome of wanted) assert.ok(outcomes.has(outcome), `${outcome} is not among ${[...outcomes].join(', ')}`);
  assert.deepEqual(demo.left(), []);
});

describe('an agent goes on when a person has decided:', { concurrency: 2 }, () => {
  test('an approved refund is made once', async (t) => {
    const demo = startDemo(t, ['--fast']);
    const ready = await demo.next('its address', isReady);
    const held = await demo.next('a held refund', comes('POLICY_DEFER'));
    assert.equal(refundsOf(ready.store, 'ord_1043'), 0);
    await decide(demo, ready, ['approvals', 'approve', held.approval_id ?? '']);
    const again = await demo.next('the agent asks again', ({ says }) => /^asks again: .*ord_1043/.test(says ?? ''));
    assert.equal(again.outcome, 'succeeded');
    assert.equal(refundsOf(ready.store, 'ord_1043'), 1);
  });

  test('a denied refund is not made, and the agent hears of it', async (t) => {
    const demo = startDemo(t, ['--fast']);
    const ready = await demo.next('its address', isReady);
    const held = await demo.next('a held refund', comes('POLICY_DEFER'));
    await decide(demo, ready, [
      'approvals',
      'deny',
      held.approval_id ?? '',
      '--reason',
      'the photos show another grinder',
    ]);
    const heard = await demo.next('the agent hears', ({ says }) => says?.startsWith('hears about the refund of €189'));
    assert.equal(heard.outcome, 'denied');
    assert.equal(refundsOf(ready.store, 'ord_1043'), 0);
  });

  test('a transfer in doubt is settled', async (t) => {
    const demo = startDemo(t, ['--fast']);
    const ready = await demo.next('its address', isReady);
    const doubt = await demo.next('a transfer in doubt', comes('in_doubt'));
    assert.equal(refundsOf(ready.store, 'ord_1046'), 1);
    await decide(demo, ready, ['calls', 'settle', doubt.call_id ?? '', '--happened', 'yes']);
    await demo.next(
      'the agent hears',
      ({ says, outcome }) => says?.startsWith('hears about the transfer') && outcome === 'happened',
    );
  });
});

test('a ticket is answered, and the refund that was forbidden is made once', async (t) => {
  const demo = startDemo(t, ['--fast']);
  const { gateway, store } = await demo.next('its address', isReady);
  const { ticket_id: ticket } = await demo.next('a ticket', comes('escalated'));
  const resolved = await fetch(`${gateway}/v1/tickets/${ticket}/resolve`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${readFileSync(`${store}.token`, 'utf8').trim()}`,
      'content-type': 'application/json',
    },
    body: '{"answer":"retry"}',
  });
  assert.equal(resolved.status, 200, await resolved.text());
  const heard = await demo.next('the agent hears', ({ says }) => says?.startsWith('hears about the refund of €43'));
  assert.equal(heard.outcome, 'succeeded');
  assert.equal(refundsOf(store, 'ord_1049'), 1);
});

describe('nothing is left behind', { concurrency: 2 }, () => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    test(`by ${signal}, in the middle of the story`, async (t) => {
      const demo = startDemo(t);
      const { gateway } = await demo.next('its address', isReady);
      await demo.next('a call', ({ event }) => event === 'told');
      demo.child.kill(signal);
      assert.equal(await demo.ended, 0, demo.complained());
      assert.deepEqual(demo.left(), []);
      await assert.rejects(fetch(gateway), 'nobody listens any more');
    });

  test('by a second Ctrl-C, which does not wait', async (t) => {
    const demo = startDemo(t, ['--fast']);
    await demo.next('a held refund', comes('POLICY_DEFER'));
    demo.child.kill('SIGINT');
    demo.child.kill('SIGTERM');
    await demo.ended;
    assert.deepEqual(demo.left(), []);
  });

  test('when somebody ends npm, and not what npm has started', async (t) => {
    const command = ['npm', 'start', '--', 'demo', '--json'] as const;
    const demo = startDemo(t, [], { command: [...command] });
    const { gateway } = await demo.next('its address', isReady);
    demo.child.kill('SIGTERM');
    await demo.ended;
    await eventually('its folder is gone', async () => demo.left().every((name) => !name.startsWith('recourse-demo-')));
    await assert.rejects(fetch(gateway), 'nobody listens any more');
  });

  test('in the folder where it was started, whose files it does not read, or where state is kept', async (t) => {
    const [cwd, state] = [folder(t), folder(t)];
    writeFileSync(path.join(cwd, 'recourse.yaml'), 'no: such: thing');
    const demo = startDemo(t, ['--once', '--fast'], { cwd, env: { ...process.env, RECOURSE_STATE_DIR: state } });
    assert.equal(await demo.ended, 0, demo.complained());
    assert.deepEqual(readdirSync(cwd), ['recourse.yaml']);
    assert.deepEqual(readdirSync(state), []);
  });
});

test('`npm start` by itself is the demo', async (t) => {
  const demo = startDemo(t, [], { command: ['npm', 'start'] });
  let printed = '';
  demo.child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  await eventually('one address', async () => /Open {2}http:\/\/127\.0\.0\.1:\d+\/#\/signin\/\S+/.test(printed));
  await eventually('what the agents do', async () => /support +reads order ord_1041 +→ succeeded/.test(printed));
  assert.equal(printed.match(/signin/g)?.length, 1);
});

describe('what is in the way is said plainly:', () => {
  test('a port that is taken', async (t) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    t.after(() => taken.close());
    const demo = startDemo(t, ['--port', String((taken.address() as AddressInfo).port)]);
    assert.equal(await demo.ended, 1);
    assert.match(demo.complained(), /is taken by another program: end that one, or choose another with --port/);
    assert.deepEqual(demo.left(), []);
  });

  test('no folder for temporary files', async () => {
    const absent = path.join(root, 'no-such-folder');
    const { status, stderr } = recourse(['demo'], { env: { TMPDIR: absent } });
    assert.equal(status, 3);
    assert.match(stderr, /no folder can be made in '.*no-such-folder' \(ENOENT\): set TMPDIR to a folder/);
    assert.ok(!existsSync(absent));
  });

  test('a port that is none', () => {
    const { status, stderr } = recourse(['demo', '--port', '65536']);
    assert.equal(status, 2);
    assert.match(stderr, /--port is a whole number from 0 to 65535/);
  });
});
