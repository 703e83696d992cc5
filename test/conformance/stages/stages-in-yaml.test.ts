/** Stages that are written in a file: the same phases, in expressions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mount, tool, ToolFailure } from '../../../src/index.ts';
import { openWorkflow, refusal, success } from '../../support/open-workflow.ts';
import { readYaml } from '../../support/yaml-workflow.ts';

const shop = `
context: { tries: 0 }
initial: open
actions:
  pay:
    input:
      type: object
      properties: { amount: { type: number }, people: { type: array } }
      required: [amount]
    stage:
      setup: { tries: context.tries + 1 }
      act:
        - { call: shop/charge, args: { amount: inputs.amount, try: context.tries }, as: charge }
        - { call: shop/mail, each: 'has(inputs.people) ? inputs.people : []', when: item != "nobody", args: { to: item }, as: mails, may_fail: true }
      assert:
        - { when: acted.charge.amount == inputs.amount, reason: the amount differs }
      exit: { receipt: acted.charge.receipt, sent: size(acted.mails), failed: 'has(errors.mails) ? errors.mails.code : ""' }
      next:
        - { when: 'outcome == "failed" && error.code == "NotFound"', event: needs_repair }
      retry: { max_attempts: 1, backoff: fixed, base: 1ms, jitter: 0 }
      unrecoverable: skip
  repair: {}
states:
  open:
    on:
      pay: paid
      pay.needs_repair: repairing
      pay.skipped: past
  repairing: { on: { repair: open } }
  past: { type: final }
  paid: { type: final }
`;

test('[C6-stage-11] a stage in a file runs its calls, and its routes lead where they say', async (t) => {
  const { written, problems } = readYaml(shop);
  assert.deepEqual(problems, []);
  assert.ok(written !== null);
  const sent: string[] = [];
  let missing = true;
  const named = (name: string, run: (args: Record<string, unknown>) => unknown) =>
    tool({
      name,
      effect: 'plain',
      input: { type: 'object' },
      run: async (args: Record<string, unknown>) => run(args),
    } as never);
  const charge = named('shop/charge', (args) => {
    sent.push(`charge ${String(args['amount'])}`);
    if (missing) throw new ToolFailure({ kind: '404_not_found', message: 'no card', effect: 'none' });
    return { amount: args['amount'], receipt: `r${String(args['try'])}` };
  });
  const mail = named('shop/mail', ({ to }) => {
    sent.push(`mail ${String(to)}`);
    if (to === 'ben') throw new ToolFailure({ kind: '404_not_found', message: 'who?', effect: 'none' });
    return {};
  });
  const flow = mount(written.machine as never, written.options as never);
  const gateway = await openWorkflow(t, [flow as never], { tools: [charge, mail] });
  const session = await gateway.open();
  const failed = refusal(await gateway.ask('pay', { amount: 5 }, { session }), 'action_error');
  assert.deepEqual([failed.code, failed.valid_next_actions], ['NotFound', ['repair']]);
  assert.deepEqual(sent, ['charge 5', 'charge 5'], 'one retry');
  missing = false;
  success(await gateway.ask('repair', {}, { session }));
  const people = ['ann', 'nobody', 'ben'];
  const paid = success(await gateway.ask('pay', { amount: 7, people }, { session }));
  assert.deepEqual([paid.result, paid.done], [{ receipt: 'r2', sent: 2, failed: 'NotFound' }, true]);
  assert.deepEqual(sent.slice(2), ['charge 7', 'mail ann', 'mail ben']);
});

test('[C6-stage-11] a stage in a file has no way to write to the context but setup, and problems have their place', () => {
  const { problems } = readYaml(`
initial: open
actions:
  pay:
    result: "1"
    stage:
      act: [{ call: shop/charge, args: { a: inputs. } }]
      assert: [{ when: 1 + 1, reason: no }]
      update: { n: "1" }
      unrecoverable: give up
states:
  open: { on: { pay: open, pay.needs: open } }
`);
  const all = problems.join('\n');
  assert.match(all, /5:5 an action with a stage has no result/);
  assert.match(all, /7:\d+ this expression is wrong/);
  assert.match(all, /8:\d+ this expression is wrong/);
  assert.match(all, /9:7 .*update/);
  assert.match(all, /10:\d+ /);
  assert.match(all, /12:\d+ a step of 'pay' never ends as 'needs'/);
});
