/** Commands take the beginning of an id, if it is unique. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { barProject, openBar } from '../support/cli-project.ts';
import { recourse } from '../support/compiled-recourse.ts';

test('calls and sessions are named by the beginnings of their ids', async (t) => {
  const bar = barProject(t);
  const { gateway, step } = await openBar(t, bar);
  const replies = [
    await step('order', { inputs: { drink: 'tea' } }),
    await step('order', { inputs: { drink: 'ale' } }),
  ];
  await gateway.close({ drain_seconds: 0 });
  const [one, other] = replies.map(({ call_id: id }) => id);
  const session = replies[0]?.session ?? '';
  assert.ok(one !== undefined && other !== undefined && session !== '');
  const look = (...words: string[]) => recourse([...words, '--file', bar.file], { cwd: bar.home });

  const shown = look('calls', 'show', one.slice(0, -4), '--json');
  assert.equal(shown.status, 0, shown.stderr);
  assert.equal((JSON.parse(shown.stdout) as { readonly call_id: string }).call_id, one);
  assert.equal(look('calls', 'show', `${one.slice(0, -4)}…`).status, 0, 'as it is written where it is shortened');
  const several = look('calls', 'show', 'call_0');
  assert.equal(several.status, 1);
  assert.match(several.stderr, /^recourse: several begin with 'call_0': call_\w+, call_\w+; give more characters$/m);
  assert.ok(several.stderr.includes(one) && several.stderr.includes(other));
  assert.match(look('calls', 'show', 'call_zzz').stderr, /no call 'call_zzz' is on record/);

  for (const words of [
    ['sessions', 'show', session.slice(0, -5)],
    ['sessions', 'tail', session.slice(0, -5)],
    ['sessions', 'diff', session.slice(0, -5), '0'],
  ])
    assert.equal(look(...words).status, 0, words.join(' '));

  const settle = (id: string) => look('calls', 'settle', id, '--happened', 'no', '--force').stderr;
  assert.match(settle(one.slice(0, -4)), new RegExp(`${one} is not in doubt, it is SUCCEEDED`));
  assert.match(settle('call_0'), /^recourse: several begin with 'call_0': call_\w+, call_\w+; give more characters$/m);
  assert.match(settle('call_zzz'), /no call 'call_zzz' is on record/);

  const drawn = look('render', './bar.ts', '--session', session.slice(0, -5));
  assert.equal(drawn.status, 0, drawn.stderr);
  assert.equal(drawn.stdout, look('render', './bar.ts', '--session', session).stdout);
});
