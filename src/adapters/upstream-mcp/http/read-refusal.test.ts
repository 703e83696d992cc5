import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRedirect } from './read-refusal.ts';

const from = 'https://me:word@tools.example/mcp?key=secret';

test('an address is shown without what may be secret in it', () => {
  const cases: readonly [number, string | null, string | null][] = [
    [307, '/mcp/', 'https://tools.example/mcp/'],
    [308, '/mcp/?key=secret', 'https://tools.example/mcp/?…'],
    [302, 'http://you:word@other.example:8080/a#key', 'http://other.example:8080/a'],
    [307, 'javascript:alert(1)', null],
    [307, 'http://[', null],
    [307, null, null],
    [300, '/mcp/', null],
    [304, '/mcp/', null],
    [200, '/mcp/', null],
  ];
  for (const [status, location, shown] of cases) assert.equal(readRedirect(status, location, from), shown);
  assert.equal(readRedirect(307, `/${'a'.repeat(10_000)}`, from)?.length, 500);
});
