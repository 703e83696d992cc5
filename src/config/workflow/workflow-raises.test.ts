import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileYaml as compile, moved, readYaml as read } from '../../../test/support/yaml-workflow.ts';

test('one region tells another by what it raises', () => {
  const text = `
context: { told: 0 }
type: parallel
actions: { pay: {}, look: {} }
states:
  money:
    initial: due
    states:
      due: { on: { pay: { target: paid, raise: settled } } }
      paid: { on: { look: { target: seen } } }
      seen: { type: final, entry: { assign: { told: context.told + 10 }, raise: noticed } }
  parcel:
    initial: held
    states:
      held: { on: { settled: { target: free, guard: context.told == 0, assign: { told: context.told + 1 } } } }
      free: { on: { noticed: gone } }
      gone: { type: final }
`;
  const { machine } = compile(text);
  let at = moved(machine.start(0));
  assert.deepEqual(machine.next(at), ['pay']);
  at = moved(machine.apply(at, 'pay', {}, {}, 0));
  assert.deepEqual([at.value, at.context], [{ money: 'paid', parcel: 'free' }, { told: 1 }]);
  at = moved(machine.apply(at, 'look', {}, {}, 0));
  assert.deepEqual([at.value, at.context, at.done], [{ money: 'seen', parcel: 'gone' }, { told: 11 }, true]);
  const near = read(text.replace('settled: {', 'setled: {'));
  assert.deepEqual(near.problems, ["15:21 there is no action 'setled'"]);
  const taken = read(text.replace('raise: settled', 'raise: look'));
  assert.ok(
    taken.problems.includes("9:48 'look' is an action, and would come without its inputs"),
    String(taken.problems),
  );
  const inputs = read(text.replace('guard: context.told == 0', 'guard: inputs.sum == 0'));
  assert.match(String(inputs.problems), /there is no variable inputs here/);
});
