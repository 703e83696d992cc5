/** What a machine with error edges is checked for, and how it is drawn. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setup } from 'xstate';
import { analyseWorkflow } from '../../../src/core/workflow/analyse/analyse-workflow.ts';
import { failedWith, mount } from '../../../src/index.ts';

describe('an error edge of a machine', () => {
  const mounted = (on: object, states: object = {}) =>
    mount(
      setup({}).createMachine({
        id: 'm',
        initial: 'open',
        states: { open: { on: { go: 'over', ...on } }, over: { type: 'final' }, ...states },
      } as never),
      { actions: { go: { run: async () => ({}) } } } as never,
    );

  test('[C6-edge-7] is a problem for an action that nobody declared, and for an outcome that it never has', () => {
    assert.throws(
      () => mounted({ 'goo.failed': 'over' }),
      /edge 'goo.failed' of state 'open': there is no action of this name; did you mean 'go.failed'\?/,
    );
    assert.throws(() => mounted({ 'go.falied': 'over' }), /its action has no outcome 'falied'; known are 'go.failed'/);
    assert.throws(
      () => failedWith({ code: 'Forbiden' as never }),
      /no error has the code 'Forbiden'; did you mean Forbidden\?/,
    );
    assert.throws(() => failedWith({}), /asks for nothing/);
  });

  test('[C6-edge-7] is an edge of the graph, and leads to its state', () => {
    const { graph } = mounted(
      { 'go.failed': { target: 'hurt', guard: failedWith({ code: 'NotFound' }) } },
      { hurt: { on: { go: 'over' } } },
    );
    const edge = graph.edges.find(({ kind }) => kind === 'outcome');
    assert.deepEqual([edge?.action, edge?.to, edge?.guard], ['go.failed', ['hurt'], 'error.code == "NotFound"']);
    assert.deepEqual(analyseWorkflow(graph).findings, []);
  });

  test('[C6-edge-7] leads nowhere from a state in which its action is not legal', () => {
    const stuck = mounted({ go: 'rest' }, { rest: { on: { 'go.failed': 'over' } } });
    const codes = analyseWorkflow(stuck.graph).findings.map(({ code }) => code);
    assert.ok(codes.includes('dead_end') && codes.includes('unreachable_action'), codes.join());
  });
});
