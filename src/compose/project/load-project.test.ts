import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ToolEntry } from '../../core/call/catalogue.ts';
import { loadProject } from './load-project.ts';
import { loadWorkflowModule } from './load-workflow-module.ts';

const mountUrl = new URL('../../adapters/upstream-function/workflow/mount.ts', import.meta.url).href;
const xstateUrl = import.meta.resolve('xstate');
const moduleText = (name: string, more = '') => `
  import { createMachine } from '${xstateUrl}';
  import { mount } from '${mountUrl}';
  const machine = createMachine({ initial: 'a', states: { a: { on: { go: 'b' } }, b: { type: 'final' } } });
  export const workflow = mount(machine, { name: '${name}', actions: { go: { run: async () => 1 } } ${more} });
`;

const coffee = `
  coffee:
    context: { total: 0 }
    initial: idle
    actions:
      order: { update: { total: context.total + 1 } }
      pay: { tool: shop/pay, operation_key: inputs.order }
    states:
      idle: { on: { order: {}, pay: { target: paid, guard: context.total > 0 } } }
      paid: { type: final }
`;

function project(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-project-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return folder;
}

const shop = 'tools:\n  shop:\n    mcp: { command: shop, cwd: ./here, env: { KEY: "${SECRET}" } }\n';

test('what only mount finds out is told where the state stands', async (t) => {
  const lost = '      lost:\n        initial: in\n        states: { in: { on: { order: paid } } }\n';
  const inner = coffee.replace('paid: { type', 'never: { on: { order: idle } }\n      paid: { type') + lost;
  const cwd = project(t, { 'recourse.yaml': `${shop}workflows:${inner}` });
  const loaded = await loadProject({ cwd, env: { SECRET: 'x' } });
  assert.ok(!loaded.ok);
  const why = 'no path from where the workflow begins leads to it';
  assert.deepEqual(
    loaded.problems.map(({ line, column, text, message }) => [line, column, text.trim().split(':')[0], message]),
    [
      [13, 7, 'never', `state 'never': ${why}`],
      [15, 7, 'lost', `state 'lost': ${why}`],
    ],
  );
});

const pay: ToolEntry = {
  name: 'shop/pay',
  description: 'pays',
  effectClass: 'plain',
  timeoutMs: 1_000,
  dedupeWindowMs: null,
  reportsWithinMs: null,
  input: { kind: 'anything' },
  invokes: 'shop/pay',
  inputSchema: null,
  listing: null,
  policyName: 'shop/pay',
  reach: 'destructive',
  host: null,
  manifest: '{}',
};

async function problemsIn(cwd: string, more: { file?: string; workflowArgument?: string } = {}) {
  const loaded = await loadProject({ cwd, env: { SECRET: 's' }, ...more });
  return loaded.ok ? [] : loaded.problems.map(({ file, line, message, fix }) => `${file}:${line} ${message}; ${fix}`);
}

test('a project: servers, a workflow that is written in it and one that is a module', async (t) => {
  const cwd = project(t, {
    'recourse.yaml': `runtime: { store: ./data.db }\n${shop}workflows:\n  refund: ./refund.ts${coffee}`,
    'refund.ts': moduleText('refund'),
  });
  const loaded = await loadProject({ cwd, env: { SECRET: 's' } });
  if (!loaded.ok) assert.fail(JSON.stringify(loaded.problems));
  const { workflows, config, file } = loaded.project;
  assert.equal(file, path.join(cwd, 'recourse.yaml'));
  assert.equal(config.runtime.store, path.join(cwd, 'data.db'));
  const [server] = config.tools;
  assert.ok(server?.connect.kind === 'stdio');
  assert.deepEqual([server.connect.cwd, server.connect.env], [path.join(cwd, 'here'), { KEY: 's' }]);
  assert.deepEqual(
    workflows.map(({ name }) => name),
    ['refund', 'coffee'],
  );

  const bound = workflows[1]?.bind(new Map([[pay.name, pay]]), { timeoutMs: 1_000 });
  if (bound?.ok !== true) assert.fail('it cannot be bound');
  const { machine, actions } = bound.workflow;
  const started = machine.start(0);
  assert.ok(started.kind === 'moved');
  assert.deepEqual(machine.next(started.snapshot), ['order']);
  const ordered = machine.apply(started.snapshot, 'order', {}, {}, 0);
  assert.ok(ordered.kind === 'moved');
  assert.deepEqual(machine.next(ordered.snapshot), ['order', 'pay']);
  assert.equal(actions.get('pay')?.operationOf({ order: 'o1' }), 'shop/pay:o1');
});

