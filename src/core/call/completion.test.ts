/** What blocks a completion, in words and with advice: every combination tells all of it, in one order. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { CallId } from './call.ts';
import { type Against, completionRefusal, readCompletion } from './completion.ts';
import { defaultLimits } from '../limits.ts';

const nothing: Against = { pending: [], granted: [], inDoubt: [], underWay: [], undone: [], conditionHolds: true };
const [one, two] = ['call_1' as CallId, 'call_2' as CallId];
const undone = (...names: string[]) => names.map((name) => ({ name, tools: [name, `bound_${name}`] }));

const table: readonly (readonly [string, Partial<Against>, string, object])[] = [
  ['an approval', { pending: ['apr_1'] }, '1 approval pending', { type: 'pending_approvals', approval_ids: ['apr_1'] }],
  [
    'approvals, granted or not',
    { pending: ['apr_1', 'apr_2'], granted: ['apr_3'] },
    '2 approvals pending, 1 approval granted and not used',
    { type: 'pending_approvals', approval_ids: ['apr_1', 'apr_2', 'apr_3'] },
  ],
  [
    'a doubt before what is under way',
    { inDoubt: [two], underWay: [one] },
    '1 call in doubt, 1 call under way',
    { type: 'reconcile', call_id: two },
  ],
  ['what is under way', { underWay: [one, two] }, '2 calls under way', { type: 'reconcile', call_id: one }],
  [
    'what is not done, and can be',
    { undone: undone('verify', 'ship') },
    "'verify' not done, 'ship' not done",
    { type: 'choose_action', actions: ['bound_ship'] },
  ],
  [
    'what is not done, and cannot be now',
    { undone: undone('verify') },
    "'verify' not done",
    { type: 'choose_action', actions: ['look', 'bound_ship'] },
  ],
  [
    'a condition',
    { conditionHolds: false },
    'its condition does not hold',
    { type: 'choose_action', actions: ['look', 'bound_ship'] },
  ],
];

describe('what blocks a completion', () => {
  for (const [name, against, reasons, resolution] of table)
    it(`is told: ${name}`, () => {
      const no = completionRefusal({ ...nothing, ...against }, 'recourse.yaml:7', ['look', 'bound_ship']);
      assert.equal(no?.message, `agent cannot complete: ${reasons}`);
      assert.deepEqual(no?.resolution, resolution);
      const byRule = 'undone' in against || 'conditionHolds' in against;
      assert.equal(no !== null && 'rule_ref' in no ? no.rule_ref : null, byRule ? 'recourse.yaml:7' : null);
    });

  it('names some of many, and counts the rest', () => {
    const many = undone(...Array.from({ length: 13 }, (_, n) => `a${n}`));
    assert.match(
      completionRefusal({ ...nothing, undone: many }, 'x:1', [])?.message ?? '',
      /'a9' not done, 3 more not done$/,
    );
  });

  it('is nothing if nothing blocks, and something if anything does', () => {
    const ids = fc.array(fc.constantFrom(one, two), { maxLength: 2 });
    const against = fc.record({
      pending: ids,
      granted: ids,
      inDoubt: ids,
      underWay: ids,
      undone: ids.map((names) => undone(...names)),
      conditionHolds: fc.boolean(),
    });
    fc.assert(
      fc.property(against, (found) => {
        const { conditionHolds, ...lists } = found;
        const blocks = !conditionHolds || Object.values(lists).some(({ length }) => length > 0);
        assert.equal(completionRefusal(found, null, []) !== null, blocks);
      }),
      { seed: 5, numRuns: 500 },
    );
  });

  it('is asked about with any value at all, and only one that names nothing but a session is read', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const read = readCompletion(value, defaultLimits);
        if (read.ok)
          assert.ok(value === undefined || Object.keys(value as object).every((field) => field === 'session'));
        else assert.ok(read.requested === 'complete' && read.errors.length > 0);
      }),
      { seed: 5, numRuns: 500 },
    );
  });
});
