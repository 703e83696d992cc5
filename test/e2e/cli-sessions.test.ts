/**
 * The commands for sessions, and `calls settle`, as people run them: beside a gateway that owns the store, and without
 * one.
 */
import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { isRefusal, isSuccess, type Reply } from '../../src/index.ts';
import { type BarProject, barProject, openBar, runBeside } from '../support/cli-project.ts';
import { exitOf, objectsIn, recourse, startRecourse } from '../support/recourse-process.ts';

const latte = { inputs: { drink: 'latte' } };
const tea = { inputs: { drink: 'tea' } };

const sessionOf = (reply: Reply): string => {
  assert.ok(reply.session !== null, JSON.stringify(reply));
  return reply.session;
};

async function aBar(t: TestContext) {
  const bar = barProject(t);
  const { step, gateway } = await openBar(t, bar);
  const look = (...words: string[]) => recourse(words, { cwd: bar.home });
  return { bar, step, gateway, look };
}

test('sessions ls tells where each stands, by workflow, agent and state', async (t) => {
  const { step, gateway, look } = await aBar(t);
  assert.match(look('sessions', 'ls').stderr, /^no workflow session is on record yet\.\n$/);
  const open = sessionOf(await step('order', latte));
  const done = sessionOf(await step('order', tea));
  for (const action of ['pay', 'serve']) assert.ok(isSuccess(await step(action, { session: done })));
  const other = sessionOf(await gateway.handleStep({ action: 'order', ...tea }, { agent: 'barista' }));

  const listed = look('sessions', 'ls');
  assert.deepEqual([listed.status, listed.stderr], [0, '']);
  assert.match(listed.stdout, /^LAST USED +SESSION +STATUS +WORKFLOW +SEQ +AGENT\n/);
  assert.match(listed.stdout, new RegExp(`${done} +done +bar +3 +waiter\n`));
  const handles = (...words: string[]) =>
    objectsIn(look('sessions', 'ls', '--json', ...words).stdout).map(({ session }) => session);
  assert.deepEqual(handles(), [other, done, open]);
  assert.deepEqual(handles('--agent', 'barista'), [other]);
  assert.deepEqual(handles('--state', 'done'), [done]);
  assert.deepEqual(handles('--state', 'OPEN', '--agent', 'waiter'), [open]);
  assert.deepEqual(handles('--limit', '1'), [other]);
  assert.deepEqual(handles('--workflow', 'bar', '--limit', '2'), [other, done]);
  assert.equal(look('sessions', 'ls', '--workflow', 'none').stderr, 'no session matches these options.\n');
  const odd = look('sessions', 'ls', '--state', 'dne');
  assert.deepEqual([odd.status, odd.stderr], [2, "recourse: no session is ever 'dne'; did you mean done?\n"]);
});

test('sessions show tells state, context, fences and history; a handle that nobody has is a no', async (t) => {
  const { step, look } = await aBar(t);
  const session = sessionOf(await step('order', latte));
  await step('serve', { session });
  const lost = await step('lose', { session });
  const { status, stdout } = look('sessions', 'show', session);
  assert.equal(status, 0);
  assert.match(stdout, new RegExp(`^${session}  bar  open\n`));
  assert.match(stdout, /state +"ordering"\n/);
  assert.match(stdout, /"latte"/);
  assert.match(stdout, /version +1, manifest [0-9a-f]{12}\n/);
  assert.match(stdout, /turn +nobody has it\n/);
  assert.match(stdout, new RegExp(`Fences\n  ${lost.call_id}  IN_DOUBT  bar/lose  settle it`));
  assert.match(stdout, /order {2}succeeded {2}\d+ ms · seq 1 · call_\w+ · state [0-9a-f]{8} → [0-9a-f]{8}\n/);
  assert.match(stdout, /serve {2}invalid_transition {2}InvalidTransition · \d+ ms · seq 1/);
  assert.match(stdout, /lose {2}action_error/);

  const [whole] = objectsIn(look('sessions', 'show', session, '--json', '--limit', '2').stdout);
  const { state, history, fences } = whole as { state: object; history: { action: string }[]; fences: object[] };
  assert.deepEqual(state, {
    context: { drinks: ['latte'], paid: false },
    done: false,
    history: {},
    timers: [],
    value: 'ordering',
  });
  assert.deepEqual(
    history.map(({ action }) => action),
    ['serve', 'lose'],
  );
  assert.deepEqual(fences, [{ operation: 'bar/lose', call_id: lost.call_id, state: 'IN_DOUBT' }]);

  for (const command of [['show'], ['tail'], ['tail', '--follow'], ['diff', '0']]) {
    const [name = '', ...rest] = command;
    const none = look('sessions', name, 'ses_of_nobody', ...rest);
    assert.deepEqual([none.status, none.stdout], [1, '']);
    assert.match(none.stderr, /no workflow session 'ses_of_nobody' is on record; .*sessions ls\n$/);
  }
});

