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
import { realProgram } from '../support/upstream-mcp.ts';

const yaml = `agents:
${rules('bot', ['permit: small/echo', 'defer: small/die', 'deny: small/hang', 'permit: small/nothing', 'permit: door/*'])}tools:
${smallServer()}workflows:
  door:
    actions: { open: {}, shut: {} }
    initial: closed
    states: { closed: { on: { open: opened } }, opened: { on: { shut: closed } } }
`;

const cases = `cases:
  - name: as it is
    agent: bot
    call: small/die
    expect: defer
  - name: as it is not
    agent: bot
    call: small/echo
    expect: deny
`;

const client = { mcpServers: { other: { command: process.execPath, args: [realProgram('memory')] } } };

test('every command that prints JSON prints snake_case', async (t) => {
  const up = await startGoverned(t, yaml);
  await up.ready();
  const key = up.keyOf('bot');
  writeFileSync(join(up.home, 'a.recourse.test.yaml'), cases);
  writeFileSync(join(up.home, 'client.json'), JSON.stringify(client));
  const held = await up.ask('/v1/calls', { key, body: { tool: 'small/die' } });
  const approval = (held.body['resolution'] as { readonly approval_id: string }).approval_id;
  const call = String(held.body['call_id']);
  const opened = await up.ask('/v1/sessions', { key, body: { workflow: 'door' } });
  const session = String(opened.body['session']);
  const stepped = await up.ask(`/v1/sessions/${session}/steps`, { key, body: { action: 'open' } });
  assert.equal(stepped.status, 200, JSON.stringify(stepped.body));
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
    ['sessions', 'show', session],
    ['sessions', 'tail', session],
    ['sessions', 'diff', session, '0'],
    ['audit', 'verify'],
    ['audit', 'tail'],
    ['init', '--from', 'client.json', '--dry-run', '--config', 'other.yaml'],
    ['primer'],
  ];
  const found = new Set<string>();
  const run = (words: readonly string[]): string => {
    const { stdout, stderr } = recourse([...words, '--json'], { cwd: up.home });
    const printed = stdout.trim() === '' ? [] : asValues(stdout);
    assert.ok(printed.length > 0, `${words.join(' ')}: ${stderr}`);
    for (const value of printed) for (const name of camelKeys(value)) found.add(`${words.join(' ')}: ${name}`);
    return stdout;
  };
  const said = new Map(commands.map((words) => [words[0] ?? '', run(words)]));
  // What they say where something is wrong is printed above; these are what they say where it is right.
  assert.match(said.get('test') ?? '', /as it is not/, 'the cases were run');
  assert.match(said.get('init') ?? '', /other/, 'the server was listed');
  up.write(yaml.replace('- permit: small/nothing', '- permit: small/fails'));
  assert.match(run(['apply', '--url', up.url]), /"applied":true.*small\/fails/);
  run(['check']);
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
