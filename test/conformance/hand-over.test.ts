/** CONTRACT section 6: a reply is handed over when its last byte was written and its client was there. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { isSuccess, type Reply } from '../../src/index.ts';
import { eventually } from '../support/eventually.ts';
import { send } from '../support/resend.ts';

/** Where payments are made: each waits for its answer until the test gives it. */
async function openBank(t: TestContext) {
  const waiting: ServerResponse[] = [];
  let paid = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      paid += 1;
      waiting.push(response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    paid: () => paid,
    answer: () => waiting.splice(0).forEach((response) => response.end('{"paid":true}')),
  };
}

async function openStalling(t: TestContext) {
  const bank = await openBank(t);
  const child = fork(path.join(import.meta.dirname, '../support/stalling-child.ts'), [bank.url]);
  t.after(() => child.kill('SIGKILL'));
  const [{ url, key }] = (await once(child, 'message')) as [{ url: string; key: string }];
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const pay = (n: number) => send(new URL('/v1/calls', url), headers, JSON.stringify({ tool: 'pay', args: { n } }));
  const isStopped = () =>
    eventually('the process to stop', async () =>
      /^State:\s+T/m.test(readFileSync(`/proc/${child.pid}/status`, 'utf8')),
    );
  /** What `during` does, the process hears of all at once, when it goes on. */
  const stalled = async (during: () => Promise<void> | void): Promise<void> => {
    child.kill('SIGSTOP');
    await isStopped();
    await during();
    child.kill('SIGCONT');
  };
  return { bank, pay, stalled };
}

test(
  '[C6-attach-14] nothing is sent for a client that sent and closed during a stall: it may have gone elsewhere',
  { skip: process.platform === 'linux' ? false : 'reads /proc' },
  async (t) => {
    const { bank, pay, stalled } = await openStalling(t);
    for (let n = 1; n <= 30; n++) {
      await stalled(async () => {
        const first = pay(n);
        await first.sent;
        first.destroy();
      });
      const other = pay(1_000 + n);
      await eventually('the other payment', async () => bank.paid() >= n);
      bank.answer();
      assert.ok(isSuccess(replyIn(await other.answer)));
      assert.equal(bank.paid(), n, `round ${n}: paid for nobody`);
    }
  },
);

const replyIn = (text: string | null): Reply => JSON.parse(text ?? assert.fail('no answer')) as Reply;
const linuxOnly = { skip: process.platform === 'linux' ? false : 'reads /proc' };

test(
  '[C6-attach-13] a client that closed during a stall gets its result when it asks again, and nothing runs twice',
  linuxOnly,
  async (t) => {
    const { bank, pay, stalled } = await openStalling(t);
    for (let n = 1; n <= 8; n++) {
      const first = pay(n);
      await eventually('the payment', async () => bank.paid() === n);
      await stalled(async () => {
        bank.answer();
        first.destroy();
        assert.equal(await first.answer, null);
      });
      let text: string | null = null;
      void pay(n).answer.then((answer) => (text = answer));
      await eventually('an answer', async () => text !== null || bank.paid() > n);
      assert.equal(bank.paid(), n, `round ${n}: paid twice`);
      const reply = replyIn(text);
      assert.ok(isSuccess(reply) && reply.replayed === true, JSON.stringify(reply));
      assert.equal(bank.paid(), n);
    }
  },
);

test(
  '[C6-attach-16] a repeat that is lost too leaves the place to the next, and after that the same call runs anew',
  linuxOnly,
  async (t) => {
    const { bank, pay, stalled } = await openStalling(t);
    const first = pay(1);
    await eventually('the payment', async () => bank.paid() === 1);
    first.destroy();
    const second = pay(1);
    await stalled(async () => {
      bank.answer();
      second.destroy();
      assert.equal(await second.answer, null);
    });
    const third = replyIn(await pay(1).answer);
    assert.ok(isSuccess(third) && third.replayed === true, JSON.stringify(third));
    assert.equal(bank.paid(), 1);
    const fourth = pay(1);
    await eventually('another payment', async () => bank.paid() === 2);
    bank.answer();
    const anew = replyIn(await fourth.answer);
    assert.ok(isSuccess(anew) && anew.replayed === undefined && anew.call_id !== third.call_id, JSON.stringify(anew));
  },
);
