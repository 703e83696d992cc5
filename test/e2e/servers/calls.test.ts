/** The official servers behind one `recourse up`: a tool answers through the gateway what it answers by itself. */
import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { type Case, callsOnEverything, callsOnFiles, callsOnMemory } from '../../support/servers-calls.ts';
import { type Answer, type Asking, clients, directClient, directHttpClient } from '../../support/servers-clients.ts';
import { startUp } from '../../support/servers-gateway.ts';
import { createHome, everythingOverHttp, freePort } from '../../support/servers-real.ts';

test('a call through the gateway is answered as the server answers it', async (t) => {
  const { url } = await everythingOverHttp(t, await freePort());
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
      // From now on the client checks what is structured against the schema that was listed.
      await client.listTools();
      const compare = async (server: keyof typeof expected, calls: readonly Case[]) => {
        const got = await ask(client, calls, `${server}/`);
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

async function ask(client: Asking, calls: readonly Case[], prefix = ''): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const { tool, args } of calls) {
    const token = { progressToken: `token-${answers.length}` };
    answers.push(await client.raw('tools/call', { name: prefix + tool, arguments: args, _meta: token }));
  }
  return answers;
}

/** Beside the server's own result: what the gateway tells of the call, and the kind of result of revision 2026-07-28. */
function unwrapped(answer: Answer): { passed: Answer; told: Answer } {
  const { _meta: meta, resultType: _, ...passed } = answer;
  const {
    'recourse/reply': told,
    'io.modelcontextprotocol/serverInfo': __,
    ...theirs
  } = meta as Record<string, Answer>;
  return { passed: Object.keys(theirs).length === 0 ? passed : { ...passed, _meta: theirs }, told: told ?? {} };
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
  await t.test('whose own schemas find nothing wrong', async () => {
    const weather = await client.callTool('everything/get-structured-content', { location: 'Chicago' });
    assert.deepEqual(Object.keys(weather['structuredContent'] as object).sort(), [
      'conditions',
      'humidity',
      'temperature',
    ]);
    const image = await client.callTool('remote/get-tiny-image', {});
    assert.ok((image['content'] as readonly Answer[]).some(({ type }) => type === 'image'));
  });
}
