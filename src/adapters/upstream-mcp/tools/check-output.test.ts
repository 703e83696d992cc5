import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileSchema } from '../../../core/schema/compile-schema.ts';
import type { UpstreamResult } from '../../../ports/upstream.ts';
import { checkOutput } from './check-output.ts';
import { defaultMcpLimits } from '../mcp-limits.ts';
import { entryOf } from './tool-entry.ts';
import { failed } from '../interpret-answer.ts';

const priced = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };
const returned = (output: unknown): UpstreamResult => ({ kind: 'returned', output, errors: [] });

function judged(outputSchema: unknown, result: UpstreamResult): UpstreamResult {
  const connect = { kind: 'http', url: 'https://example.com/mcp', headers: {} } as const;
  const server = { name: 'shop', connect, timeoutMs: null, trustAnnotations: false, rules: [] };
  const tool = {
    name: 'buy',
    inputSchema: { type: 'object' },
    ...(outputSchema === undefined ? {} : { outputSchema }),
  };
  const parts = { limits: defaultMcpLimits, defaultTimeoutMs: 1, compile: compileSchema };
  const entry = entryOf(server, tool, parts);
  assert.ok(entry.ok, JSON.stringify(entry));
  return checkOutput(result, entry.entry, defaultMcpLimits);
}

test('a result that is what was promised, or of which nothing was promised, passes untouched', () => {
  const good = returned({ content: [], structuredContent: { price: 3, more: [null] } });
  const bare = returned({ content: [] });
  const wide = { type: 'object', properties: Object.fromEntries(Array.from({ length: 1_100 }, (_, at) => [at, {}])) };
  const cases = [
    [priced, good],
    [undefined, bare],
    [undefined, returned('not even an object')],
    // What cannot judge is no promise: the schema is a stranger's text.
    [{ type: 'strnig' }, bare],
    [{ $ref: 'https://example.com/elsewhere.json' }, bare],
    ['no schema', bare],
    [wide, bare],
    [priced, failed('threw', 'it failed by its own word')],
  ] as const;
  for (const [schema, result] of cases) assert.equal(judged(schema, result), result, JSON.stringify(schema));
  assert.equal(checkOutput(bare, null, defaultMcpLimits), bare);
});

test('a result that is not what was promised is malformed: which fields, never their values', () => {
  const cases = [
    [{ content: [], structuredContent: { price: 'secret' } }, '/price should be number'],
    [{ content: [], structuredContent: null }, 'the result should be object'],
    [{ content: [] }, 'the result should be in structuredContent'],
  ] as const;
  for (const [output, told] of cases) {
    const result = judged(priced, returned(output));
    assert.ok(result.kind === 'failed');
    const { kind, subject, errorType, message, effect, cause } = result.failure;
    assert.deepEqual([kind, subject, errorType, effect], ['schema_validation', 'response', 'OutputMalformed', null]);
    assert.equal(message, `the result of 'shop/buy' does not match its output schema: ${told}`);
    assert.deepEqual(JSON.parse(cause ?? '{}').result, output, 'the audit has all of it');
  }
});
