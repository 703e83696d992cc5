/** What cannot load refuses the start, and `check`: named, typed, with its line. Real modules in real folders. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadExtensions } from '../../../src/compose/extensions/load-extensions.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import { moduleOf, projectFolder, says, upstreamKind } from '../../support/extensions/extension-project.ts';

const one = 'extensions:\n  soap: ./soap.ts\n';
const kinds = upstreamKind('soap', says('hi'));
const secretKind = `settings: { type: 'object', properties: { url: { type: 'string' }, depth: { type: 'integer' } }, required: ['url'] },`;
const withSettings = upstreamKind('soap', says('hi')).replace('tools:', `${secretKind} tools:`);
const legacy = (settings: string) => `${one}tools:\n  legacy:\n    extension: { kind: soap${settings} }\n`;

interface Case {
  readonly yaml?: string;
  readonly files: Readonly<Record<string, string>>;
  readonly expected: readonly string[];
}

const cases: Readonly<Record<string, Case>> = {
  'a module that throws': {
    files: { 'soap.ts': `throw new Error('no database');` },
    expected: ["2:3 ShapeInvalid 'soap.ts' cannot be loaded: soap.ts:1: no database"],
  },
  'a module that is not there': {
    files: {},
    expected: ["2:3 ShapeInvalid there is no module 'FOLDER/soap.ts'"],
  },
  'a package that is not there': {
    yaml: 'extensions:\n  soap: recourse-soap\n',
    files: {},
    expected: ["2:3 ShapeInvalid there is no package 'recourse-soap' that can be imported"],
  },
  'a module that exports nothing as its default': {
    files: { 'soap.ts': 'export const soap = {};' },
    expected: ["2:3 ShapeInvalid the extension 'soap' is no extension"],
  },
  'a shape that is none': {
    files: { 'soap.ts': `export default { name: 'soap', contract: 1, credentials: { ring: {} } };` },
    expected: ["2:3 ShapeInvalid the extension 'soap' adds 'ring' to its credentials without a function create"],
  },
  'another version of the contract': {
    files: { 'soap.ts': `export default { name: 'soap', contract: 2 };` },
    expected: [
      "2:3 ContractVersionMismatch the extension 'soap' is written for version 2 of the contract, and this gateway has version 1",
    ],
  },
  'another name than in the file': {
    files: { 'soap.ts': moduleOf('corba') },
    expected: ["2:3 ShapeInvalid the module calls its extension 'corba', and here it is 'soap'"],
  },
  'the name of one that ships with the gateway': {
    yaml: 'extensions:\n  vault: ./vault.ts\n',
    files: { 'vault.ts': moduleOf('vault') },
    expected: ["2:3 ShapeInvalid an extension 'vault' ships with the gateway"],
  },
  'a dependency that is missing': {
    files: { 'soap.ts': moduleOf('soap', `needs: ['base'],`) },
    expected: ["2:3 DependencyMissing the extension 'soap' needs 'base', and there is no such extension"],
  },
  'a circle of dependencies': {
    yaml: 'extensions:\n  a: ./a.ts\n  b: ./b.ts\n',
    files: { 'a.ts': moduleOf('a', `needs: ['b'],`), 'b.ts': moduleOf('b', `needs: ['a'],`) },
    expected: ['2:3 DependencyCycle extensions need each other in a circle: a -> b -> a'],
  },
  'two that add the same': {
    yaml: 'extensions:\n  a: ./a.ts\n  b: ./b.ts\n',
    files: { 'a.ts': moduleOf('a', kinds), 'b.ts': moduleOf('b', kinds) },
    expected: ["3:3 ShapeInvalid the extensions 'a' and 'b' both add 'soap' to upstreams"],
  },
  'a kind that nobody adds': {
    yaml: `${one}tools:\n  legacy:\n    extension: { kind: soup }\n`,
    files: { 'soap.ts': moduleOf('soap', kinds) },
    expected: ["5:24 ConfigSchemaViolation no extension adds servers of the kind 'soup'"],
  },
  'a validator and a cost function that nobody adds': {
    yaml: `${legacy('')}    tools: { hello: { validate: iban } }
agents: { a: { default: deny, budgets: { daily: { max: 1 USD, cost: { function: cents } } } } }\n`,
    files: { 'soap.ts': moduleOf('soap', kinds) },
    expected: [
      "6:33 ConfigSchemaViolation no extension adds a validator 'iban'",
      "7:81 ConfigSchemaViolation no extension adds a cost function 'cents'",
    ],
  },
  'a source of secrets and a notifier that nobody adds': {
    yaml: `${one}credentials: { x: { extension: { kind: ring }, match: ["**"], inject: { header: X-Key } } }
notify: { pager: { extension: { kind: bell }, events: [POLICY_DENY] } }\n`,
    files: { 'soap.ts': moduleOf('soap') },
    expected: [
      "3:40 ConfigSchemaViolation no extension adds a source of secrets of the kind 'ring'",
      "4:39 ConfigSchemaViolation no extension adds a notifier of the kind 'bell'",
    ],
  },
  'a setting that nobody knows': {
    yaml: legacy(', settings: { url: x, dept: 1 }'),
    files: { 'soap.ts': moduleOf('soap', withSettings) },
    expected: ["5:56 ConfigSchemaViolation the kind 'soap' has no setting 'dept'"],
  },
  'a setting of the wrong shape': {
    yaml: legacy(', settings: { url: x, depth: deep }'),
    files: { 'soap.ts': moduleOf('soap', withSettings) },
    expected: ["5:57 ConfigSchemaViolation the kind 'soap': its setting depth must be integer"],
  },
  'a setting that is missing': {
    yaml: legacy(''),
    files: { 'soap.ts': moduleOf('soap', withSettings) },
    expected: ["5:16 ConfigSchemaViolation the kind 'soap': its setting url must be a value (string)"],
  },
  'settings of an extension that has none': {
    yaml: 'extensions:\n  soap: { module: ./soap.ts, settings: { a: 1 } }\n',
    files: { 'soap.ts': moduleOf('soap') },
    expected: ["2:45 ConfigSchemaViolation the extension 'soap' has no settings"],
  },
  'tools that throw when they are asked for': {
    yaml: legacy(''),
    files: { 'soap.ts': moduleOf('soap', `upstreams: { soap: { tools: () => { throw 1; }, create: () => ({}) } },`) },
    expected: ["4:3 ConfigSchemaViolation the kind 'soap' throws when it is asked for its tools"],
  },
  'a tool that is declared without an effect': {
    yaml: legacy(''),
    files: {
      'soap.ts': moduleOf(
        'soap',
        `upstreams: { soap: { tools: [{ name: 'x', description: '', input: {} }], create: () => ({}) } },`,
      ),
    },
    expected: [
      "4:3 ConfigSchemaViolation the kind 'soap' declares 'x' without an effect (pure, keyed, probeable, plain)",
    ],
  },
  'a rule for a tool that it has not': {
    yaml: `${legacy('')}    tools: { helo: { timeout: 1s } }\n`,
    files: { 'soap.ts': moduleOf('soap', kinds) },
    expected: ["6:14 ConfigSchemaViolation the kind 'soap' has no tool 'helo'"],
  },
};

describe('the start is refused, with the line', () => {
  for (const [what, { yaml = one, files, expected }] of Object.entries(cases))
    test(what, async (t) => {
      const project = projectFolder(t, { 'recourse.yaml': yaml, ...files });
      const loaded = await project.load();
      assert.ok(!loaded.ok, 'it is refused');
      assert.deepEqual(
        loaded.problems.map(({ line, column, code, message }) =>
          `${line}:${column} ${code} ${message}`.replace(project.folder, 'FOLDER'),
        ),
        expected,
      );
      assert.ok(loaded.problems.every(({ fix }) => fix !== ''));
    });

  test('a module that never finishes loading', async (t) => {
    const { folder } = projectFolder(t, { 'soap.ts': 'await new Promise(() => undefined);' });
    const { config, tell, allProblems } = readConfig(one, 'recourse.yaml', { env: {} });
    await loadExtensions(config, folder, tell, 50);
    const [problem] = allProblems();
    assert.deepEqual([problem?.line, problem?.code], [2, 'ShapeInvalid']);
    assert.match(problem?.message ?? '', /'soap.ts' was not loaded within 0.05 s/);
  });
});

test('nothing is started by loading, and what is loaded is known to the policy', async (t) => {
  const project = projectFolder(t, {
    'recourse.yaml': `${legacy('')}agents: { a: { default: deny, rules: [{ permit: legacy/hello }] } }\n`,
    'soap.ts': moduleOf('soap', `${kinds} start() { throw new Error('it was started'); },`),
  });
  const loaded = await project.load();
  assert.ok(loaded.ok, JSON.stringify(loaded));
  assert.deepEqual(
    [...loaded.project.config.declared.values()].map(({ name, effectClass }) => [name, effectClass]),
    [['legacy/hello', 'pure']],
  );
});

test('a package is found beside the file, whatever its package.json calls its module', async (t) => {
  for (const exports of [
    `"exports": "./soap.js"`,
    `"exports": { ".": { "import": "./soap.js" } }`,
    `"main": "soap.js"`,
  ]) {
    const project = projectFolder(t, {
      'recourse.yaml': 'extensions: { soap: recourse-soap }\n',
      'node_modules/recourse-soap/package.json': `{ "name": "recourse-soap", "type": "module", ${exports} }`,
      'node_modules/recourse-soap/soap.js': `export default { name: 'soap', contract: 1 };`,
    });
    const loaded = await project.load();
    assert.ok(loaded.ok, JSON.stringify(loaded));
    assert.deepEqual(
      loaded.project.extensions.order.map(({ name }) => name),
      ['soap'],
    );
  }
});

test('what ships with the gateway is loaded only if something uses it', async (t) => {
  const namesOf = async (yaml: string) => {
    const loaded = await projectFolder(t, { 'recourse.yaml': yaml }).load();
    assert.ok(loaded.ok, JSON.stringify(loaded));
    return loaded.project.extensions.order.map(({ name }) => name);
  };
  const vault = '{ address: "http://127.0.0.1:1", path: secret/data/x, field: y, token: plantedVaultToken }';
  assert.deepEqual(await namesOf('runtime: { mode: enforce }\n'), []);
  assert.deepEqual(
    await namesOf(`credentials: { x: { vault: ${vault}, match: ["**"], inject: { header: X-Key } } }\n`),
    ['vault'],
  );
  assert.deepEqual(
    await namesOf(
      'notify: { ops: { smtp: "smtp://127.0.0.1:1", from: a@x.example, to: [b@x.example], events: [POLICY_DENY] } }\n',
    ),
    ['smtp'],
  );
});
