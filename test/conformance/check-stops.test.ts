/**
 * CONTRACT section 9 for what `recourse check` calls an error: `stdio` does not start with it, and `up` only if forced,
 * which is on record.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { recourse } from '../support/compiled-recourse.ts';
import { startGoverned } from '../support/governed-up.ts';
import { bin, folder, objectsIn } from '../support/recourse-process.ts';
import { rules, smallServer } from '../support/small-server.ts';

const yaml = (lines: readonly string[], server = smallServer()) => `agents:\n${rules('bot', lines)}tools:\n${server}`;

const broken: readonly (readonly [what: string, yaml: string, pins: boolean, says: RegExp])[] = [
  ['a shadowed deny', yaml(['permit: small/**', 'deny: small/echo']), false, /shadowed_rule: deny small\/echo/],
  [
    'a misspelt tool',
    yaml(['deny: small/ecko', 'permit: small/**']),
    true,
    /unknown_tool: deny small\/ecko.*\n {2}fix did you mean small\/echo\?/,
  ],
  [
    'a condition that is never true',
    yaml(['{ permit: small/echo, when: args.n > 5.0 && args.n < 5.0 }']),
    false,
    /never_matches/,
  ],
  [
    'a workflow that is stuck',
    'workflows:\n  w:\n    initial: a\n    actions: { go: {}, end: {} }\n    states:\n      a: { on: { go: b, end: c } }\n      b: {}\n      c: { type: final }\n',
    false,
    /dead_end in workflow w/,
  ],
];

const home = (t: TestContext, text: string): string => {
  const cwd = folder(t);
  writeFileSync(join(cwd, 'recourse.yaml'), text);
  return cwd;
};

/** One that starts in spite of everything is ended, and has no exit code. */
async function endOfUp(t: TestContext, cwd: string) {
  const child = spawn(process.execPath, [bin, 'up', '--listen', '127.0.0.1:0'], { cwd });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('into an MCP client')) child.kill('SIGKILL');
    });
  // Not only its exit: by then everything that it said was read.
  await once(child, 'close');
  return { status: child.exitCode, said };
}

for (const [what, text, pins, says] of broken)
  test(`[C9-check-1] [S001-class-1] ${what}: check, up and stdio say no with the same code`, async (t) => {
    const cwd = home(t, text);
    if (pins) assert.equal(recourse(['pin'], { cwd }).status, 0);
    const check = recourse(['check'], { cwd });
    assert.equal(check.status, 1, check.stdout);
    const up = await endOfUp(t, cwd);
    assert.equal(up.status, check.status, up.said);
    assert.match(up.said, says);
    assert.match(up.said, /nothing was started.*recourse up --force/);
    const stdio = recourse(['stdio', '--agent', 'bot'], { cwd });
    assert.deepEqual([stdio.status, stdio.stdout], [check.status, '']);
    assert.match(stdio.stderr, says);
  });

test('[C9-check-1] a forced start is on record, in its first words and in status', async (t) => {
  const up = await startGoverned(t, yaml(['permit: small/**', 'deny: small/echo']), ['--force']);
  await up.ready();
  assert.match(up.said(), /^FORCED: recourse\.yaml:6 shadowed_rule/m);
  const { body } = await up.ask('/v1/status', { key: up.operatorKey() });
  assert.match(JSON.stringify(body['forced']), /shadowed_rule/);
  const records = objectsIn(recourse(['audit', 'tail', '--lines', '50', '--json'], { cwd: up.home }).stdout);
  const applied = records.filter(({ kind }) => kind === 'policy_applied').map(({ body: said }) => said);
  const [first] = applied as { forced?: boolean; problems?: readonly string[] }[];
  assert.deepEqual([applied.length, first?.forced], [1, true]);
  assert.match(first?.problems?.[0] ?? '', /recourse\.yaml:6 shadowed_rule/);
  await up.stop();
});

const away = `  gone:\n    mcp: { command: ${JSON.stringify(process.execPath)}, args: ["-e", "process.exit(1)"] }\n`;

test('[C9-check-1] a server that is away makes no error of the rules for its tools', async (t) => {
  const text = yaml(['permit: gone/something', 'permit: small/echo'], `${smallServer()}${away}`);
  const up = await startGoverned(t, text);
  await up.ready();
  up.write(text.replace('gone/something', 'gone/other'));
  const applied = recourse(['apply', '--url', up.url], { cwd: up.home });
  assert.equal(applied.status, 0, applied.stderr);
  await up.stop();
});

test('[C9-check-2] a tool that is not as recourse.lock has it is told at the start and in status, one line each', async (t) => {
  const text = yaml(['permit: small/echo']);
  const cwd = home(t, text);
  assert.equal(recourse(['pin'], { cwd }).status, 0);
  const file = join(cwd, 'recourse.lock');
  const lock = JSON.parse(readFileSync(file, 'utf8')) as {
    servers: Record<'small' | 'gone', { tools: Record<string, { description?: string; sha256: string }> }>;
  };
  const { tools } = lock.servers.small;
  const echo = tools['echo'];
  const [dropped = ''] = Object.keys(tools).filter((name) => name !== 'echo');
  assert.ok(echo !== undefined && dropped !== '');
  const { [dropped]: _, ...others } = tools;
  lock.servers.small.tools = {
    ...others,
    echo: { ...echo, description: 'Says it again.', sha256: '0'.repeat(64) },
    older: echo,
  };
  // Of a server that is away nobody can say that it lists something else.
  lock.servers.gone = { tools: { echo } };
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  const up = await startGoverned(t, `${text}${away}`, [], cwd);
  await up.ready();
  const lines = [
    `small/${dropped} is not in recourse.lock`,
    'small/echo differs from recourse.lock (description)',
    'small/older is in recourse.lock, and its server does not list it',
  ];
  for (const line of lines) assert.ok(up.said().includes(`${line}: look at it`), up.said());
  const { body } = await up.ask('/v1/status', { key: up.operatorKey() });
  const drift = body['drift'] as readonly string[];
  assert.deepEqual(drift.map((each) => each.split(': look')[0]).toSorted(), lines.toSorted());
  assert.match(recourse(['status', '--url', up.url], { cwd }).stdout, /^ {2}drift +small\//m);
  await up.stop();
});

test('[C9-check-3] a tool and a rule whose names only look like another are warnings of check, with their code points', (t) => {
  const text = yaml(['permit: small/echo', 'deny: small/\u0435cho']);
  const cwd = home(t, text);
  const tool = { inputSchema: { type: 'object' }, sha256: '0'.repeat(64) };
  const tools = { echo: tool, '\u0435cho': tool, 're\u0430d': tool };
  writeFileSync(
    join(cwd, 'recourse.lock'),
    `${JSON.stringify({ version: 1, servers: { small: { tools } } }, null, 2)}\n`,
  );
  const told = objectsIn(recourse(['check', '--json'], { cwd }).stdout);
  const warnings = told
    .filter(({ kind }) => kind === 'warning')
    .map(({ file, line, message }) => `${file}:${line} ${message}`);
  const about = (what: string) => warnings.filter((each) => each.includes(what));
  assert.equal(
    about(
      'recourse.lock:4 the tool small/\u0435cho mixes letters that look alike: Latin and Cyrillic (U+0435), and looks like small/echo',
    ).length,
    1,
    warnings.join('\n'),
  );
  assert.equal(about('the tool small/re\u0430d mixes').length, 1);
  assert.equal(
    about('recourse.yaml:6 the name small/\u0435cho mixes letters that look alike: Latin and Cyrillic (U+0435)').length,
    1,
  );
});
