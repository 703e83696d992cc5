import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policyOf, writtenAgent } from '../../../../test/support/written-policy.ts';
import type { WorkflowGraph } from '../../workflow/graph.ts';
import { analysePolicy } from './analyse-policy.ts';
import type { KnownAction, KnownTool, PolicyContext } from './policy-analysis.ts';

const aTool = (name: string): KnownTool => ({
  name,
  effect: 'plain',
  reach: 'network',
  annotations: {},
  inputSchema: null,
});

const anAction = (policyName: string, boundTool: string | null): KnownAction => ({
  policyName,
  boundTool,
  effectClass: 'plain',
  reach: 'network',
  input: { kind: 'anything' },
  inputSchema: null,
});

const graph: WorkflowGraph = { name: 'desk', type: 'atomic', initial: null, states: [], edges: [] };
const actions = new Map([
  ['close', anAction('desk/close', null)],
  ['refund', anAction('shop/refund', 'shop/refund')],
]);
const tools = ['shop/pay', 'shop/get', 'shop/refund'].map(aTool);
const plain: PolicyContext = { tools, workflows: new Map() };

function foundIn(require: readonly string[], rules: readonly string[], context: PolicyContext = plain) {
  const completion = { require, when: null, condition: null, ref: 'recourse.yaml:30' };
  const { findings } = analysePolicy(policyOf([writtenAgent(rules, { completion })]), context);
  return findings
    .filter(({ kind }) => kind === 'never_completes')
    .map(({ severity, refs, message, fix, counterexample: { says } }) => [severity, ...refs, message, fix, says]);
}

test('what exists and may be permitted or deferred can be required', () => {
  assert.deepEqual(foundIn(['shop/pay', 'shop/get'], ['permit shop/pay if args.a > 1', 'defer shop/get']), []);
});

test('what does not exist is told with the name that was probably meant', () => {
  assert.deepEqual(foundIn(['shop/pai', 'elsewhere'], ['permit **']), [
    [
      'warning',
      'recourse.yaml:30',
      'clerk could never complete where shop/pai is required: no tool and no action has this name',
      'did you mean shop/pay?',
      'the nearest is shop/pay',
    ],
    [
      'warning',
      'recourse.yaml:30',
      'clerk could never complete where elsewhere is required: no tool and no action has this name',
      'correct the name, or pin the tools again with: recourse pin',
      'none of the 3 there are has it',
    ],
  ]);
});

test('what is denied is told with what denies it', () => {
  assert.deepEqual(foundIn(['shop/pay'], ['deny shop/pay', 'permit **']), [
    [
      'warning',
      'recourse.yaml:30',
      'clerk could never complete where shop/pay is required: it is denied',
      'permit or defer shop/pay, or do not require it',
      'shop/pay is denied at recourse.yaml:10',
    ],
  ]);
});

test('where nobody knows which tools there are, nothing is claimed', () => {
  assert.deepEqual(foundIn(['anything'], ['permit **'], { tools: null, workflows: new Map() }), []);
});

test('an action is known by its own name, by the name of rules, and by its tool', () => {
  const context = { tools: [aTool('shop/pay')], workflows: new Map([['desk', { graph, actions }]]) };
  assert.deepEqual(foundIn(['close', 'desk/close', 'refund', 'shop/refund'], ['permit **'], context), []);
  const denied = foundIn(['close', 'refund'], ['deny desk/*', 'permit **'], context);
  assert.deepEqual(
    denied.map(([, , message]) => message),
    ['clerk could never complete where close is required: it is denied'],
  );
});
