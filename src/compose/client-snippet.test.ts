import assert from 'node:assert/strict';
import test from 'node:test';
import { clientSnippets } from './client-snippet.ts';

const order = { config: '/srv/recourse.yaml', agent: 'helper', variables: [] };
const args = ['-y', 'recourse-gateway', 'stdio', '--config', '/srv/recourse.yaml', '--agent', 'helper'];

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
  assert.deepEqual(JSON.parse(first?.text ?? ''), { mcpServers: { recourse: { command: 'npx', args } } });
  assert.deepEqual(second?.files, ['.vscode/mcp.json']);
  assert.deepEqual(JSON.parse(second?.text ?? ''), {
    servers: { recourse: { type: 'stdio', command: 'npx', args } },
  });
});

test('where no client was found there is none; variables are to be set', () => {
  assert.deepEqual(clientSnippets({ ...order, files: [], variables: ['SHOP_TOKEN'] }), []);
  const [only] = clientSnippets({ ...order, files: ['.mcp.json'], variables: ['SHOP_TOKEN'] });
  assert.deepEqual(JSON.parse(only?.text ?? ''), {
    mcpServers: { recourse: { command: 'npx', args, env: { SHOP_TOKEN: '<its value>' } } },
  });
});
