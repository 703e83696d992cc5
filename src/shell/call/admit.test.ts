/** Phase 1: what a key that was used before answers. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { CallId } from '../../core/call/call.ts';
import type { Reply } from '../../core/call/reply.ts';
import { errorOf, successOf } from '../../../test/support/check-reply.ts';
import { anAsked, openShell, openUnadopted } from '../../../test/support/an-asked.ts';
import { aTool, createHeldTool } from '../../../test/support/tools.ts';
import type { Shell } from '../shell.ts';
import { admitByKey, answerAdmission, answerAttached, claimedBy } from './admit.ts';
import type { Asked } from './asked.ts';

const admit = ({ request, call, who }: Asked, shell: Shell) => admitByKey(request, call.fingerprint, who, shell);
const pay = { tool: 'pay', args: { amount: 1 } };

const kinds: readonly (readonly [string, object, string])[] = [
  ['a call without a key is new', pay, 'new'],
  ['a key that nobody used is new', { ...pay, key: 'unused' }, 'new'],
  ['a key that was used for the same call is answered', { ...pay, key: 'used' }, 'answered'],
  ['a key that was used for other arguments is refused', { ...pay, args: { amount: 2 }, key: 'used' }, 'refuse'],
];

for (const [name, raw, kind] of kinds)
  test(name, async (t) => {
    const { call, shell } = await openShell(t, [aTool('pay', () => 'paid')]);
    const first = successOf(await call({ ...pay, key: 'used' }));
    const asked = anAsked(shell, raw);
    const admission = await admit(asked, shell);
    assert.equal(admission.kind, kind);
    if (admission.kind === 'answered') assert.deepEqual(admission.reply, { ...first, replayed: true });
    if (admission.kind === 'refuse') {
      const { code } = errorOf(await answerAdmission(admission, asked, shell), 'validation_failed');
      assert.equal(code, 'KeyReused');
    }
  });

test('a key whose call is gone from the store is new', async (t) => {
  const { shell } = await openShell(t, []);
  const { request, call } = anAsked(shell, { ...pay, key: 'old' });
  const claim = { callId: 'call_gone' as CallId, fingerprint: call.fingerprint };
  assert.deepEqual(await claimedBy(claim, request, call.fingerprint, shell), { kind: 'new' });
});

async function underWay(t: TestContext, raw: object) {
  const held = createHeldTool('pay');
  const { gateway, shell } = await openShell(t, [held.definition]);
  const first = gateway.handle({ ...pay, key: 'k' });
  const run = await held.begun();
  const asked = anAsked(shell, { ...pay, key: 'k', ...raw });
  const admission = await admit(asked, shell);
  assert.ok(admission.kind === 'under_way' && !admission.attached);
  return { shell, first, run, asked, admission };
}

test('a call under way is refused to whoever does not wait', async (t) => {
  const { shell, run, first, asked, admission } = await underWay(t, {});
  const refused = errorOf(await answerAdmission(admission, asked, shell), 'action_in_flight');
  assert.equal(refused.in_flight_call_id, admission.call.id);
  run.finish('paid');
  await first;
});

test('a call under way answers whoever waits, as a replay', async (t) => {
  const { shell, run, first, asked, admission } = await underWay(t, { wait_seconds: 60 });
  const joining = answerAdmission(admission, asked, shell);
  run.finish('paid');
  const reply = successOf(await joining);
  assert.deepEqual([reply.call_id, reply.replayed], [successOf(await first).call_id, true]);
});

const outcomes: readonly (readonly [string, (reply: Reply | null) => unknown, string | Error])[] = [
  ['an attached caller hears the success of the call', (reply) => successOf(reply).result, 'paid'],
  // The body threw: nobody knows whether it paid.
  ['an attached caller is fenced by a call in doubt', (reply) => errorOf(reply, 'fenced').code, new Error('no')],
];

for (const [name, told, outcome] of outcomes)
  test(name, async (t) => {
    const { shell, run, first, asked, admission } = await underWay(t, {});
    const joining = answerAttached({ ...admission, attached: true }, asked, shell);
    if (outcome instanceof Error) run.fail(outcome);
    else run.finish(outcome);
    assert.equal(told(await joining), outcome instanceof Error ? 'Fenced' : outcome);
    await first;
  });

test('a step that was in doubt and succeeded is unadopted; adopted, its key answers with the adoption', async (t) => {
  const { gateway, shell, raw } = await openUnadopted(t, 'k');
  const asked = anAsked(shell, { ...raw, key: 'k' });
  assert.equal((await admit(asked, shell)).kind, 'unadopted');
  const adoption = successOf(await gateway.handleStep(raw));
  const admission = await admit(asked, shell);
  assert.ok(admission.kind === 'answered');
  assert.equal(admission.reply.call_id, adoption.call_id);
});
