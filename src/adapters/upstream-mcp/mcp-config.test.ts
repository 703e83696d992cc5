import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkConfigs, type McpUpstreamConfig } from './mcp-config.ts';

const good: McpUpstreamConfig = {
  name: 'files',
  connect: { kind: 'http', url: 'https://example.com/mcp', headers: {} },
  timeoutMs: null,
  trustAnnotations: false,
  rules: [],
};
const rule = { match: 'pay', effect: 'keyed', timeoutMs: null, dedupeWindowMs: null } as const;

test('a configuration that cannot work is refused by the server’s name, with what to do', () => {
  const wrong: readonly [readonly McpUpstreamConfig[], RegExp][] = [
    [[{ ...good, name: 'a/b' }], /server 'a\/b': its name is not usable; use/],
    [[{ ...good, name: '' }], /its name is not usable/],
    [[good, good], /server 'files': its name is taken/],
    [[{ ...good, connect: { ...good.connect, url: 'files' } as McpUpstreamConfig['connect'] }], /its url is no http/],
    [
      [{ ...good, connect: { ...good.connect, url: 'file:///x' } as McpUpstreamConfig['connect'] }],
      /its url is no http/,
    ],
    [[{ ...good, connect: { kind: 'http', url: 'http://a', headers: { a: 'b\nc' } } }], /one of its headers/],
    [[{ ...good, connect: { kind: 'stdio', command: '', args: [], env: {}, cwd: null } }], /its command is empty/],
    [[{ ...good, rules: [rule] }], /rule 'pay' is 'keyed' without a window; set dedupe_window/],
  ];
  for (const [configs, message] of wrong)
    assert.throws(() => checkConfigs(configs), { name: 'McpConfigError', message });
  checkConfigs([good, { ...good, name: 'other', rules: [{ ...rule, dedupeWindowMs: 1_000 }] }]);
});