test('another expression is another manifest: a session under the old one must notice', async (t) => {
  const manifestOf = async (text: string) => {
    const loaded = await loadProject({
      cwd: project(t, { 'recourse.yaml': `${shop}workflows:${text}` }),
      env: { SECRET: 's' },
    });
    const bound = loaded.ok
      ? loaded.project.workflows[0]?.bind(new Map([[pay.name, pay]]), { timeoutMs: 1 })
      : undefined;
    return bound?.ok === true ? bound.workflow.manifest : assert.fail(JSON.stringify(loaded));
  };
  const before = await manifestOf(coffee);
  assert.equal(await manifestOf(coffee), before);
  for (const [from, to] of [
    ['total + 1', 'total + 2'],
    ['inputs.order', 'inputs.id'],
    ['total > 0', 'total > 1'],
  ] as const)
    assert.notEqual(await manifestOf(coffee.replace(from, to)), before, to);
});

test('a module stands for itself, without a configuration', async (t) => {
  const cwd = project(t, { 'refund.ts': moduleText('refund') });
  const loaded = await loadProject({ cwd, workflowArgument: './refund.ts' });
  assert.ok(loaded.ok);
  assert.deepEqual([loaded.project.file, loaded.project.workflows.map(({ name }) => name)], [null, ['refund']]);
  assert.equal((await problemsIn(cwd, { workflowArgument: 'refund.ts', file: 'absent.yaml' })).length, 1);
});

test('of a project only the workflow that is asked for is loaded', async (t) => {
  const cwd = project(t, {
    'recourse.yaml': 'workflows: { refund: ./refund.ts, broken: ./broken.ts }',
    'refund.ts': moduleText('refund'),
    'broken.ts': 'throw new Error("never loaded")',
  });
  const loaded = await loadProject({ cwd, workflowArgument: 'refund' });
  assert.deepEqual(loaded.ok && loaded.project.workflows.map(({ name }) => name), ['refund']);
  assert.deepEqual(await problemsIn(cwd, { workflowArgument: 'refnud' }), [
    "recourse.yaml:1 there is no workflow 'refnud'; did you mean refund?",
  ]);
});

test('whatever is wrong with modules is told where they are named, never with a stack', async (t) => {
  const cwd = project(t, {
    'recourse.yaml': [
      'workflows:',
      ...['throws', 'strange', 'nothing', 'other', 'wrong', 'syntax'].map((name) => `  ${name}: ./${name}.ts`),
      '  text: ./notes.txt',
    ].join('\n'),
    'throws.ts': 'throw new TypeError("out of beans\\n    at nowhere")',
    'strange.ts': 'throw { get message() { throw 1; } }',
    'nothing.ts': 'export const other = 1;',
    'other.ts': moduleText('another'),
    'wrong.ts': moduleText('wrong', ', taget: 1, versoin: 2'),
    'syntax.ts': 'export const = 1;',
    'notes.txt': '',
  });
  const problems = await problemsIn(cwd);
  assert.deepEqual(
    problems.slice(0, 6).map((each) => each.replace(/; known are.*/, '')),
    [
      "recourse.yaml:2 'throws.ts' cannot be loaded: throws.ts:1: out of beans; correct the module; node shows more when it runs it by itself",
      "recourse.yaml:3 'strange.ts' cannot be loaded; run it by itself with node to see why",
      "recourse.yaml:4 'nothing.ts' exports no workflow; write export const workflow = mount(machine, { … })",
      "recourse.yaml:5 the module calls its workflow 'another', and here it is 'other'; call both the same: mount(machine, { name: 'other', … })",
      "recourse.yaml:6 in 'wrong.ts', it has no setting 'taget'",
      "recourse.yaml:6 in 'wrong.ts', it has no setting 'versoin'; did you mean 'version'?",
    ],
  );
  assert.match(problems[6] ?? '', /recourse.yaml:7 'syntax.ts' cannot be loaded/);
  assert.match(problems[7] ?? '', /recourse.yaml:8 'notes.txt' is no module/);
});

