import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyseWorkflow } from '../../core/workflow/analyse/analyse-workflow.ts';
import { toDot } from '../../core/workflow/draw/to-dot.ts';
import { toJsonGraph } from '../../core/workflow/draw/to-json-graph.ts';
import { toMermaid } from '../../core/workflow/draw/to-mermaid.ts';
import { toSvg } from '../../core/workflow/draw/to-svg.ts';
import { compileYaml as compile, moved, readYaml as read } from '../../../test/support/yaml-workflow.ts';

const shop = `
context: { why: null }
initial: open
actions:
  charge: { tool: shop/charge }
  mend: {}
states:
  open:
    on:
      charge: paid
      charge.failed:
        - { code: Forbidden, target: repair, assign: { why: error.message } }
        - { verdict: transient_timeout, guard: 'inputs.amount > 10.0', target: later }
        - { error: denied, target: refused }
        - { guard: 'error.effect == "applied"', target: paid }
        - review
  repair: { on: { mend: open } }
  later: { after: { 5m: open } }
  refused: { type: final }
  review: { on: { mend: open } }
  paid: { type: final }
`;

const error = { error: 'action_error', class: 'ToolTerminal', code: 'Forbidden', verdict: 'policy_denied' } as const;

test('[C6-edge-7] edges on errors in a file lead where their names say', () => {
  const { machine } = compile(shop);
  const open = moved(machine.start(0));
  const after = (more: object, amount = 5) => {
    const said = { ...error, effect: 'none', message: 'no card', ...more };
    const reacted = machine.react(open, { type: 'charge.failed', inputs: { amount }, error: said }, 0);
    assert.notEqual(reacted.kind, 'stays');
    return moved(reacted as never);
  };
  assert.deepEqual([after({}).value, after({}).context], ['repair', { why: 'no card' }]);
  const timeout = { code: 'ExecutionTimeout', verdict: 'transient_timeout' };
  assert.equal(after(timeout, 20).value, 'later');
  assert.equal(after(timeout, 2).value, 'review');
  assert.equal(after({ error: 'denied', code: 'POLICY_DENY', verdict: null }).value, 'refused');
  assert.equal(after({ code: 'NotFound', effect: 'applied' }).value, 'paid');
  assert.equal(after({ code: 'NotFound' }).value, 'review');
});

test('[C6-edge-7] edges on errors are in every drawing, and in what check finds', () => {
  const { graph } = compile(shop);
  for (const drawn of [toMermaid(graph), toDot(graph), toSvg(graph), JSON.stringify(toJsonGraph(graph))])
    assert.match(drawn, /charge\.failed/);
  assert.deepEqual(analyseWorkflow(graph).findings, []);
  const edge = toJsonGraph(graph)['edges'] as { kind: string; label: string }[];
  assert.ok(edge.some(({ kind, label }) => kind === 'outcome' && label === 'charge.failed'));
});

test('[C6-edge-7] unknown names, actions and misplaced fields of error edges are problems with their place', () => {
  const { problems } = read(`
initial: open
actions:
  charge: {}
states:
  open:
    on:
      charge: { target: open, code: Forbidden }
      charge.failed: [{ code: Forbiden, target: open }, { guard: 'error.verdict == "transient_time"' }]
      chrge.failed: open
      charge.broken: open
`);
  const all = problems.join('\n');
  assert.match(all, /8:\d+ 'code' asks for the error of a step, and this edge is on its success/);
  assert.match(all, /9:\d+ 'Forbiden' is not known here/);
  assert.match(all, /9:\d+ no error has the name 'transient_time'/);
  assert.match(all, /10:\d+ there is no action 'chrge'/);
  assert.match(all, /11:\d+ a step of 'charge' never ends as 'broken'/);
});
