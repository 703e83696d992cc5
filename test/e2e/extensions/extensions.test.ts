/** Extensions behind the real commands: `check`, `up`, `status` and `apply`, with modules that do and that do not work. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { moduleOf, says, upstreamKind } from '../../support/extensions/extension-project.ts';
import { startGoverned } from '../../support/governed-up.ts';
import { folder, recourse } from '../../support/recourse-process.ts';

const agents = 'agents: { bot: { default: deny, rules: [{ permit: "legacy/*" }] } }\n';
const declared = 'extensions:\n  soap: { module: ./soap.ts, settings: { greeting: "hello ${USER_OF_TESTS}" } }\n';
const legacy = 'tools:\n  legacy: { extension: { kind: soap } }\n';
const settings = `settings: { type: 'object', properties: { greeting: { type: 'string' } } },`;
const soap = (more = '') => moduleOf('soap', `${settings} ${upstreamKind('soap', says('hi'))} ${more}`);

function homeWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const home = folder(t);
  for (const [name, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files }))
    writeFileSync(path.join(home, name), text);
  return home;
}

process.env['USER_OF_TESTS'] = 'ada';

test('up starts it, serves its tools, and stops it after everything else; status says what it adds', async (t) => {
  const body = `start(host) { console.error('started with ' + host.settings.greeting); }, stop() { console.error('stopped'); },`;
  const home = homeWith(t, { 'soap.ts': soap(body) });
  const up = await startGoverned(t, `${declared}${legacy}${agents}`, [], home);
  await up.ready();
  const key = up.keyOf('bot');
  const { status, body: reply } = await up.ask('/v1/calls', { key, body: { tool: 'legacy/hello', args: {} } });
  assert.deepEqual([status, reply['result']], [200, 'hi'], JSON.stringify(reply));
  const told = await up.ask('/v1/status', { key: up.operatorKey() });
  assert.deepEqual(told.body['extensions'], [
    {
      name: 'soap',
      contract: 1,
      state: 'started',
      code: null,
      problem: null,
      needs: [],
      adds: ['upstream soap'],
      built_in: false,
    },
  ]);
  assert.deepEqual((await up.ask('/v1/status', { key })).status, 403);
  assert.equal(await up.stop(), 0);
  assert.match(up.said(), /started with hello ada[\s\S]*stopped/);
});

describe('what cannot load', () => {
  const wrong: readonly (readonly [string, string, RegExp])[] = [
    ['another version', `export default { name: 'soap', contract: 9 };`, /recourse\.yaml:2:3.*for version 9/],
    ['a module that throws', `throw new Error('no database');`, /recourse\.yaml:2:3.*soap\.ts:1: no database/],
    ['a shape that is none', 'export default 7;', /recourse\.yaml:2:3.*is no extension/],
    ['a circle', moduleOf('soap', `needs: ['soap'],`), /recourse\.yaml:2:3.*soap -> soap/],
    ['a need that is missing', moduleOf('soap', `needs: ['wsdl'],`), /recourse\.yaml:2:3.*needs 'wsdl'/],
  ];
  for (const [what, module, expected] of wrong)
    test(`${what}: check and up end with 1 and say where`, (t) => {
      const cwd = homeWith(t, { 'recourse.yaml': 'extensions:\n  soap: ./soap.ts\n', 'soap.ts': module });
      for (const words of [['check'], ['up', '--listen', '127.0.0.1:0']]) {
        const { status, stdout, stderr } = recourse(words, { cwd });
        assert.equal(status, 1, `${words[0]}: ${stdout}${stderr}`);
        assert.match(`${stdout}${stderr}`.replaceAll('\n', ' '), expected);
      }
    });

  test('apply refuses a file with one, and the gateway goes on', async (t) => {
    const home = homeWith(t, { 'soap.ts': soap() });
    const up = await startGoverned(t, `${declared}${legacy}${agents}`, [], home);
    await up.ready();
    writeFileSync(path.join(home, 'corba.ts'), `export default { name: 'corba', contract: 9 };`);
    up.write(`${declared}  corba: ./corba.ts\n${legacy}${agents}`);
    const applied = await up.ask('/v1/policy/apply', { key: up.operatorKey(), body: {} });
    assert.deepEqual(
      [applied.status, applied.body['class'], applied.body['code']],
      [422, 'Validation', 'ContractVersionMismatch'],
      JSON.stringify(applied.body),
    );
    up.write(`${declared}  corba: ./gone.ts\n${legacy}${agents}`);
    const { status, stdout, stderr } = recourse(['apply'], { cwd: home, env: { USER_OF_TESTS: 'ada' } });
    assert.equal(status, 1);
    assert.match(`${stdout}${stderr}`, /recourse\.yaml:3/);
    const reply = await up.ask('/v1/calls', { key: up.keyOf('bot'), body: { tool: 'legacy/hello', args: {} } });
    assert.equal(reply.body['result'], 'hi');
  });
});

const bad = [
  ['throws', `start() { throw new Error('no database'); },`, /threw in its start: no database/],
  ['hangs', `start: () => new Promise(() => {}), start_timeout_seconds: 0.1,`, /did not start within 0.1 s/],
] as const;

describe('one that at its start', () => {
  for (const [what, start, expected] of bad) {
    test(`${what}, and is used: up ends with 1 and says where`, (t) => {
      const cwd = homeWith(t, { 'recourse.yaml': `${declared}${legacy}`, 'soap.ts': soap(start) });
      const { status, stdout, stderr } = recourse(['up', '--listen', '127.0.0.1:0'], {
        cwd,
        env: { USER_OF_TESTS: 'ada' },
      });
      assert.equal(status, 1, `${stdout}${stderr}`);
      assert.match(stderr, expected);
      assert.match(stderr, /recourse\.yaml:2:3/);
      assert.match(stderr, /LifecycleFailure/);
    });

    test(`${what}, and is not used: up serves, and status says why`, async (t) => {
      const home = homeWith(t, { 'soap.ts': soap(start) });
      const up = await startGoverned(t, `${declared}${agents}`, [], home);
      await up.ready();
      const told = await up.ask('/v1/status', { key: up.operatorKey() });
      const [state] = told.body['extensions'] as readonly Readonly<Record<string, unknown>>[];
      assert.deepEqual([state?.['state'], state?.['code']], ['failed', 'LifecycleFailure']);
      assert.match(String(state?.['problem']), expected);
      assert.equal(await up.stop(), 0);
    });
  }
});

test('one that hangs at its stop delays the end by no more than its time, and is told', async (t) => {
  const home = homeWith(t, { 'soap.ts': soap('stop: () => new Promise(() => {}), stop_timeout_seconds: 0.1,') });
  const up = await startGoverned(t, `${declared}${legacy}${agents}`, [], home);
  await up.ready();
  assert.equal(await up.stop(), 0);
  assert.match(up.said(), /extension_failed .*"soap".*"stop".*did not stop within 0.1 s/);
});
