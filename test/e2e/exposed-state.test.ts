/**
 * Servers that are pointed at the gateway's own files are told of, and what they read of its keys is masked. Real
 * servers.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { startGoverned } from '../support/governed-up.ts';
import { folder, objectsIn, recourse, storeIn } from '../support/recourse-process.ts';
import { realProgram } from '../support/upstream-mcp.ts';

const node = JSON.stringify(process.execPath);
const filesystem = (...args: string[]) =>
  `tools:\n  files:\n    mcp: { command: ${node}, args: ${JSON.stringify([realProgram('filesystem'), ...args])} }\n`;
/** Started in a folder that holds nothing of ours: only its arguments lead there. */
const apart = (...args: string[]) => filesystem(...args).replace(/ \}\n$/, ', cwd: safe }\n');
const reads = 'agents:\n  bot: { rules: [{ permit: files/read_* }] }\n';

const warned = (home: string, yaml: string, env: Record<string, string> = {}) => {
  writeFileSync(join(home, 'recourse.yaml'), yaml);
  const { stdout } = recourse(['check', '--json'], { cwd: home, env });
  return objectsIn(stdout)
    .filter(({ kind, message }) => kind === 'warning' && /can reach|is given/.test(String(message)))
    .map(({ line, message }) => `${String(line)} ${String(message)}`);
};

test('check: a server that is pointed at the store, its keys or its folder, however it is told, is warned of with its line', (t) => {
  const home = folder(t);
  const safe = join(home, 'safe');
  mkdirSync(safe);
  symlinkSync(home, join(safe, 'link'));
  const here = 'runtime: { store: recourse.db }\n';
  assert.deepEqual(warned(home, filesystem('./safe')), []);
  assert.deepEqual(warned(home, filesystem('.')), [], 'the state folder is elsewhere');
  const [one = '', ...others] = warned(home, here + filesystem('.'));
  assert.deepEqual(others, []);
  assert.equal(
    one,
    `3 the server 'files' can reach the operator's key ('${home}/recourse.db.token') through its argument 2, '.': whoever calls it could read them`,
  );
  assert.deepEqual(warned(home, here + apart('.', './x', '~', `${home}/recourse.db.other`)), []);
  const pointed: readonly string[] = [
    apart('/'),
    apart(home),
    apart('./link'),
    apart('..'),
    apart(`--root=${home}`),
    apart('-v', `${home}:/mnt:ro`),
    apart(`file://${home}`),
    apart(`sh -c 'cat /etc/hosts ${home}'`),
    apart('../recourse.db.keys'),
    `tools:\n  files:\n    mcp: { command: ${node}, args: [x.js], cwd: . }\n`,
    `tools:\n  files:\n    mcp: { command: ${node}, args: [x.js] }\n`,
    `tools:\n  files:\n    mcp: { command: ${node}, args: [x.js], cwd: safe, env: { ROOT: ${home} } }\n`,
  ];
  for (const each of pointed) assert.equal(warned(home, here + each).length, 1, each);
  const { href } = pathToFileURL(join(home, 'a b'));
  assert.equal(warned(home, `runtime: { store: a b/recourse.db }\n${apart(href)}`).length, 1, href);
  for (const each of [apart('~'), apart('~/recourse.db')])
    assert.equal(warned(home, here + each, { HOME: home }).length, 1, each);
  const state = dirname(storeIn(home));
  for (const each of [state, dirname(state), `${storeIn(home)}.token`])
    assert.equal(warned(home, filesystem(each)).length, 1, each);
  const script = `tools:\n  files:\n    mcp: { command: ${node}, args: ["-e", "const a = 4 / 2; // . \\n b"], cwd: safe }\n`;
  assert.deepEqual(warned(home, here + script), []);
  assert.deepEqual(warned(home, filesystem('.'), { RECOURSE_FILE: join(home, 'other.db') }).length, 1);
});

test('check: a key of a gateway that is written into a server is told, and not quoted', (t) => {
  const key = `rk_0123456789abcdef_${'a'.repeat(43)}`;
  for (const given of [
    `args: [x.js], env: { TOKEN: ${key} }`,
    `args: [x.js, ${key}]`,
    `args: [x.js, "--token=${key}"]`,
    `args: [x.js], env: { HEADER: "Bearer ${key}" }`,
  ]) {
    const told = warned(folder(t), `tools:\n  files:\n    mcp: { command: ${node}, ${given} }\n`);
    assert.equal(told.length, 1, given);
    assert.match(told[0] ?? '', /^2 the server 'files' is given a key of a gateway/);
    assert.ok(!told[0]?.includes('aaaa'));
  }
});

