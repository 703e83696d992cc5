/** `recourse check` and `recourse render` as people run them: on a folder with a configuration and modules. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { folder, objectsIn, recourse, root } from '../support/recourse-process.ts';

const good = `workflows:
  coffee:
    context: { total: 0 }
    initial: idle
    actions: { order: { update: { total: context.total + 1 } }, pay: {} }
    states:
      idle: { on: { order: ordering } }
      ordering: { on: { order: {}, pay: { target: paid, guard: context.total > 1 } } }
      paid: { type: final }
`;

function projectOf(t: TestContext, files: Readonly<Record<string, string>>): string {
  const cwd = folder(t);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  return cwd;
}

const moduleText = (states: string, more = '') => `
  import { createMachine } from '${import.meta.resolve('xstate')}';
  import { mount } from '${pathToFileURL(join(root, 'src/adapters/upstream-function/workflow/mount.ts')).href}';
  const machine = createMachine({ id: 'refund', initial: 'a', states: ${states} });
  export const workflow = mount(machine, { actions: { go: { run: async () => 1 } } });
  ${more}
`;

test('check: a configuration that holds, with what was searched and what was not decided', (t) => {
  const cwd = projectOf(t, { 'recourse.yaml': good });
  const { status, stdout, stderr } = recourse(['check'], { cwd });
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, /^workflow coffee: 3 states, \d+ configurations and \d+ steps searched, all of them$/m);
  assert.match(stdout, /not decided: .*context\.total > 1/);
  assert.match(stdout, /^✓ recourse.yaml holds, 1 workflow$/m);
});

test('check: every problem at once, each with its line, its place and a fix', (t) => {
  const bad = good
    .replace('idle: { on: { order: ordering } }', 'idle: { on: { order: orderin } }')
    .replace('context.total > 1', 'contxt.total > 1');
  const { status, stdout } = recourse(['check', 'bad.yaml'], { cwd: projectOf(t, { 'bad.yaml': bad }) });
  assert.equal(status, 1);
  assert.equal(
    stdout,
    [
      "bad.yaml:7:28 error ConfigSchemaViolation there is no state 'orderin'",
      '        idle: { on: { order: orderin } }',
      '                             ^',
      '  fix did you mean ordering?',
      '',
      'bad.yaml:8:64 error ConfigSchemaViolation this expression is wrong: there is no variable contxt here; did you mean context?',
      '        ordering: { on: { order: {}, pay: { target: paid, guard: contxt.total > 1 } } }',
      '                                                                 ^',
      '  fix write an expression over context, inputs that gives true or false',
      '',
      '✗ bad.yaml has 2 problems',
      '',
    ].join('\n'),
  );
});

const governed = `include: [./clerk.yaml]
tools: { shop: { mcp: { command: shop } } }
`;
const clerk = `agents:
  clerk:
    rules:
      - permit: shop/refund
        when: args.amount < 500
    egress: { allow: [shop.example] }
`;

const unsigned = 'notify: { ops: { webhook: "https://x.example/y", events: [POLICY_DENY] } }';

test('check: a policy that holds, with its warnings', (t) => {
  const cwd = projectOf(t, { 'recourse.yaml': governed, 'clerk.yaml': `${clerk}${unsigned}\n` });
  const { status, stdout, stderr } = recourse(['check'], { cwd });
  assert.deepEqual([status, stderr], [0, '']);
  const warnings = [
    'clerk.yaml:1:1 warning conditions over args are checked as dynamic, because there is no recourse.lock',
    '  agents:',
    '  ^',
    '  fix run recourse pin, and commit the file it writes',
    '',
    "clerk.yaml:7:11 warning 'ops' has no secret: nobody there can tell that a message is from here",
    `  ${unsigned}`,
    '            ^',
    '  fix add secret: ${NAME}',
    '',
  ].join('\n');
  assert.ok(stdout.startsWith(warnings), stdout);
  assert.match(stdout, /^✓ recourse.yaml holds, 2 warnings$/m);
  const [warning] = objectsIn(recourse(['check', '--json'], { cwd }).stdout);
  assert.deepEqual(warning, {
    kind: 'warning',
    severity: 'warning',
    file: 'clerk.yaml',
    line: 1,
    column: 1,
    text: 'agents:',
    message: 'conditions over args are checked as dynamic, because there is no recourse.lock',
    fix: 'run recourse pin, and commit the file it writes',
  });
});

test('check: what is wrong in an included file and in a condition, each in its own file', (t) => {
  const wrong = clerk.replace('args.amount < 500', 'agrs.amount < 500').replace('egress:', 'egres:');
  const cwd = projectOf(t, { 'recourse.yaml': `${governed}agents: { ops: { defualt: deny } }\n`, 'clerk.yaml': wrong });
  const { status, stdout } = recourse(['check'], { cwd });
  assert.equal(status, 1);
  assert.equal(
    stdout,
    [
      "recourse.yaml:3:18 error ConfigSchemaViolation there is no key 'defualt' here",
      '  agents: { ops: { defualt: deny } }',
      '                   ^',
      '  fix did you mean default?',
      '',
      'clerk.yaml:5:15 error ConfigSchemaViolation the condition is wrong: there is no variable agrs here; did you mean args?',
      '          when: agrs.amount < 500',
      '                ^',
      '  fix write a condition over args, agent, principal, session, tool, state, model, host, now that gives true or false',
      '',
      "clerk.yaml:6:5 error ConfigSchemaViolation there is no key 'egres' here",
      '      egres: { allow: [shop.example] }',
      '      ^',
      '  fix did you mean egress?',
      '',
      '✗ recourse.yaml has 3 problems',
      '',
    ].join('\n'),
  );
});

test('check: a policy in which a workflow gets stuck is a no, with the steps that lead there', (t) => {
  const cwd = projectOf(t, {
    'recourse.yaml': `agents:
  local:
    rules:
      - permit: desk/ask
workflows:
  desk:
    initial: open
    actions: { ask: {}, pay: {} }
    states: { open: { on: { ask: asked } }, asked: { on: { pay: done } }, done: { type: final } }
`,
  });
  const { status, stdout } = recourse(['check'], { cwd });
  assert.equal(status, 1);
  assert.match(stdout, /^policy\n {2}error policy_dead_end recourse\.yaml:2 .*\n {6}by ask; .*\n {6}fix /m);
  assert.match(stdout, /^✗ recourse.yaml has a policy that can go wrong$/m);
});

test('check: a lock of another version is a no', (t) => {
  const cwd = projectOf(t, {
    'recourse.yaml': 'tools: {}\n',
    'recourse.lock': '{\n  "servers": {},\n  "version": 2\n}\n',
  });
  const { status, stdout } = recourse(['check'], { cwd });
  assert.equal(status, 1);
  assert.match(
    stdout,
    /^recourse\.lock:3:1 error ContractVersionMismatch this lock has version 2, and version 1 is read here$/m,
  );
});

test('check: an error that is proven about a module is a no, with the steps that lead there', (t) => {
  const cwd = projectOf(t, { 'refund.ts': moduleText("{ a: { on: { go: 'b' } }, b: {} }") });
  const { status, stdout } = recourse(['check', './refund.ts'], { cwd });
  assert.equal(status, 1);
  assert.match(stdout, /error dead_end .*\(proven\)\n {6}by go$/m);
  assert.match(stdout, /^✗ .\/refund.ts has a workflow that can go wrong$/m);
});

test('check: a module that would keep the process alive does not', (t) => {
  const text = moduleText("{ a: { on: { go: 'b' } }, b: { type: 'final' } }", 'setInterval(() => {}, 1_000_000);');
  const cwd = projectOf(t, { 'refund.ts': text });
  assert.equal(recourse(['check', 'refund.ts'], { cwd }).status, 0);
});

test('a module that ends the process while it is loaded, or soon after, is a no that is said', (t) => {
  const cwd = projectOf(t, {
    'recourse.yaml': 'workflows: { leaves: ./leaves.ts }\n',
    'leaves.ts': 'process.exit(0);\n',
    'later.ts': 'setImmediate(() => process.exit(7)); await new Promise(() => {});\n',
    'after.ts': moduleText("{ a: { on: { go: 'a' } } }", 'queueMicrotask(() => setImmediate(() => process.exit(0)));'),
  });
  const lines = ['check', 'render leaves', 'serve leaves', 'up --listen 127.0.0.1:0', 'check ./leaves.ts'];
  for (const line of lines) {
    const { status, stderr } = recourse(line.split(' '), { cwd });
    assert.equal(status, 1, line);
    assert.match(stderr, /^recourse: 'leaves\.ts' ended the process \(process\.exit\) while it was loaded: take .*\n$/);
  }
  const later = recourse(['check', './later.ts'], { cwd });
  assert.equal(later.status, 1);
  assert.match(later.stderr, /'later\.ts' ended the process/);
  const served = recourse(['serve', './after.ts'], { cwd });
  assert.equal(served.status, 1, served.stderr);
  assert.match(served.stderr, /^recourse: code of a workflow or tool ended the process/m);
  const { status, stdout, stderr } = recourse(['check', '--json'], { cwd });
  assert.deepEqual([status, stderr], [1, '']);
  const [problem, summary] = objectsIn(stdout);
  assert.match(String(problem?.['message']), /'leaves\.ts' ended the process/);
  const counts = { problems: 1, warnings: 0, workflows: 0 };
  assert.deepEqual(summary, { kind: 'summary', holds: false, source: 'recourse.yaml', ...counts });
});

test('check: without a configuration it says what to do', (t) => {
  const { status, stdout } = recourse(['check'], { cwd: folder(t) });
  assert.equal(status, 1);
  assert.match(stdout, /^recourse.yaml:1:1 error ShapeInvalid this file does not exist\n {2}fix write one/);
});

test('check: terminal codes in a file are spelt out', (t) => {
  const cwd = projectOf(t, { 'recourse.yaml': '"\\e[31mtools": {}\nworkflows: { "\u009b31m": 1 }\n' });
  const { stdout } = recourse(['check'], { cwd });
  // oxlint-disable-next-line no-control-regex -- that is what is looked for
  assert.doesNotMatch(stdout, /[\u001b\u009b]/);
});

test('render: to standard output, to a file, in three formats', (t) => {
  const cwd = projectOf(t, { 'recourse.yaml': good });
  const drawn = recourse(['render', 'coffee'], { cwd });
  assert.deepEqual([drawn.status, drawn.stderr], [0, '']);
  assert.match(drawn.stdout, /^stateDiagram-v2\n/);
  assert.match(recourse(['render', 'coffee', '--format', 'dot'], { cwd }).stdout, /^digraph /);
  const written = recourse(['render', 'coffee', '--format', 'svg', '-o', 'c.svg'], { cwd });
  assert.deepEqual([written.status, written.stdout, written.stderr], [0, '', 'c.svg is written.\n']);
  assert.match(readFileSync(join(cwd, 'c.svg'), 'utf8'), /^<svg /);
});

test('render: what cannot be drawn is a sentence', (t) => {
  const cwd = projectOf(t, { 'recourse.yaml': good });
  const ends: readonly (readonly [number, string, RegExp])[] = [
    [1, 'render cofee', /there is no workflow 'cofee'; did you mean coffee\?/],
    [1, 'render ./absent.ts', /there is no module/],
    [3, 'render coffee --session ses_1', /there is no store/],
    [3, 'render coffee --session ses_1 --file recourse.yaml', /recourse.yaml'/],
    [1, 'render coffee -o absent/c.svg', /cannot be written \(ENOENT\)/],
    [2, 'render', /takes one workflow, but none is there/],
    [2, 'render coffee --format png', /--format is mermaid or dot or svg, not 'png'/],
  ];
  for (const [status, line, said] of ends) {
    const end = recourse(line.split(' '), { cwd });
    assert.deepEqual([end.status, end.stdout], [status, ''], line);
    assert.match(end.stderr, said);
  }
});

test('check --json: one object a line, told apart by its kind', (t) => {
  const cwd = projectOf(t, {
    'recourse.yaml': `${good}  refund: ./refund.ts\n`,
    'refund.ts': moduleText("{ a: { on: { go: 'b' } }, b: {} }"),
  });
  const { status, stdout } = recourse(['check', '--json'], { cwd });
  assert.equal(status, 1);
  const kinds = objectsIn(stdout).map(({ kind }) => kind);
  assert.deepEqual([...new Set(kinds)].toSorted(), ['finding', 'summary', 'undecided', 'workflow']);
});

test('render --session: where it stands is marked, and only in its own workflow', (t) => {
  const cwd = projectOf(t, { 'recourse.yaml': `${good}${good.slice('workflows:\n'.length).replace('coffee', 'tea')}` });
  const script = `
    import { loadProject } from '${pathToFileURL(join(root, 'src/compose/project/load-project.ts')).href}';
    import { createGateway } from '${pathToFileURL(join(root, 'src/main.ts')).href}';
    const { project } = await loadProject({ cwd: process.cwd() });
    const gateway = await createGateway({ tools: [], workflows: project.workflows, file: 'recourse.db' });
    const { session } = await gateway.step({ workflow: 'coffee', action: 'order', inputs: {} });
    await gateway.close();
    process.stdout.write(session);
  `;
  writeFileSync(join(cwd, 'order.mjs'), script);
  const session = execFileSync(process.execPath, ['order.mjs'], { cwd, encoding: 'utf8' });
  const plain = recourse(['render', 'coffee', '--format', 'dot'], { cwd }).stdout.split('\n');
  const marked = recourse(['render', 'coffee', '--format', 'dot', '--session', session], { cwd }).stdout.split('\n');
  const different = marked.filter((line) => !plain.includes(line));
  assert.deepEqual([different.length, different.every((line) => line.includes('ordering'))], [1, true]);
  assert.match(recourse(['render', 'tea', '--session', session], { cwd }).stderr, /is not one of workflow 'tea'/);
  assert.match(recourse(['render', 'tea', '--session', 'ses_x'], { cwd }).stderr, /has no session 'ses_x'/);
});
