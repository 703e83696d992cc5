import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { type LockedTool, writeLock } from '../../config/lock.ts';
import type { RuleCall } from '../../core/policy/policy.ts';
import { loadProject, type Project } from './load-project.ts';

function project(t: TestContext, files: Readonly<Record<string, string | Buffer>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-policy-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return folder;
}

const show = ({
  file,
  line,
  column,
  message,
  fix,
}: {
  file: string;
  line: number;
  column: number;
  message: string;
  fix: string;
}) => `${file}:${line}:${column} ${message}; ${fix}`;

async function problemsIn(cwd: string, file?: string): Promise<readonly string[]> {
  const loaded = await loadProject({ cwd, env: {}, ...(file === undefined ? {} : { file }) });
  return loaded.ok ? [] : loaded.problems.map(show);
}

async function loadedFrom(cwd: string): Promise<Project> {
  const loaded = await loadProject({ cwd, env: {} });
  return loaded.ok ? loaded.project : assert.fail(loaded.problems.map(show).join('\n'));
}

const refund: LockedTool = {
  description: null,
  inputSchema: { type: 'object', properties: { amount: { type: 'number' } }, additionalProperties: false },
  outputSchema: null,
  annotations: null,
  sha256: 'b'.repeat(64),
};
const lock = writeLock({ version: 1, servers: new Map([['shop', new Map([['refund', refund]])]]) });
const shop = 'tools: { shop: { mcp: { command: shop } } }\n';
const agents = `agents:
  clerk:
    rules:
      - permit: shop/refund
        when: args.amount < 500
`;

const call = (tool: string, args: RuleCall['args']): RuleCall => ({
  tool: { name: tool, effect: 'plain', reach: 'destructive', annotations: {} },
  args,
  agent: { name: 'clerk' },
  principal: { tenant: 'default', agent: 'clerk' },
  session: { id: null, seq: 0, workflow: null },
  state: null,
  model: null,
  host: null,
  nowMs: 0,
});

test('a project has the policy that its files say, and judges by it', async (t) => {
  const cwd = project(t, { 'recourse.yaml': `${shop}${agents}`, 'recourse.lock': lock });
  const { policy, warnings, config, files } = await loadedFrom(cwd);
  assert.deepEqual(warnings, []);
  assert.equal(config.lock?.servers.get('shop')?.size, 1);
  assert.deepEqual(
    files,
    ['recourse.yaml', 'recourse.lock'].map((name) => path.join(cwd, name)),
  );
  const clerk = policy?.agents.get('clerk') ?? assert.fail('nobody judges');
  const { effect, ref } = clerk.judge(call('shop/refund', { amount: 1 }));
  assert.deepEqual([effect, ref], ['permit', 'recourse.yaml:5']);
  assert.equal(clerk.judge(call('shop/refund', { amount: 501 })).effect, 'deny');
});

test('without agents there is no policy', async (t) => {
  assert.equal((await loadedFrom(project(t, { 'recourse.yaml': shop }))).policy, null);
});

test('conditions are checked by the lock, and without one that is said', async (t) => {
  const wrong = agents.replace('args.amount', 'args.amuont');
  const checked = await problemsIn(project(t, { 'recourse.yaml': `${shop}${wrong}`, 'recourse.lock': lock }));
  assert.equal(checked.length, 1);
  assert.match(checked[0] ?? '', /^recourse\.yaml:6:\d+ the condition is wrong: .*amuont/);
  const { warnings } = await loadedFrom(project(t, { 'recourse.yaml': `${shop}${wrong}` }));
  assert.deepEqual(warnings.map(show), [
    'recourse.yaml:2:1 conditions over args are checked as dynamic, because there is no recourse.lock; run recourse pin, and commit the file it writes',
  ]);
});

test('an action that is bound to a tool brings arguments of its own', async (t) => {
  const workflow = `workflows:
  desk:
    initial: open
    actions: { pay: { tool: shop/refund, input: { type: object, properties: { order: { type: string } } } } }
    states: { open: { on: { pay: open } } }
`;
  const text = `${shop}${agents.replace('args.amount < 500', 'args.order == "x"')}`;
  const cwd = project(t, { 'recourse.yaml': `${text}${workflow}`, 'recourse.lock': lock });
  assert.deepEqual(await problemsIn(cwd), []);
  writeFileSync(path.join(cwd, 'recourse.yaml'), `${shop}${agents}${workflow}`);
  assert.deepEqual(await problemsIn(cwd), [], 'those of the tool can be asked for as well');
  writeFileSync(path.join(cwd, 'recourse.yaml'), text);
  assert.equal((await problemsIn(cwd)).length, 1, 'the tool itself has no such argument');
});

test('every problem of a policy is told at once, where it is written', async (t) => {
  const text = `agents:
  clerk:
    model_policy: { allow: [ok, "a**"] }
    redact: [args.card, "nonsense..x"]
    rules:
      - permit: [shop/x, shop//y]
      - deny: "**"
        when: |
          args.a &&
            agnet.name == 'x'
      - { deny: x, when: "1 +" }
`;
  const problems = await problemsIn(project(t, { 'recourse.yaml': text }));
  assert.deepEqual(
    problems.map((each) => each.replace(/ .*/, '')),
    ['recourse.yaml:3:33', 'recourse.yaml:4:25', 'recourse.yaml:6:26', 'recourse.yaml:10:13', 'recourse.yaml:11:30'],
    problems.join('\n'),
  );
});

