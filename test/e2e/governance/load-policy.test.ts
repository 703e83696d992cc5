/** The policy of a file, for a gateway in one's own code. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { GatewayError, loadPolicy } from '../../../src/index.ts';
import { denialOf } from '../../support/a-policy.ts';
import { successOf } from '../../support/check-reply.ts';
import { folderOf, openGateway } from '../../support/open-gateway.ts';
import { aTool } from '../../support/tools.ts';

test('rules of a recourse.yaml are enforced by the library, by the line they stand on', async (t) => {
  const file = path.join(folderOf(t), 'recourse.yaml');
  writeFileSync(
    file,
    'agents:\n  local:\n    rules:\n      - permit: pay\n        when: args.amount < 5\n      - deny: pay\n',
  );
  const warnings: string[] = [];
  const policy = await loadPolicy(file, { onWarning: (warning) => warnings.push(warning) });
  const gateway = await openGateway(t, [aTool('pay', () => ({}))], { policy });
  successOf(await gateway.call({ tool: 'pay', args: { amount: 4 } }));
  const denied = denialOf(await gateway.call({ tool: 'pay', args: { amount: 5 } }));
  assert.match(denied.rule_ref ?? '', /recourse\.yaml:6$/);
});

test('with a wrong file nothing starts, and every problem is told with its place', async (t) => {
  const file = path.join(folderOf(t), 'recourse.yaml');
  writeFileSync(
    file,
    'agents:\n  local:\n    rules:\n      - permitt: pay\n      - deny: pay\n        when: args.amount <\n',
  );
  await assert.rejects(loadPolicy(file), (error) => {
    assert.ok(error instanceof GatewayError && error.reason === 'bad_options');
    assert.match(error.message, /recourse\.yaml:4:\d+ .*permitt/);
    assert.match(error.message, /recourse\.yaml:6:\d+ /);
    return true;
  });
  writeFileSync(file, 'tools: {}\n');
  await assert.rejects(loadPolicy(file), /declares no agents/);
});
