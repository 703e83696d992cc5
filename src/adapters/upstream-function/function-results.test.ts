/** Whatever a body returns, nothing but plain JSON is passed on: it is what will be written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { using } from '../../../test/support/function-upstream.ts';
import { tool } from './tool.ts';

const base = { name: 'it', description: 'd', input: {} } as const;
const resultOf = (run: () => unknown, output?: z.ZodType) =>
  using([tool({ ...base, ...(output && { output }), run: async () => run() as never })], {}, (invoke) => invoke());

class Model {
  readonly #fields: object;
  constructor(fields: object) {
    this.#fields = fields;
  }
  toJSON(): object {
    return this.#fields;
  }
}

test('a result is passed on as what it says of itself by toJSON, and later changes of it are not seen', async () => {
  const card = { number: 4111 };
  const live = { when: new Date(0), at: new URL('http://x/?k=1'), model: new Model({ card }), text: Object('abc') };
  const result = await resultOf(() => live);
  card.number = 1;
  const model = { card: { number: 4111 } };
  const output = { when: '1970-01-01T00:00:00.000Z', at: 'http://x/?k=1', model, text: 'abc' };
  assert.deepEqual(result, { kind: 'returned', output, errors: [] });
});

test('what is no JSON is refused, and nothing of it is passed on', async () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  for (const odd of [circle, { list: new Map() }, { n: 1n }, [proxy]]) {
    const result = await resultOf(() => odd);
    assert.ok(result.kind === 'failed');
    const { kind, subject, errorType, message, given } = result.failure;
    assert.deepEqual([kind, subject, errorType], ['schema_validation', 'response', 'OutputMalformed']);
    assert.match(message, /^the result is not JSON at '/);
    assert.equal(given, undefined);
  }
});

test('a result that its schema refuses is carried as plain JSON, too', async () => {
  const result = await resultOf(() => new Model({ card: '4111' }), z.string());
  assert.deepEqual(result.kind === 'failed' && result.failure.given?.output, { card: '4111' });
});

test('a schema sees the object itself', async () => {
  const result = await resultOf(() => ({ at: new Date(0) }), z.object({ at: z.date() }));
  assert.deepEqual(result.kind === 'returned' && result.output, { at: '1970-01-01T00:00:00.000Z' });
});
