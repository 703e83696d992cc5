/** `recourse explain` with and without a gateway: the same question gets the same answer. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Explanation } from '../../src/core/gates/explain.ts';
import type { ErrorReply } from '../../src/core/call/reply.ts';
import { startGoverned } from '../support/governed-up.ts';
import { recourse } from '../support/compiled-recourse.ts';
import { folder } from '../support/recourse-process.ts';
import { rules, smallServer } from '../support/small-server.ts';

const yaml = `agents:
${rules('bot', [
  'permit: small/echo',
  'deny: small/die\n        reason: nobody dies here',
  "permit: small/*\n        when: args.amount > 5 && model == 'opus'",
  "permit: small/hang\n        when: now > timestamp('2030-01-01T00:00:00Z')",
])}${rules('other', [])}tools:
${smallServer()}`;

describe('without a gateway', () => {
  test('each gate is told, with what it saw, why, and what would have to change', (t) => {
    const cwd = folder(t);
    writeFileSync(join(cwd, 'recourse.yaml'), yaml);
    const pinned = recourse(['pin'], { cwd });
    assert.equal(pinned.status, 0, pinned.stderr);
    const explain = (...words: string[]) => recourse(['explain', ...words, '--offline'], { cwd });

    const runs = explain('small/echo', '--agent', 'bot');
    assert.equal(runs.status, 0, runs.stderr);
    assert.match(runs.stderr, /offline: decided from recourse\.yaml and recourse\.lock/);
    assert.match(runs.stdout, /^✓ bot → small\/echo: it would run$/m);
    assert.match(runs.stdout, /^ {2}✓ policy .*\n {16}why {5}permitted by recourse\.yaml:5$/m);

    const denied = explain('small/die', '--agent', 'bot');
    assert.equal(denied.status, 1);
    assert.match(denied.stdout, /^✗ bot → small\/die: it would be refused, POLICY_DENY\n {2}nobody dies here$/m);
    assert.match(denied.stdout, /change {2}change what stands at recourse\.yaml:6/);
    assert.match(denied.stdout, /^ {2}recourse\.yaml:6 {2}matched: it decides$/m);
    assert.match(denied.stdout, /^ {2}· model +not asked$/m);
    assert.match(denied.stdout, /^ {2}– credential +absent/m);

    const broken = explain('small/fails', '--agent', 'bot', '--model', 'opus');
    assert.equal(broken.status, 1);
    assert.match(broken.stdout, /^ {2}recourse\.yaml:8 {2}its condition cannot be evaluated, so it denies \(.+\)$/m);
    assert.equal(explain('small/fails', 'amount=6', '--agent', 'bot', '--model', 'opus').status, 0);
    assert.equal(explain('small/fails', '{"amount":6}', '--agent', 'bot', '--model', 'haiku').status, 1);

    const unknown = explain('small/ecko', '--agent', 'bot', '--json');
    assert.equal(unknown.status, 1);
    const { decision, reply } = JSON.parse(unknown.stdout) as Explanation;
    assert.deepEqual([decision, reply?.code], ['refuse', 'UnknownAction']);

    const nobody = explain('small/echo', '--agent', 'stranger');
    assert.equal(nobody.status, 1);
    assert.match(nobody.stdout, /declare the agent 'stranger' under agents/);
    const which = explain('small/echo');
    assert.equal(which.status, 2);
    assert.match(which.stderr, /--agent names who would call: bot, other/);
  });

  test('a call that would wait for a person is told as such, with the rule and its reason', (t) => {
    const cwd = folder(t);
    const deferred = "defer: small/echo\n        reason: 'ask the shop'";
    writeFileSync(join(cwd, 'recourse.yaml'), `agents:\n${rules('bot', [deferred])}tools:\n${smallServer()}`);
    const explain = (...words: string[]) => recourse(['explain', 'small/echo', ...words, '--offline'], { cwd });
    const told = explain();
    assert.equal(told.stderr.includes('bug'), false, told.stderr);
    assert.equal(told.status, 1, told.stderr);
    assert.match(told.stdout, /^‖ bot → small\/echo: it would be held, POLICY_DEFER$/m);
    const { decision, reply } = JSON.parse(explain('--json').stdout) as Explanation;
    assert.deepEqual([decision, reply?.code], ['hold', 'POLICY_DEFER']);
  });

  test('the time can be another, arguments are judged by the pinned schema, and what is not pinned is said', (t) => {
    const cwd = folder(t);
    const only = `agents:\n${rules('bot', ["permit: small/hang\n        when: now > timestamp('2030-01-01T00:00:00Z')"])}tools:\n${smallServer()}`;
    writeFileSync(join(cwd, 'recourse.yaml'), only);
    const at = (now: string) => recourse(['explain', 'small/hang', '--now', now], { cwd });
    const early = at('2029-12-31T23:59:59Z');
    assert.equal(early.status, 1, early.stderr);
    assert.match(early.stderr, /the tools of 'small' are not pinned/);
    assert.equal(at('2030-01-01T00:00:01Z').status, 0);
    assert.equal(at('tomorrow').status, 2);
    const lock = { inputSchema: { type: 'object', required: ['x'] }, sha256: '0'.repeat(64) };
    writeFileSync(
      join(cwd, 'recourse.lock'),
      JSON.stringify({ version: 1, servers: { small: { tools: { hang: lock } } } }),
    );
    const invalid = at('2031-01-01');
    assert.equal(invalid.status, 1);
    assert.match(invalid.stdout, /InputInvalid/);
    writeFileSync(join(cwd, 'recourse.yaml'), 'agnts: {}');
    const wrong = at('2031-01-01');
    assert.equal(wrong.status, 1);
    assert.match(wrong.stderr, /^recourse\.yaml:1:1 error /m);
  });
});

test('a gateway that runs explains the same as the files do', async (t) => {
  const up = await startGoverned(t, yaml);
  await up.ready();
  assert.equal(recourse(['pin'], { cwd: up.home }).status, 0);
  const ask = (words: readonly string[], env: Record<string, string> = {}) => {
    return recourse(['explain', ...words, '--json'], { cwd: up.home, env });
  };
  const told = (words: readonly string[]) => {
    const { rungs, reply, ...rest } = JSON.parse(ask(words).stdout) as Explanation;
    const said: Partial<ErrorReply> = { ...reply };
    const next = said.valid_next_actions?.toSorted();
    return { rungs, said: { ...said, call_id: '', valid_next_actions: next }, ...rest };
  };
  for (const words of [
    ['small/fails', 'amount=6', '--agent', 'bot', '--model', 'opus'],
    ['small/die', '--agent', 'bot'],
    ['nobody/knows', '--agent', 'other'],
  ])
    assert.deepEqual(told([...words, '--url', up.url]), told([...words, '--offline']), words.join(' '));

  const own = ask(['small/echo', '--url', up.url], { RECOURSE_KEY: up.keyOf('bot') });
  assert.equal(own.status, 0, own.stderr);
  assert.equal((JSON.parse(own.stdout) as Explanation).agent, 'bot', 'an agent asks for itself');
  const unnamed = ask(['small/echo', '--url', up.url]);
  assert.equal(unnamed.status, 1);
  assert.match(unnamed.stderr, /agent must be the name of an agent/);
  await up.stop();
  const gone = ask(['small/echo', '--agent', 'bot', '--url', up.url]);
  assert.equal(gone.status, 3, 'whoever names a gateway means that one');
  assert.match(gone.stderr, /no gateway is listening at/);
});
