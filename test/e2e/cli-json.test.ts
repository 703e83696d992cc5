/** What commands print for programs has the names of the wire: snake_case, everywhere but in values of users. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { camelKeys } from '../support/camel-keys.ts';
import { recourse } from '../support/compiled-recourse.ts';
import { startGoverned } from '../support/governed-up.ts';
import { objectsIn } from '../support/recourse-process.ts';
import { rules, smallServer } from '../support/small-server.ts';

const yaml = `agents:
${rules('bot', ['permit: small/echo', 'defer: small/die', 'deny: small/hang', 'permit: small/nothing'])}tools:
${smallServer()}`;

const cases = `cases:
  - agent: bot
    call: small/die
    expect: defer
  - agent: bot
    call: small/echo
    expect: deny
`;

test('every command that prints JSON prints snake_case', async (t) => {
  const up = await startGoverned(t, yaml);
  await up.ready();
  const key = up.keyOf('bot');
  writeFileSync(join(up.home, 'a.recourse.test.yaml'), cases);
  const held = await up.ask('/v1/calls', { key, body: { tool: 'small/die' } });
  const approval = (held.body['resolution'] as { readonly approval_id: string }).approval_id;
  const call = String(held.body['call_id']);
  const commands: readonly (readonly string[])[] = [
    ['pin'],
    ['check'],
    ['test'],
    ['explain', 'small/die', '--agent', 'bot', '--url', up.url],
    ['explain', 'small/die', '--agent', 'bot', '--offline'],
    ['explain', 'small/hang', '--agent', 'bot', '--offline'],
    ['apply', '--url', up.url],
    ['status', '--url', up.url],
    ['calls', 'ls'],
    ['calls', 'show', call],
    ['approvals', 'ls', '--url', up.url],
    ['approvals', 'show', approval, '--url', up.url],
    ['approvals', 'deny', approval, '--reason', 'no', '--url', up.url],
    ['agents', 'ls'],
    ['agents', 'add', 'other'],
    ['sessions', 'ls'],
    ['audit', 'verify'],
    ['audit', 'tail'],
    ['init', '--from', 'none.json', '--dry-run'],
    ['primer'],
  ];
  const found = new Set<string>();
  for (const words of commands) {
    const { stdout, stderr } = recourse([...words, '--json'], { cwd: up.home });
    const printed = stdout.trim() === '' ? [] : asValues(stdout);
    assert.ok(printed.length > 0 || words[0] === 'sessions' || words[0] === 'init', `${words.join(' ')}: ${stderr}`);
    for (const value of printed) for (const name of camelKeys(value)) found.add(`${words.join(' ')}: ${name}`);
  }
  assert.deepEqual([...found], []);
  await up.stop();
});

/** One value, or one on each line. */
function asValues(text: string): readonly unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return objectsIn(text);
  }
}
