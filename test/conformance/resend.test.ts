/** A client that gives up and sends the same again, at once: nothing runs twice, whatever the loop hears first. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CallId } from '../../src/core/call/call.ts';
import { isSuccess } from '../../src/index.ts';
import { eventually } from '../support/eventually.ts';
import { ways } from '../support/resend.ts';

const rounds = 60;

for (const [way, open] of Object.entries(ways))
  describe(way, () => {
    // In 2026-07-28 a closed stream cancels: the call is in doubt until its body comes back.
    const cancels = way.endsWith('2026-07-28');

    test('[C6-attach-14] a client that closes while the tool runs and sends again at once runs it once', async (t) => {
      const { pay, payments, replyIn, shell } = await open(t);
      const hasAttached = async (id: CallId) =>
        (await shell.ports.store.recordsOf(id)).some(({ kind }) => kind === 'attached');
      for (let n = 0; n < rounds; n++) {
        const first = pay(n);
        await payments.begun(n);
        const [id] = shell.live.running.keys();
        first.destroy();
        const second = pay(n);
        if (!cancels) {
          await eventually('the second one', async () => payments.times(n) > 1 || hasAttached(id as CallId));
          payments.finish(n);
        }
        const reply = replyIn(await second.answer);
        assert.equal(payments.times(n), 1, `round ${n} ran twice`);
        if (!cancels) assert.ok(isSuccess(reply) && reply.replayed === true, JSON.stringify(reply));
        else assert.ok('error' in reply && reply.error === 'fenced', JSON.stringify(reply));
        payments.finish(n);
      }
    });

    test('[C6-attach-14] a client that closes right after it sent, whatever is known of it then, runs it at most once', async (t) => {
      const { pay, payments } = await open(t);
      for (let n = 0; n < rounds; n++) {
        const first = pay(n);
        await new Promise((resolve) => setTimeout(resolve, n % 6));
        first.destroy();
        const second = pay(n);
        const done = setInterval(() => payments.finish(n), 5);
        await second.answer;
        clearInterval(done);
        assert.ok(payments.times(n) <= 1, `round ${n} ran ${payments.times(n)} times`);
      }
    });

    test('[C6-attach-21] a client that closes as soon as it has its reply has it: the same once more runs', async (t) => {
      const { pay, payments, replyIn } = await open(t);
      for (let n = 0; n < rounds; n++)
        for (const times of [1, 2]) {
          const sent = pay(n);
          const answered = sent.answer.then(() => true);
          await Promise.race([payments.begun(n, times), answered]);
          payments.finish(n);
          const reply = replyIn(await sent.answer);
          assert.ok(isSuccess(reply) && reply.replayed === undefined, `round ${n}: ${JSON.stringify(reply)}`);
        }
    });

    test('[C6-attach-7] a client that waits and one that asks for the same are two calls', async (t) => {
      const { pay, payments, replyIn } = await open(t);
      const both = [pay(1), pay(1)];
      await payments.begun(1, 2);
      payments.finish(1);
      const replies = await Promise.all(both.map(async ({ answer }) => replyIn(await answer)));
      assert.ok(
        replies.every((reply) => isSuccess(reply) && reply.replayed === undefined),
        JSON.stringify(replies),
      );
    });
  });
