/** Public surface, typed out: what scripts read of `recourse check --json`. A change here needs a changelog entry. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folderOf } from '../support/open-gateway.ts';
import { recourse } from '../support/recourse-process.ts';
import { shapeOf } from '../support/shape-of.ts';

test('what check --json prints', (t) => {
  const cwd = folderOf(t);
  const config = `workflows:
  w:
    initial: a
    actions: { go: {} }
    states: { a: { on: { go: { target: b, guard: 'size(inputs) > 0' } } }, b: {} }
`;
  const shapesOf = (text: string) => {
    writeFileSync(join(cwd, 'recourse.yaml'), text);
    const lines = recourse(['check', '--json'], { cwd }).stdout.trimEnd().split('\n');
    return Object.fromEntries(lines.map((line) => [JSON.parse(line).kind as string, shapeOf(JSON.parse(line))]));
  };
  const counts = { problems: 'number', warnings: 'number', workflows: 'number' };
  const summary = { kind: 'string', holds: 'boolean', source: 'string', ...counts };
  assert.deepEqual(shapesOf(config), {
    finding: {
      kind: 'string',
      workflow: 'string',
      code: 'string',
      severity: 'string',
      where: 'string',
      message: 'string',
      counterexample: ['string'],
      proven: 'boolean',
    },
    undecided: { kind: 'string', workflow: 'string', message: 'string' },
    workflow: {
      kind: 'string',
      workflow: 'string',
      states: 'number',
      edges: 'number',
      searched: { configurations: 'number', edges: 'number', complete: 'boolean' },
    },
    summary,
  });
  const place = { file: 'string', line: 'number', column: 'number', text: 'string' };
  const unset = 'credentials: { k: { env: { name: NOT_SET_HERE }, match: [x], inject: { header: X-Key } } }';
  const governed = `agents: { a: { rules: [{ permit: x }, { permit: x }] } }\n${unset}\n`;
  assert.deepEqual(shapesOf(governed), {
    warning: { kind: 'string', severity: 'string', ...place, message: 'string', fix: 'string' },
    policy_finding: {
      kind: 'string',
      code: 'string',
      severity: 'string',
      agent: 'string',
      rule: 'number',
      refs: ['string'],
      message: 'string',
      fix: 'string',
      counterexample: { kind: 'string', says: 'string', tool: 'string', decidedBy: ['string'] },
      may_break: 'boolean',
    },
    policy_undecided: { kind: 'string', message: 'string' },
    summary,
  });
  assert.deepEqual(shapesOf('tols: {}'), {
    problem: { kind: 'string', severity: 'string', code: 'string', ...place, message: 'string', fix: 'string' },
    summary,
  });
});
