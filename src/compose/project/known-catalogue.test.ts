/**
 * What is known of tools without starting their servers: pinned ones as their servers listed them, others as declared.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { writeLock } from '../../config/lock.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { knownCatalogue } from './known-catalogue.ts';
import { loadProject } from './load-project.ts';

const config = `tools:
  pay:
    mcp: { url: https://pay.example.com/mcp }
    annotations: trust
    tools: { get_*: { effect: pure }, note: { reach: local_write } }
workflows:
  shop:
    initial: open
    actions:
      order: { input: { type: object, properties: { drink: { enum: [tea] } } } }
      refund: { tool: pay/refund }
    states: { open: { on: { order: open, refund: done } }, done: { type: final } }
`;
const schema: JsonObject = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] };

async function catalogueOf(t: TestContext, text: string, isPinned: boolean) {
  const cwd = mkdtempSync(path.join(tmpdir(), 'recourse-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(path.join(cwd, 'recourse.yaml'), text);
  const rest = { description: null, outputSchema: null, sha256: '0'.repeat(64) };
  const hints = { readOnlyHint: false, destructiveHint: false, openWorldHint: true };
  const tools = new Map([['refund', { inputSchema: schema, annotations: hints, ...rest }]]);
  if (isPinned)
    writeFileSync(path.join(cwd, 'recourse.lock'), writeLock({ version: 1, servers: new Map([['pay', tools]]) }));
  const loaded = await loadProject({ cwd });
  assert.ok(loaded.ok, JSON.stringify(loaded));
  return knownCatalogue(loaded.project);
}

test('pinned tools are what their server listed, and actions with a body of their own stand beside them', async (t) => {
  const { tools, workflows, toolNamed, isPinned, refusalOf } = await catalogueOf(t, config, true);
  assert.deepEqual(
    tools?.map(({ name, reach, inputSchema }) => [name, reach, inputSchema]),
    [['pay/refund', 'network', schema]],
  );
  const actions = [...(workflows.get('shop')?.actions ?? [])].map(([name, { policyName }]) => [name, policyName]);
  assert.deepEqual(actions, [
    ['order', 'shop/order'],
    ['refund', 'pay/refund'],
  ]);
  assert.deepEqual(['pay/refund', 'shop/order', 'pay/note', 'shop/refund'].map(isPinned), [true, true, false, false]);
  assert.equal(toolNamed('pay/refund').host, 'pay.example.com');
  assert.equal(refusalOf('pay/refund', { amount: 1 }), null);
  assert.match(refusalOf('pay/refund', {}) ?? '', /amount/);
  assert.match(refusalOf('shop/order', { drink: 'gin' }) ?? '', /drink/);
  assert.equal(refusalOf('pay/note', { anything: 1 }), null);
});

test('a tool that is not pinned is what the file declares, or the worst', async (t) => {
  const { toolNamed } = await catalogueOf(t, config, true);
  const known = (name: string) => [toolNamed(name).effect, toolNamed(name).reach, toolNamed(name).host];
  assert.deepEqual(known('pay/get_x'), ['pure', 'read_only', 'pay.example.com']);
  assert.deepEqual(known('pay/note'), ['plain', 'local_write', 'pay.example.com']);
  assert.deepEqual(known('pay/zzz'), ['plain', 'destructive', 'pay.example.com']);
  assert.deepEqual(known('elsewhere/zzz'), ['plain', 'destructive', null]);
});

test('which tools there are is known only if every server is pinned, and there is anything at all', async (t) => {
  assert.equal((await catalogueOf(t, config, false)).tools, null);
  assert.equal((await catalogueOf(t, 'runtime: {}\n', false)).tools, null);
  const own = config.slice(config.indexOf('workflows:')).replace('tool: pay/refund', '');
  assert.deepEqual((await catalogueOf(t, own, false)).tools, []);
});
