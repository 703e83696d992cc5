import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policyLines } from './policy-text.ts';

const shownIn = (text: string) => policyLines(text).lines.map(({ text: line }) => line);

test('only the sections of the policy are shown; servers and credentials are left out', () => {
  const file = [
    'tools:',
    '  shop: { mcp: { env: { KEY: "hunter2" } } }',
    'agents:',
    '  bot:',
    '    default: deny',
    'runtime:',
    '  store: x',
  ];
  assert.deepEqual(shownIn(file.join('\n')), [null, null, 'agents:', '  bot:', '    default: deny', null, null]);
});

test('what is written in another form than sections is left out as a whole', () => {
  assert.deepEqual(shownIn('{ tools: { shop: { mcp: { url: x } } },\n  agents: { bot: {} } }'), [null, null]);
  assert.deepEqual(shownIn('---\n- agents: x\n  agents: y'), [null, null, null]);
});

test('what looks like a secret in a shown line is masked', () => {
  const [, masked] = shownIn('agents:\n  bot: { when: args.token == "sk_live_0123456789abcdef" }');
  assert.ok(masked?.includes('[redacted]') && !masked.includes('sk_live_0123456789abcdef'), masked ?? '');
});

test('a comment inside a section is shown, and one between two sections is left out', () => {
  const file = '# of nobody\nagents:\n# a comment\n  bot: {}\n\n# the password is hunter2\ntools:\n# another\n  x: y';
  const shown = [null, 'agents:', '# a comment', '  bot: {}', null, null, null, null, null];
  assert.deepEqual(shownIn(file), shown);
});

test('a name in quotes is a section too', () => {
  assert.deepEqual(shownIn('"agents":\n  bot: {}\n"tools":\n  x: y'), ['"agents":', '  bot: {}', null, null]);
});
