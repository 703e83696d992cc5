/** All the official servers behind one `recourse up`: each tool is listed as its own server lists it, in every client. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type Answer, clients, directClient, directHttpClient, listedBy } from '../../support/servers-clients.ts';
import { startUp } from '../../support/servers-gateway.ts';
import { createHome, everythingOverHttp, freePort } from '../../support/servers-real.ts';

test('one gateway lists the tools of all its servers, each as it is', async (t) => {
  const home = createHome(t);
  const { url } = await everythingOverHttp(t, await freePort());
  const { everything, files, memory } = home;
  const [up, ...direct] = await Promise.all([
    startUp(t, home.path, {
      tools: {
        everything: { mcp: everything },
        remote: { mcp: { url } },
        files: { mcp: files, tools: { 'read_*': { effect: 'pure' } } },
        memory: { mcp: memory },
      },
    }),
    directClient(t, everything),
    directHttpClient(t, url),
    directClient(t, files),
    directClient(t, createHome(t).memory),
  ]);
  const servers = ['everything', 'remote', 'files', 'memory'];
  const lists = await Promise.all(direct.map((client, at) => listedBy(servers[at] ?? '', client)));
  const expected = lists.flat();

  await t.test('the servers have what these tests are about', () => {
    assert.deepEqual(
      lists.map(({ length }) => length > 5),
      [true, true, true, true],
    );
    for (const field of ['title', 'description', 'outputSchema', 'annotations', 'execution'])
      assert.ok(
        expected.some((tool) => field in tool),
        field,
      );
  });

  for (const [name, connect] of Object.entries(clients))
    await t.test(`to ${name}`, async (each) => {
      const client = await connect(each, up.url);
      const { tools } = await client.raw('tools/list');
      assert.deepEqual(tools, name.includes('2026') ? expected.map(withoutTasks) : expected);
      // And its own schemas find nothing to refuse.
      assert.deepEqual(
        (await client.listTools()).map((tool) => [tool['name'], tool['title'], tool['inputSchema']]),
        expected.map((tool: Answer) => [tool['name'], tool['title'], tool['inputSchema']]),
      );
    });
});

/** Revision 2026-07-28 has no `execution` of tools any more, and the SDK takes it out of every list. */
function withoutTasks({ execution: _, ...tool }: Answer): Answer {
  return tool;
}
