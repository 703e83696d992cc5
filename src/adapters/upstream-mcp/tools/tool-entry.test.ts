import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSpecType } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import type { JsonObject } from '../../../core/values/json.ts';
import { policyTool } from '../../../core/policy/rule-call.ts';
import { compileSchema } from '../../../core/schema/compile-schema.ts';
import type { McpRule, McpUpstreamConfig } from '../mcp-config.ts';
import { defaultMcpLimits } from '../mcp-limits.ts';
import { entryOf } from './tool-entry.ts';

const server: McpUpstreamConfig = {
  name: 'own',
  connect: { kind: 'http', url: 'https://example.com/mcp', headers: {} },
  timeoutMs: null,
  trustAnnotations: false,
  rules: [],
};
const parts = { limits: defaultMcpLimits, defaultTimeoutMs: 30_000, compile: compileSchema };
const rule = (match: string, more: Partial<McpRule>): McpRule => ({
  match,
  effect: null,
  timeoutMs: null,
  dedupeWindowMs: null,
  ...more,
});

function declared(config: Partial<McpUpstreamConfig>, listed: object = {}) {
  const result = entryOf({ ...server, ...config }, { name: 'pay', inputSchema: { type: 'object' }, ...listed }, parts);
  assert.ok(result.ok, JSON.stringify(result));
  const { effectClass, timeoutMs, dedupeWindowMs } = result.entry;
  return [effectClass, timeoutMs, dedupeWindowMs];
}

test('the first rule that matches speaks, then the server, then the gateway', () => {
  const readOnly = { annotations: { readOnlyHint: true } };
  assert.deepEqual(declared({}), ['plain', 30_000, null]);
  assert.deepEqual(declared({ timeoutMs: 9 }), ['plain', 9, null]);
  assert.deepEqual(declared({}, readOnly), ['plain', 30_000, null]);
  assert.deepEqual(declared({ trustAnnotations: true }, readOnly), ['pure', 30_000, null]);
  const liar = { annotations: { readOnlyHint: true, destructiveHint: true } };
  assert.deepEqual(declared({ trustAnnotations: true }, liar), ['plain', 30_000, null]);
  const rules = [rule('p*', { effect: 'keyed', dedupeWindowMs: 5 }), rule('pay', { effect: 'pure', timeoutMs: 7 })];
  assert.deepEqual(declared({ rules, timeoutMs: 9 }), ['keyed', 9, 5]);
  assert.deepEqual(declared({ rules: [rule('pay', { timeoutMs: 7 })], trustAnnotations: true }, readOnly), [
    'pure',
    7,
    null,
  ]);
  assert.deepEqual(declared({ rules: [rule('own/pay', { effect: 'pure' })] }), ['plain', 30_000, null]);
});

test('of a server that is pinned only what was pinned is believed', () => {
  const hinted = (annotations: object) => ({ annotations });
  const says = { read: hinted({ readOnlyHint: true }), destroys: hinted({ readOnlyHint: false }) };
  const pinned = (hints: object | null) => ({
    trustAnnotations: true,
    pinnedHints: new Map([['pay', hints as JsonObject | null]]),
  });
  assert.deepEqual(declared(pinned({ readOnlyHint: true }), says.destroys)[0], 'pure');
  assert.deepEqual(declared(pinned({ readOnlyHint: false }), says.read)[0], 'plain');
  assert.deepEqual(declared(pinned(null), says.read)[0], 'plain');
  assert.deepEqual(declared({ trustAnnotations: true, pinnedHints: new Map() }, says.read)[0], 'plain');
  const listed = { name: 'pay', inputSchema: { type: 'object' }, ...says.read };
  for (const [config, seen] of [
    [server, { readOnlyHint: true }],
    [{ ...server, ...pinned({ destructiveHint: true }) }, { destructiveHint: true }],
  ] as const) {
    const result = entryOf(config, listed, parts);
    assert.ok(result.ok);
    assert.deepEqual(policyTool(result.entry).annotations, seen, 'rules see the same');
  }
});