test('a module in a package of another type hears how to make it one', async (t) => {
  const cwd = project(t, {
    'package.json': '{ "type": "commonjs" }',
    'door.ts': moduleText('door'),
    'door.mts': moduleText('door'),
    'plain.ts': 'export const workflow = 1;',
  });
  for (const name of ['door.ts', 'plain.ts']) {
    const loaded = await loadWorkflowModule(path.join(cwd, name));
    assert.match(
      loaded.ok ? '' : (loaded.problems[0]?.fix ?? ''),
      /^write "type": "module" into the package.json above/,
    );
  }
  assert.equal((await loadWorkflowModule(path.join(cwd, 'door.mts'))).ok, true);
});

test('a file that is named by its whole path is told by it, and so are those that it includes', async (t) => {
  const cwd = project(t, { 'recourse.yaml': 'include: [more.yaml]\ntool: {}\n', 'more.yaml': 'agent: {}\n' });
  const file = path.join(cwd, 'recourse.yaml');
  const places = async (from: string, named: string) =>
    (await problemsIn(from, { file: named })).map((problem) => problem.split(' ')[0]);
  for (const from of [cwd, '/', path.join(cwd, 'elsewhere')])
    assert.deepEqual(await places(from, file), [`${file}:2`, `${path.join(cwd, 'more.yaml')}:1`]);
  assert.deepEqual(await places(cwd, 'recourse.yaml'), ['recourse.yaml:2', 'more.yaml:1']);
});

test('of a name that is too long the fix says how long it may be', async (t) => {
  const long = 'x'.repeat(65);
  const written = `workflows: { w: { actions: { ${long}: {} }, initial: a, states: { a: { on: { ${long}: a } } } } }\n`;
  const [problem = ''] = await problemsIn(project(t, { 'recourse.yaml': written }));
  assert.match(problem, /is not usable as a name here; use a letter .*, at most 64 in all$/);
});

test('a module that waits for ever is given up', async (t) => {
  const cwd = project(t, { 'waits.ts': 'await new Promise(() => {});' });
  const loaded = await loadWorkflowModule(path.join(cwd, 'waits.ts'), 50);
  assert.match(loaded.ok ? '' : (loaded.problems[0]?.message ?? ''), /was not loaded within 0.05 s/);
});

test('no configuration, a folder, and a variable that is not set are problems with a fix', async (t) => {
  const cwd = project(t, { 'recourse.yaml': shop });
  assert.deepEqual(await problemsIn(path.join(cwd, 'absent')), [
    'recourse.yaml:1 this file does not exist; write one, or name another; a module of a workflow works too',
  ]);
  assert.match((await problemsIn(cwd, { file: '.' }))[0] ?? '', /this is a folder/);
  const loaded = await loadProject({ cwd, env: {} });
  assert.equal(!loaded.ok && loaded.problems[0]?.message, 'the environment has no SECRET');
});

test('what only mount finds out is told too', async (t) => {
  const text = `workflows:
  w:
    initial: a
    actions: { go: {} }
    states:
      a: { on: { go: {} } }
      lost: {}
`;
  const problems = await problemsIn(project(t, { 'recourse.yaml': text }));
  assert.equal(problems.length, 1);
  assert.match(problems[0] ?? '', /recourse.yaml:7 .*lost/);
});
