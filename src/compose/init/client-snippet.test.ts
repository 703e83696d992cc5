import assert from 'node:assert/strict';
import test from 'node:test';
import { clientSnippets, placesIn, startedBy } from './client-snippet.ts';

const start = ['/opt/node', '/opt/recourse/bin/recourse.js'] as const;
const order = { config: '/srv/recourse.yaml', agent: 'helper', variables: [], start, places: {} };
const command = '/opt/node';
const args = ['/opt/recourse/bin/recourse.js', 'stdio', '--config', '/srv/recourse.yaml', '--agent', 'helper'];

test('each client gets the snippet in its own form, and names its files', () => {
  const files = [
    '~/.config/Claude/claude_desktop_config.json',
    '.vscode/mcp.json',
    '.cursor/mcp.json',
    '.vscode/mcp.json',
  ];
  const [first, second, ...more] = clientSnippets({ ...order, files });
  assert.deepEqual(more, []);
  assert.deepEqual(first?.files, ['~/.config/Claude/claude_desktop_config.json', '.cursor/mcp.json']);
  assert.deepEqual(JSON.parse(first?.text ?? ''), { mcpServers: { recourse: { command, args } } });
  assert.deepEqual(second?.files, ['.vscode/mcp.json']);
  assert.deepEqual(JSON.parse(second?.text ?? ''), {
    servers: { recourse: { type: 'stdio', command, args } },
  });
});

test('the file of a user of VS Code has its form too, on every system', () => {
  for (const file of [
    '~/.config/Code/User/mcp.json',
    '~/Library/Application Support/Code/User/mcp.json',
    '~\\AppData\\Roaming\\Code\\User\\mcp.json',
    '.vscode\\mcp.json',
  ]) {
    const [only, ...more] = clientSnippets({ ...order, files: [file] });
    assert.deepEqual(more, []);
    assert.deepEqual(Object.keys(JSON.parse(only?.text ?? '') as object), ['servers'], file);
  }
});

test('where no client was found there is none; variables are to be set', () => {
  assert.deepEqual(clientSnippets({ ...order, files: [], variables: ['SHOP_TOKEN'] }), []);
  const [only] = clientSnippets({ ...order, files: ['.mcp.json'], variables: ['SHOP_TOKEN'] });
  assert.deepEqual(JSON.parse(only?.text ?? ''), {
    mcpServers: { recourse: { command, args, env: { SHOP_TOKEN: '<its value>' } } },
  });
});

test('it starts what runs now: the same program, or npx where npx has fetched it', () => {
  assert.deepEqual(startedBy('/opt/node', '/opt/recourse/bin/recourse.js'), [
    '/opt/node',
    '/opt/recourse/bin/recourse.js',
  ]);
  const fetched = '/opt/cache/_npx/ab12/node_modules/recourse-gateway/bin/recourse.js';
  assert.deepEqual(startedBy('/opt/node', fetched), ['npx', '-y', 'recourse-gateway']);
});

test('what decides where the store lies is handed on', () => {
  const places = placesIn({ RECOURSE_STATE_DIR: '/state', XDG_STATE_HOME: '', HOME: '/opt/x' });
  const [only] = clientSnippets({ ...order, places, files: ['.mcp.json'] });
  assert.deepEqual(JSON.parse(only?.text ?? ''), {
    mcpServers: { recourse: { command, args, env: { RECOURSE_STATE_DIR: '/state' } } },
  });
});
