import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { timesDrawn } from '../../../test/support/times-drawn.ts';
import { matchesGlob } from '../../adapters/upstream-mcp/tools/matches-glob.ts';
import { knownServers } from '../../config/known-servers.ts';
import { type LockedTool, readLock, writeLock } from '../../config/lock.ts';
import { readConfig } from '../../config/read-config.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { compileToolPattern, matchesTool } from '../../core/policy/tool-pattern.ts';
import type { FoundServer } from './client-servers.ts';
import { declareTools } from './declare-tools.ts';
import { starterFile } from './starter-file.ts';

const files = '@modelcontextprotocol/server-filesystem';
const started = (command: string, ...args: string[]): FoundServer => ({
  name: 'own',
  from: 'a test',
  connect: { command, args, env: {}, cwd: null },
});
const tool = (annotations: JsonObject | null, sha256 = '0'.repeat(64)): LockedTool => ({
  description: null,
  inputSchema: { type: 'object' },
  outputSchema: null,
  annotations,
  sha256,
});

test('only what reads, and does not destroy, is pure and permitted', () => {
  const cases: readonly [JsonObject | null, string][] = [
    [{ readOnlyHint: true }, 'pure permit'],
    [{ readOnlyHint: true, destructiveHint: false }, 'pure permit'],
    [{ readOnlyHint: true, destructiveHint: true }, 'plain defer'],
    [{ readOnlyHint: false }, 'plain defer'],
    [{ readOnlyHint: 'true' }, 'plain defer'],
    [{ readOnlyHint: 1 }, 'plain defer'],
    [{ idempotentHint: true, destructiveHint: false }, 'plain defer'],
    [{}, 'plain defer'],
    [null, 'plain defer'],
  ];
  for (const [annotations, expected] of cases) {
    const { tools } = declareTools(started('own-mcp'), new Map([['act', tool(annotations)]]));
    assert.deepEqual(
      tools.map(({ effect, decision, onError }) => [`${effect} ${decision}`, onError]),
      [[expected, null]],
      JSON.stringify(annotations),
    );
  }
});

test('what is known of a public server needs its package and its hash, whatever it is called', () => {
  const { sha256 = '' } = knownServers[files]?.['edit_file'] ?? {};
  const declared = (server: FoundServer, hash: string) =>
    declareTools(server, new Map([['edit_file', tool({ readOnlyHint: false }, hash)]])).tools[0]?.onError;
  assert.equal(declared(started('npx', '-y', files, '.'), sha256), 'none');
  assert.equal(declared(started('npx', '-y', files, '.'), '1'.repeat(64)), null);
  assert.equal(declared(started('npx', '-y', 'evil-filesystem', '.'), sha256), null);
  assert.equal(declared({ ...started('evil'), name: files }, sha256), null);
});

test('whatever a tool is called, what is written about it means no other tool', () => {
  const odd = fc.oneof(
    fc.constantFrom(
      '*',
      '**',
      '?',
      'read_*',
      'a b',
      '',
      '__proto__',
      'a/b',
      `${'a/'.repeat(60)}a`,
      'a//b',
      '/a',
      '${HOME}',
      '"',
      ': {',
      '# x',
      'é',
      'a\u202eb',
    ),
    fc.string({ unit: 'grapheme', maxLength: 140 }),
  );
  fc.assert(
    fc.property(fc.uniqueArray(odd, { maxLength: 6 }), fc.string(), (names, other) => {
      const server = started('own-mcp');
      const listed = new Map(names.map((name) => [name, tool({ readOnlyHint: true })]));
      const declared = declareTools(server, listed);
      assert.deepEqual([...declared.tools.map(({ name }) => name), ...declared.unnamed].toSorted(), names.toSorted());
      const text = starterFile({ servers: [{ ...server, ...declared, problem: null, leftOut: [] }], skipped: [] });
      const { config, problems } = readConfig(text, 'recourse.yaml', { env: {} });
      assert.deepEqual(problems, []);
      const lock = writeLock({
        version: 1,
        servers: new Map([['own', new Map([...listed].filter(([name]) => isOffered(name)))]]),
      });
      assert.deepEqual(readLock(lock, 'recourse.lock').problems, []);
      const written = declared.tools.map(({ name }) => name);
      assert.deepEqual(
        config.tools[0]?.rules.map(({ match }) => match),
        written,
      );
      const permitted = config.policy?.agents[0]?.rules.map(({ match }) => match) ?? [];
      for (const name of [...names, other]) {
        const isWritten = written.includes(name);
        assert.equal(
          written.some((match) => matchesGlob(match, name)),
          isWritten,
          name,
        );
        assert.equal(
          permitted.some((match) => means(match, `own/${name}`)),
          isWritten,
          name,
        );
      }
    }),
    { numRuns: timesDrawn(500, 100) },
  );
});

/** A tool with any other name is left out of what its server lists. */
const isOffered = (name: string) => name !== '' && !/\p{C}/u.test(name);

function means(pattern: string, name: string): boolean {
  const compiled = compileToolPattern(pattern);
  assert.ok(compiled.ok, pattern);
  return matchesTool(compiled.pattern, name);
}