test('files are included from where they lie, and what lies beside them is found from there', async (t) => {
  const cwd = project(t, {
    'conf/recourse.yaml': 'runtime: { store: x.db }\ninclude: [../shared/desk.yaml, ./agents/clerk.yaml]\n',
    'conf/agents/clerk.yaml': agents,
    'shared/desk.yaml': 'tools:\n  shop: { mcp: { command: s, cwd: here } }\nworkflows: { desk: ./desk.ts }\n',
    'shared/desk.ts': 'throw new Error("it was found")',
  });
  const problems = await problemsIn(cwd, 'conf/recourse.yaml');
  assert.equal(problems.length, 1);
  assert.match(problems[0] ?? '', /^shared\/desk\.yaml:3:\d+ 'desk\.ts' cannot be loaded: desk\.ts:1: it was found/);
  writeFileSync(path.join(cwd, 'shared/desk.yaml'), 'tools:\n  shop: { mcp: { command: s, cwd: here } }\n');
  const loaded = await loadProject({ cwd, env: {}, file: 'conf/recourse.yaml' });
  assert.ok(loaded.ok);
  const { config, policy, files } = loaded.project;
  assert.equal(config.tools[0]?.connect.kind === 'stdio' && config.tools[0].connect.cwd, path.join(cwd, 'shared/here'));
  assert.equal(config.runtime.store, path.join(cwd, 'conf/x.db'));
  assert.equal(policy?.agents.get('clerk')?.written.rules[0]?.ref, 'agents/clerk.yaml:4');
  assert.deepEqual(
    files.map((file) => path.relative(cwd, file)),
    ['conf/recourse.yaml', 'shared/desk.yaml', 'conf/agents/clerk.yaml', 'conf/recourse.lock'],
  );
});

test('what cannot be included is told where it is named', async (t) => {
  const cwd = project(t, {
    'recourse.yaml': 'include:\n  - absent.yaml\n  - .\n  - pipe.yaml\n  - bytes.yaml\n  - large.yaml\n',
    'bytes.yaml': Buffer.from([0x61, 0xff, 0xfe]),
    'large.yaml': 'x'.repeat(5 << 20),
  });
  execFileSync('mkfifo', [path.join(cwd, 'pipe.yaml')]);
  assert.deepEqual(
    (await problemsIn(cwd)).map((each) => each.replace(/; .*/, '')),
    [
      "recourse.yaml:2:5 there is no file 'absent.yaml'",
      "recourse.yaml:3:5 '.' is no plain file",
      "recourse.yaml:4:5 'pipe.yaml' is no plain file",
      "recourse.yaml:5:5 'bytes.yaml': this is not UTF-8",
      "recourse.yaml:6:5 'large.yaml': the file is longer than 4194304 bytes",
    ],
  );
});

test('a configuration that never ends is not read to its end', async () => {
  const problems = await problemsIn('/', '/dev/zero');
  assert.deepEqual(problems, ['/dev/zero:1:1 the file is longer than 4194304 bytes; split it']);
});

test('many files are no way around the limit of one', async (t) => {
  const large = `# ${'x'.repeat(1_000_000)}\n`;
  const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}.yaml`);
  const cwd = project(t, {
    'recourse.yaml': `include: [${names.join(', ')}]\n`,
    ...Object.fromEntries(names.map((name) => [name, large])),
  });
  assert.deepEqual(await problemsIn(cwd), [
    'recourse.yaml:1:43 the files have more than 4194304 characters together; include fewer',
  ]);
});

test('a lock of another version, and one that cannot be read, stop everything', async (t) => {
  const cwd = project(t, { 'recourse.yaml': shop, 'recourse.lock': lock.replace('"version": 1', '"version": 9') });
  const loaded = await loadProject({ cwd, env: {} });
  assert.deepEqual(!loaded.ok && loaded.problems.map(({ code, file }) => [code, file]), [
    ['ContractVersionMismatch', 'recourse.lock'],
  ]);
  rmSync(path.join(cwd, 'recourse.lock'));
  mkdirSync(path.join(cwd, 'recourse.lock'));
  assert.match((await problemsIn(cwd))[0] ?? '', /^recourse\.lock:1:1 this is a folder/);
});

test('a workflow that is named by its path may not have the name of a server', async (t) => {
  const mountUrl = new URL('../../adapters/upstream-function/workflow/mount.ts', import.meta.url).href;
  const module = `
    import { createMachine } from '${import.meta.resolve('xstate')}';
    import { mount } from '${mountUrl}';
    const machine = createMachine({ initial: 'a', states: { a: { on: { go: 'a' } } } });
    export const workflow = mount(machine, { name: 'shop', actions: { go: { run: async () => 1 } } });
  `;
  const cwd = project(t, { 'recourse.yaml': shop, 'shop.ts': module });
  const loaded = await loadProject({ cwd, env: {}, workflowArgument: './shop.ts' });
  assert.match(loaded.ok ? '' : show(loaded.problems[0] ?? assert.fail()), /'shop' has the name of a server/);
});
