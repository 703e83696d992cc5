/** What `up` says of its servers while it runs: late connects, deaths with the last words of the child, restarts. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { startGoverned } from '../support/governed-up.ts';
import { connectHttp } from '../support/mcp-connect.ts';
import { folder } from '../support/recourse-process.ts';
import { gatedServer } from '../support/small-server.ts';

test('a server that comes late, dies and comes back is told in a line each', { timeout: 120_000 }, async (t) => {
  const home = folder(t);
  const gate = path.join(home, 'gate');
  const up = await startGoverned(t, `tools:\n${gatedServer(gate)}`, ['--agent', 'local'], home);
  await up.ready();
  await eventually('the screen', async () => /✗ small +it ended by itself with exit code 1/.test(up.said()));
  writeFileSync(gate, '');
  const says = (line: RegExp) => eventually(`${line}`, async () => line.test(up.said()));
  await says(/^recourse: server 'small' is connected now: \d+ tools$/m);
  const { client } = await connectHttp(t, new URL(`${up.url}/mcp`), '2025-11-25');
  await client.callTool({ name: 'small__die', arguments: {} });
  await says(
    /^recourse: server 'small' was lost: it was ended by SIGKILL; it said: .*started as .*; it is tried again$/m,
  );
  await says(/^recourse: server 'small' is connected again: \d+ tools$/m);
  const status = await up.ask('/v1/status', { key: up.operatorKey() });
  assert.doesNotMatch(JSON.stringify(status.body), /started as/, 'what a child says is for the terminal alone');
  assert.equal(await up.stop(), 0);
});