test('a tool that goes on working after its answer is declared, and its manifest says so', () => {
  const entryWith = (rules: readonly McpRule[]) => {
    const result = entryOf({ ...server, rules }, { name: 'pay', inputSchema: { type: 'object' } }, parts);
    assert.ok(result.ok);
    return result.entry;
  };
  const [plain, later] = [entryWith([rule('pay', {})]), entryWith([rule('pay', { reportsWithinMs: 600_000 })])];
  assert.deepEqual([plain.reportsWithinMs, later.reportsWithinMs], [null, 600_000]);
  assert.match(later.manifest, /"reports_within_ms":600000/);
  assert.equal(plain.manifest, entryWith([]).manifest);
});

test('a tool that changes has another manifest, one that does not has the same', () => {
  const manifestOf = (listed: object) => {
    const result = entryOf(server, { name: 'pay', inputSchema: { type: 'object' }, ...listed }, parts);
    return result.ok ? result.entry.manifest : null;
  };
  assert.equal(manifestOf({ title: 'a', _meta: {} }), manifestOf({ _meta: {}, title: 'a' }));
  assert.notEqual(manifestOf({ title: 'a' }), manifestOf({ title: 'b' }));
  assert.notEqual(manifestOf({}), manifestOf({ inputSchema: { type: 'object', required: ['x'] } }));
});

test('whatever a server lists, there is an entry or a reason', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.anything(),
        fc.record(
          { name: fc.string(), inputSchema: fc.object(), description: fc.anything() },
          { requiredKeys: ['name'] },
        ),
      ),
      (listed) => {
        const result = entryOf(server, listed, parts);
        if (result.ok) assert.equal(typeof result.entry.description, 'string');
        else assert.ok(result.reason.length > 0 && result.tool.length <= 80);
      },
    ),
  );
});

test('what no client could read of a tool is left out of it, and what is listed next to it stays', () => {
  const said = { title: 'Pay', 'vendor/mark': null, annotations: { readOnlyHint: true }, _meta: { a: 1 } };
  const garbled = { description: null, outputSchema: null, icons: 'none', execution: 7 };
  const listingOf = (more: object) => {
    const result = entryOf(server, { name: 'pay', inputSchema: {}, ...said, ...more }, parts);
    assert.ok(result.ok, JSON.stringify(result));
    return result.entry.listing;
  };
  assert.deepEqual(listingOf(garbled), said);
  assert.deepEqual(listingOf({ description: 'Pays.' }), { description: 'Pays.', ...said });
  const { annotations: _gone, ...others } = said;
  assert.deepEqual(listingOf({ annotations: 'read only' }), others);
  assert.deepEqual(declared({ trustAnnotations: true }, { annotations: { readOnlyHint: true, title: 5 } })[0], 'plain');
  // Whatever it is: one tool that cannot be read costs a client the tools of every server.
  const anyTool = fc.record({
    name: fc.constant('pay'),
    inputSchema: fc.oneof(fc.constant({}), fc.record({ properties: fc.anything(), required: fc.anything() })),
    title: fc.anything(),
    description: fc.anything(),
    outputSchema: fc.anything(),
    annotations: fc.anything(),
    icons: fc.anything(),
    execution: fc.anything(),
    _meta: fc.anything(),
  });
  const isReadable = (listed: object) => {
    const result = entryOf(server, listed, parts);
    if (!result.ok) return true;
    const { name, listing, inputSchema } = result.entry;
    return isSpecType.Tool({ ...listing, name, inputSchema: { ...inputSchema, type: 'object' } });
  };
  fc.assert(fc.property(anyTool, isReadable));
});

test('a schema with too many parts is not compiled at all', () => {
  const properties = Object.fromEntries(Array.from({ length: 1_200 }, (_, at) => [`p${at}`, {}]));
  const compile = () => assert.fail('compiled');
  const result = entryOf(server, { name: 'wide', inputSchema: { properties } }, { ...parts, compile });
  assert.match(result.ok ? '' : result.reason, /more than 1000 parts/);
});
