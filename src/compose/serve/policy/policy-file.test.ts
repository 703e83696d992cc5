import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { checkErrors } from '../../project/check-errors.ts';
import { loadProject } from '../../project/load-project.ts';
import { createGovernance } from '../governance.ts';
import { createPolicyFile } from './policy-file.ts';

const yaml = `tools:
  shop:
    mcp: { command: shop, env: { SHOP_PASSWORD: hunter2 } }
    tools:
      refund: { effect: plain }
agents:
  bot:
    rules:
      - permit: shop/refund
      - deny: shop/refund
`;

async function opened(t: TestContext) {
  const cwd = mkdtempSync(path.join(tmpdir(), 'recourse-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  const write = (text: string) => writeFileSync(path.join(cwd, 'recourse.yaml'), text);
  write(yaml);
  let loads = 0;
  const load = () => {
    loads += 1;
    return loadProject({ cwd });
  };
  const first = await load();
  assert.ok(first.ok, JSON.stringify(first));
  const errorsIn = async (project: typeof first.project) => checkErrors(project);
  const governance = createGovernance(first.project, { load, errorsIn, record: async () => true });
  return { write, read: createPolicyFile(governance, cwd), governance, loads: () => loads };
}

test('the policy is shown line by line, with what check says at its place; other sections are left out', async (t) => {
  const { read } = await opened(t);
  const told = await read();
  assert.deepEqual([told.mode, told.in_force], ['enforce', true]);
  const [file] = told.files;
  assert.equal(file?.file, 'recourse.yaml');
  assert.ok(!JSON.stringify(told).includes('hunter2'));
  assert.deepEqual(
    file?.lines.flatMap(({ line, text }) => (text === null ? [] : [`${line} ${text.trim()}`])),
    ['6 agents:', '7 bot:', '8 rules:', '9 - permit: shop/refund', '10 - deny: shop/refund'],
  );
  const shadowed = told.problems.find(({ message }) => message.startsWith('shadowed_rule'));
  assert.deepEqual([shadowed?.severity, shadowed?.file, shadowed?.line], ['error', 'recourse.yaml', 10]);
});

test('what is on disk is told, also if it is not in force or cannot be read; it is checked once for each version', async (t) => {
  const { read, write, loads } = await opened(t);
  await read();
  const before = loads();
  await Promise.all([read(), read()]);
  assert.equal(loads(), before, 'nothing has changed, so nothing is loaded');
  write(yaml.replace('      - deny: shop/refund\n', '      - deny: shop/other\n'));
  const changed = await read();
  assert.equal(changed.in_force, false);
  write(yaml.replace('agents:', 'agnts:'));
  const broken = await read();
  assert.deepEqual([broken.in_force, broken.problems[0]?.severity], [false, 'error']);
  write(yaml);
  assert.equal((await read()).in_force, true);
});
