/**
 * The official servers behind one `recourse up`: every tool is listed as its own server lists it, and answers what it
 * answers by itself, whichever official client asks.
 */
import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { type Case, callsOnEverything, callsOnFiles, callsOnMemory } from '../../support/servers-calls.ts';
import {
  type Answer,
  type Asking,
  clients,
  directClient,
  directHttpClient,
  listedBy,
} from '../../support/servers-clients.ts';
import { startUp } from '../../support/servers-gateway.ts';
import { createHome, everythingOverHttp } from '../../support/servers-real.ts';

test('what a server says passes through the gateway as it is', async (t) => {
  const { url } = await everythingOverHttp(t);
  const [home, alone] = [createHome(t), createHome(t)];
  const { everything, files, memory } = home;
  const [up, ...direct] = await Promise.all([
    startUp(t, home.path, {
      tools: {
        everything: { mcp: everything },
        remote: { mcp: { url } },
        files: { mcp: files },
        memory: { mcp: memory },
      },
    }),
    directClient(t, everything),
    directHttpClient(t, url),
    directClient(t, alone.files),
    directClient(t, alone.memory),
  ] as const);
  const servers = ['everything', 'remote', 'files', 'memory'] as const;
  const lists = await Promise.all(servers.map((name, at) => listedBy(name, direct[at] ?? direct[0])));
  await t.test('the servers have what this test is about', () => {
    for (const { length } of lists) assert.ok(length > 5);
    for (const field of ['title', 'description', 'outputSchema', 'annotations', 'execution'])
      assert.ok(
        lists.flat().some((tool) => field in tool),
        field,
      );
  });
  const expected = {
    everything: await ask(direct[0], callsOnEverything),
    remote: await ask(direct[1], callsOnEverything),
    files: await ask(direct[2], callsOnFiles(alone.folder)),
    memory: await ask(direct[3], callsOnMemory),
  };

  for (const [name, connect] of Object.entries(clients))
    await t.test(`to ${name}`, async (each) => {
      home.tidy();
      const client = await connect(each, up.url);
      const { tools } = await client.raw('tools/list');
      const passedOn = (tools as readonly Answer[]).map(asPromised);
      assert.deepEqual(passedOn, name.includes('2026') ? lists.flat().map(withoutTasks) : lists.flat());
      // Its own schemas refuse nothing; and now it checks what is structured against the schema that was listed.
      const understood = (await client.listTools()).map((tool) => essentials(asPromised(tool)));
      assert.deepEqual(understood, lists.flat().map(essentials));
      const compare = async (server: keyof typeof expected, calls: readonly Case[]) => {
        const got = await ask(client, calls, `${server}__`);
        for (const [at, { tool, args }] of calls.entries()) {
          const { passed, told } = unwrapped(got[at] ?? {});
          const direct = plain(expected[server][at] ?? {}, alone.folder);
          assert.deepEqual(plain(passed, home.folder), direct, `${tool} ${JSON.stringify(args)}`.slice(0, 200));
          assert.match(String(told['call_id']), /^call_/, tool);
        }
      };
      await compare('everything', callsOnEverything);
      await compare('remote', callsOnEverything);
      await compare('files', callsOnFiles(home.folder));
      await compare('memory', callsOnMemory);
      assert.deepEqual(contentsOf(home.folder), contentsOf(alone.folder));
      await checkedByTheClient(each, client);
    });
});

/** Revision 2026-07-28 has no `execution` of tools any more, and the SDK takes it out of every list. */
function withoutTasks({ execution: _, ...tool }: Answer): Answer {
  return tool;
}

const essentials = (tool: Answer) => ['name', 'title', 'description', 'inputSchema'].map((field) => tool[field]);

async function ask(client: Asking, calls: readonly Case[], prefix = ''): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const { tool, args } of calls) {
    const token = { progressToken: `token-${answers.length}` };
    answers.push(await client.raw('tools/call', { name: prefix + tool, arguments: args, _meta: token }));
  }
  return answers;
}

/**
 * Beside the server's own result: what the gateway tells of the call, and the kind of result of revision 2026-07-28.
 */
function unwrapped(answer: Answer): { passed: Answer; told: Answer } {
  const passed = { ...answer };
  const meta = { ...(answer['_meta'] as Answer) };
  const told = meta['recourse/reply'] as Answer;
  for (const ours of ['recourse/reply', 'io.modelcontextprotocol/serverInfo']) delete meta[ours];
  for (const ours of ['_meta', 'resultType']) delete passed[ours];
  return { passed: Object.keys(meta).length === 0 ? passed : { ...passed, _meta: meta }, told };
}

/** Without the folder's name and the hour, which are different ones. */
function plain(answer: Answer, folder: string): unknown {
  const text = JSON.stringify(answer, readable).replaceAll(folder, '<folder>');
  const times = /\d{1,2}:\d{2}:\d{2}( [AP]M)?|\d{4}-\d\d-\d\dT[\d:.]+Z|\w{3} \w{3} \d\d \d{4} [\d:]+ GMT\S* \([^)]*\)/g;
  return JSON.parse(text.replace(times, '<time>'));
}

/** The everything server writes the hour into its blobs, too. */
function readable(field: string, value: unknown): unknown {
  if (field !== 'blob' || typeof value !== 'string') return value;
  const bytes = Buffer.from(value, 'base64');
  return isUtf8(bytes) ? bytes.toString() : value;
}

function contentsOf(folder: string): readonly (readonly [string, string])[] {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true });
  return names
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((file) => [path.relative(folder, file), readFileSync(file, 'base64')] as const)
    .sort();
}

/** As agents do it, with the schemas of the client in between. */
async function checkedByTheClient(t: TestContext, client: Asking): Promise<void> {
  await t.test('whose own schemas find nothing wrong with the results', async () => {
    const weather = await client.callTool('everything__get-structured-content', { location: 'Chicago' });
    assert.deepEqual(Object.keys(weather['structuredContent'] as object).sort(), [
      'conditions',
      'humidity',
      'temperature',
    ]);
    const image = await client.callTool('remote__get-tiny-image', {});
    assert.ok((image['content'] as readonly Answer[]).some(({ type }) => type === 'image'));
  });
}

/** What is listed allows the gateway's envelope beside what the server promised; apart from that it is the server's. */
function asPromised(tool: Answer): Answer {
  const { outputSchema } = tool as { outputSchema?: { anyOf?: readonly Answer[] } };
  if (outputSchema === undefined) return tool;
  const { anyOf, type: _type, ...rest } = outputSchema as Record<string, unknown>;
  assert.ok(Array.isArray(anyOf) && anyOf.length === 2, JSON.stringify(outputSchema));
  return { ...tool, outputSchema: { ...rest, ...(anyOf[0] as Answer) } };
}
