/** What servers and tools declare about recovery cannot change while a gateway runs; the gateway's playbook can. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { loadProject } from '../project/load-project.ts';
import { createGovernance } from './governance.ts';

const yaml = `playbook: { rate_limited: escalate_to_human }
tools:
  pay:
    mcp: { command: pay }
    breaker: { failures: 2 }
    tools:
      refund: { operation_key: args.order, reconcile: { tool: pay/find, args: '{}', happened: result.found } }
      find: { effect: pure }
`;

async function applied(t: TestContext, next: string) {
  const cwd = mkdtempSync(path.join(tmpdir(), 'recourse-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  const load = () => loadProject({ cwd });
  writeFileSync(path.join(cwd, 'recourse.yaml'), yaml);
  const first = await load();
  assert.ok(first.ok, JSON.stringify(first));
  const governance = createGovernance(first.project, { load, errorsIn: async () => [], record: async () => true });
  writeFileSync(path.join(cwd, 'recourse.yaml'), next);
  return governance.apply('a person', false);
}

const changes: readonly (readonly [what: string, from: string, to: string, told: string])[] = [
  ['a breaker', 'failures: 2', 'failures: 3', 'tools'],
  ['an operation key', 'args.order', 'args.id', 'tools'],
  ['an expression of a read', 'result.found', 'result.there', 'tools'],
];

for (const [what, from, to, told] of changes)
  test(`${what} that changed needs a restart`, async (t) => {
    const answer = await applied(t, yaml.replace(from, to));
    assert.ok(!answer.ok);
    assert.match(answer.problems[0]?.message ?? '', new RegExp(`^${told} changed`));
    assert.equal(answer.problems[0]?.fix, 'restart recourse up');
  });

test('another playbook of the gateway is in force at once, and recorded', async (t) => {
  const answer = await applied(t, yaml.replace('rate_limited: escalate', 'cancelled: escalate'));
  assert.ok(answer.ok && answer.changed);
  assert.deepEqual(
    answer.changes.map(({ details }) => details.map(({ says }) => says)),
    [['the playbook is another: recourse playbook show']],
  );
});

test('lines that only moved change nothing', async (t) =>
  assert.equal((await applied(t, `# a comment\n\n${yaml}`)).ok, true));