test("up and status warn; what an agent reads of the operator's key is masked over HTTP and MCP, on record, and told", async (t) => {
  const home = folder(t);
  const up = await startGoverned(t, `runtime: { store: recourse.db }\n${filesystem('.')}${reads}`, [], home);
  await up.ready();
  assert.match(up.said(), /recourse\.yaml:3 the server 'files' can reach the operator's key/);
  const status = recourse(['status', '--url', up.url], { cwd: home });
  assert.match(status.stdout, /recourse\.yaml:3 the server 'files' can reach the operator's key/);

  const operator = readFileSync(join(home, 'recourse.db.token'), 'utf8').trim();
  const [, id = '', secret = ''] = /^rk_([^_]+)_(.+)$/.exec(operator) ?? [];
  const key = up.keyOf('bot');
  const read = (tool: string) =>
    up.ask('/v1/calls', { key, body: { tool: `files/${tool}`, args: { path: join(home, 'recourse.db.token') } } });
  for (const tool of ['read_text_file', 'read_file', 'read_media_file']) {
    const { status: code, body } = await read(tool);
    assert.equal(code, 200, JSON.stringify(body));
    const text = JSON.stringify(body);
    assert.ok(!text.includes(secret) && !text.includes(Buffer.from(operator).toString('base64').slice(40, 70)), text);
    assert.ok(tool === 'read_media_file' || text.includes(`rk_${id}_…masked`), text);
    const shown = recourse(['calls', 'show', String(body['call_id']), '--json'], { cwd: home }).stdout;
    assert.ok(!shown.includes(secret) && shown.includes('key_masked'), shown);
  }
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${up.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  await client.connect(transport);
  t.after(() => client.close());
  const tools = (await client.listTools()).tools.map(({ name }) => name);
  const name = tools.find((each) => /files.+read_text_file$/.test(each)) ?? '';
  const result = await client.callTool({ name, arguments: { path: join(home, 'recourse.db.token') } });
  assert.ok(JSON.stringify(result).includes(`rk_${id}_…masked`) && !JSON.stringify(result).includes(secret));
  assert.match(up.said(), /recourse: key_masked \{"call_id":"call_\w+","agent":"bot","tool":"files\/read_text_file"/);
  assert.ok(!up.said().replace(operator, '').includes(secret), 'it is shown once, when it is made');
});

test('up warns by the store that it uses: that of the state folder, or the one of --file', async (t) => {
  const home = folder(t);
  const other = join(home, 'other.db');
  for (const [store, words] of [
    [storeIn(home), []],
    [other, ['--file', other]],
  ] as const) {
    const up = await startGoverned(t, filesystem(dirname(store)), words, home);
    await up.ready();
    const warning = `recourse.yaml:2 the server 'files' can reach the operator's key ('${store}.token')`;
    assert.ok(up.said().includes(warning), up.said());
    await up.stop();
  }
});

test('INVARIANT: a child gets neither variables nor open files of the gateway', async (t) => {
  const home = folder(t);
  const script = join(home, 'server.mjs');
  writeFileSync(
    script,
    `import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
     const open = process.platform === 'linux' ? readdirSync('/proc/self/fd').flatMap((fd) => { try { return [readlinkSync('/proc/self/fd/' + fd)]; } catch { return []; } }) : [];
     writeFileSync(${JSON.stringify(join(home, 'seen.json'))}, JSON.stringify({ env: process.env, open }));
     process.stdin.on('end', () => process.exit()).resume();`,
  );
  process.env['RECOURSE_KEY'] = 'rk_of_the_operator';
  t.after(() => void delete process.env['RECOURSE_KEY']);
  const up = await startGoverned(
    t,
    `tools:\n  spy:\n    mcp: { command: ${node}, args: [${JSON.stringify(script)}] }\n`,
    [],
    home,
  );
  const { eventually } = await import('../support/eventually.ts');
  const seen = await eventually('the child', async () => {
    try {
      return JSON.parse(readFileSync(join(home, 'seen.json'), 'utf8')) as {
        env: Record<string, string>;
        open: string[];
      };
    } catch {
      return undefined;
    }
  });
  assert.deepEqual(
    Object.keys(seen.env).filter((name) => name.startsWith('RECOURSE_')),
    [],
  );
  assert.deepEqual(
    seen.open.filter((file) => file.includes('recourse.db')),
    [],
  );
  await up.stop('SIGKILL');
});
