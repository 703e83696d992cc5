/**
 * The table of well-known servers against the servers themselves: the same tools, the same hashes, and classes that
 * they bear out.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { listServers } from '../../../src/compose/upstreams/list-servers.ts';
import { knownServers, packageStarted } from '../../../src/config/known-servers.ts';
import { createHome } from '../../support/servers-real.ts';
import { realProgram, stdioServer } from '../../support/upstream-mcp.ts';

test('the table says what the servers list', async (t) => {
  const { folder } = createHome(t);
  const programs = {
    everything: [realProgram('everything')],
    filesystem: [realProgram('filesystem'), folder],
    memory: [realProgram('memory')],
  };
  const listed = await listServers(Object.entries(programs).map(([name, args]) => stdioServer(name, args)));
  assert.deepEqual(
    Object.keys(knownServers).toSorted(),
    Object.keys(programs).map((name) => `@modelcontextprotocol/server-${name}`),
  );
  for (const server of listed) {
    assert.ok('tools' in server, JSON.stringify(server));
    const name = packageStarted('node', programs[server.name as keyof typeof programs]);
    const known = knownServers[name ?? ''] ?? {};
    const hashes = [...server.tools].map(([tool, { sha256 }]) => [tool, sha256]);
    assert.deepEqual(
      Object.fromEntries(Object.entries(known).map(([tool, { sha256 }]) => [tool, sha256])),
      Object.fromEntries(hashes),
      `${path.basename(name ?? '')}: write these hashes into src/config/known-servers.ts, and judge each tool that is new or changed`,
    );
    for (const [tool, { annotations }] of server.tools)
      assert.equal(known[tool]?.effect === 'pure', annotations?.['readOnlyHint'] === true, tool);
  }
});