test('a running step shows whose turn it is', async (t) => {
  const { bar, step, look } = await aBar(t);
  const session = sessionOf(await step('order', latte));
  const waiting = await step('wait', { session, wait_seconds: 0 });
  assert.match(look('sessions', 'show', session).stdout, new RegExp(`turn +${waiting.call_id} has it, for bar/wait\n`));
  bar.openGate();
});

test('sessions tail --follow tells a step when it begins and when it has ended, from another process', async (t) => {
  const { bar, step } = await aBar(t);
  const session = sessionOf(await step('order', latte));
  const words = ['sessions', 'tail', session, '--follow', '-n', '1', '--json', '--file', bar.file];
  const tail = startRecourse(t, words);
  const lines = createInterface({ input: tail.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { action, outcome } = JSON.parse(String((await lines.next()).value)) as Record<string, unknown>;
    return [action, outcome];
  };
  assert.deepEqual(await next(), ['order', 'succeeded']);
  const waiting = step('wait', { session });
  assert.deepEqual(await next(), ['wait', 'running']);
  bar.openGate();
  assert.deepEqual(await next(), ['wait', 'succeeded']);
  assert.ok(isSuccess(await waiting));
  await step('serve', { session });
  assert.deepEqual(await next(), ['serve', 'invalid_transition']);
  tail.kill('SIGINT');
  assert.equal(await exitOf(tail), 0);
  const short = recourse(['sessions', 'tail', session, '-n', '2', '--json'], { cwd: bar.home });
  assert.deepEqual(
    objectsIn(short.stdout).map(({ action }) => action),
    ['wait', 'serve'],
  );
});

test('sessions diff tells what a step did, and where a fork went another way', async (t) => {
  const { bar, step, gateway, look } = await aBar(t);
  const session = sessionOf(await step('order', latte));
  await step('order', { ...tea, session });
  await step('pay', { session });
  const diff = (...words: string[]) => look('sessions', 'diff', session, ...words);
  const second = diff('1', '2');
  assert.deepEqual([second.status, second.stdout], [0, '+ /context/drinks/1  "tea"\n']);
  assert.match(second.stderr, /^one path differs between ses_\w+ at 1 and 2\.\n$/);
  assert.equal(diff('2').stdout, '~ /value  "ordering" → "paid"\n');
  assert.deepEqual(objectsIn(diff('2', '1', '--json').stdout), [
    { op: 'remove', path: '/context/drinks/1', before: 'tea', after: null },
  ]);
  assert.match(diff('2', '2').stderr, /^nothing differs/);

  const fork = sessionOf(await gateway.sessions.fork(session, { seq: 1 }));
  await step('order', { inputs: { drink: 'water' }, session: fork });
  const apart = diff('2', fork);
  assert.equal(apart.stdout, '~ /context/drinks/1  "tea" → "water"\n');

  assert.deepEqual([diff('9').status, diff('x').status], [1, 2]);
  assert.match(diff('9').stderr, /the state of ses_\w+ at 9 is not kept; the last one is 3\n$/);
  assert.match(diff('0', 'ses_of_nobody').stderr, /no workflow session 'ses_of_nobody'/);
  const database = new DatabaseSync(bar.file);
  database.prepare('DELETE FROM snapshots WHERE session = ? AND seq < 2').run(session);
  database.close();
  assert.match(diff('1').stderr, /the state of ses_\w+ at 1 is not kept; those from 2 to 3 are\n$/);
});

async function aDoubt(t: TestContext) {
  const found = await aBar(t);
  const session = sessionOf(await found.step('order', latte));
  const lost = await found.step('lose', { session });
  assert.ok(isRefusal(lost) && lost.effect === 'unknown', JSON.stringify(lost));
  const fenced = await found.step('lose', { session });
  assert.ok(isRefusal(fenced) && fenced.error === 'fenced', JSON.stringify(fenced));
  return { ...found, session, id: lost.call_id };
}

const timesLost = (bar: BarProject) => bar.done().filter((name) => name === 'lose').length;

test('calls settle, yes: beside the owner, and the next equal step takes the result instead of doing it again', async (t) => {
  const { bar, step, session, id, look } = await aDoubt(t);
  const words = ['calls', 'settle', id, '--happened', 'yes', '--result', '{"bank":7}', '--by', 'Ann'];
  const settled = await runBeside(words, bar.home);
  assert.deepEqual([settled.status, settled.stderr], [0, '']);
  assert.match(settled.stdout, new RegExp(`^${id} is settled by Ann: it took effect\\. The next equal step`));
  const adopted = await step('lose', { session });
  assert.ok(isSuccess(adopted) && adopted.replayed === true, JSON.stringify(adopted));
  assert.deepEqual(adopted.result, { bank: 7 });
  assert.equal(timesLost(bar), 1);
  assert.match(look('calls', 'show', adopted.call_id).stdout, new RegExp(`never: it adopted the result of ${id}`));
  assert.match(look('sessions', 'tail', session).stdout, /settled .*by Ann/);
  assert.equal(look('audit', 'verify').status, 0);
});

test('calls settle, no: the fence is lifted, also without a gateway', async (t) => {
  const { bar, gateway, session, id, look } = await aDoubt(t);
  await gateway.close();
  const settled = look('calls', 'settle', id, '--happened', 'no', '--force');
  assert.equal(settled.status, 0);
  assert.match(settled.stdout, /it did not happen\. The fence is lifted, and the agent may ask for it again\.\n$/);
  const { step } = await openBar(t, bar);
  const again = await step('lose', { session });
  assert.ok(isRefusal(again) && again.error === 'action_error', JSON.stringify(again));
  assert.equal(timesLost(bar), 2);
});

test('calls settle: whoever asks by the key, or by the call, hears where the session stands and what is next in it', async (t) => {
  const { bar, step, gateway } = await aBar(t);
  for (const happened of ['no', 'unknown', 'yes']) {
    const session = sessionOf(await step('order', latte));
    const asked = { session, key: `lost-${happened}` };
    const { call_id } = await step('lose', asked);
    assert.equal(
      (await runBeside(['calls', 'settle', call_id, '--happened', happened, '--force'], bar.home)).status,
      0,
    );
    const view = await gateway.sessions.look(session, { agent: 'waiter' });
    assert.ok(!('error' in view) && view.valid_next_actions.includes('lose'), JSON.stringify(view));
    const byId = await gateway.reply(call_id, { agent: 'waiter' });
    assert.ok(byId !== null && 'valid_next_actions' in byId, JSON.stringify(byId));
    assert.deepEqual(byId.valid_next_actions, view.valid_next_actions, happened);
    if (isSuccess(byId)) assert.deepEqual(byId.state, view.state);
    const byKey = await step('lose', asked);
    assert.ok('valid_next_actions' in byKey && byKey.valid_next_actions.length > 0, JSON.stringify(byKey));
    if (isRefusal(byKey) && byKey.resolution.type === 'choose_action')
      assert.deepEqual(byKey.resolution.actions, view.valid_next_actions);
  }
});

test('calls settle, unknown: closed for good; a second word about it is a no and changes nothing', async (t) => {
  const { bar, id, look } = await aDoubt(t);
  const settled = await runBeside(['calls', 'settle', id, '--happened', 'unknown', '--json'], bar.home);
  assert.equal(settled.status, 0, settled.stderr);
  const journal = look('audit', 'verify', '--json').stdout;
  const again = look('calls', 'settle', id, '--happened', 'no');
  assert.deepEqual([again.status, again.stdout], [1, '']);
  assert.match(again.stderr, /is not in doubt, it is CLOSED_UNKNOWN; nothing was changed/);
  const none = look('calls', 'settle', 'call_of_nobody', '--happened', 'no');
  assert.equal(none.status, 1);
  assert.match(none.stderr, /no call 'call_of_nobody' is on record/);
  assert.equal(look('audit', 'verify', '--json').stdout, journal);
});

test('calls settle that cannot be understood says so before it opens anything', (t) => {
  const { home } = barProject(t);
  const sentences: readonly (readonly [words: readonly string[], status: number, sentence: RegExp])[] = [
    [[], 2, /needs --happened <yes\|no\|unknown>/],
    [['--happened', 'maybe'], 2, /--happened is yes or no or unknown, not 'maybe'/],
    [['--happened', 'yes', '--result', 'done'], 2, /--result must be JSON/],
    [['--happened', 'no', '--result', '{}'], 2, /--result .* needs --happened yes, not no/],
    [['--happened', 'no'], 3, /there is no store at '.*recourse\.db'/],
  ];
  for (const [words, status, sentence] of sentences) {
    const end = recourse(['calls', 'settle', 'call_1', ...words], { cwd: home });
    assert.equal(end.status, status, end.stderr);
    assert.match(end.stderr, sentence);
  }
});
