/** What must every notifier do? One contract for all; the harness says how its receiver fails. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { Delivered, DeliverNotice } from '../../ports/notice.ts';
import { aNotice } from './a-notice.ts';
import { eventually } from './eventually.ts';

/** How its receiver behaves. */
export type Receiving = 'takes' | 'is away' | 'refuses for good' | 'never answers';

export interface StagedNotifier {
  readonly deliver: DeliverNotice;
  /** What the receiver has taken, each as one text. */
  received(): Promise<readonly string[]>;
  /** From now on it takes. */
  mend(): Promise<void>;
  /** Whether the receiver was asked; for one that never answers. */
  wasAsked(): boolean;
}

export interface NotifierHarness {
  /** What this technology cannot express, and why. */
  readonly cannot: Readonly<Partial<Record<Receiving, string>>>;
  /** Something of it is in what is received of each notice, such as its id. */
  readonly shows: (id: string) => string;
  /** A part of an address or a secret that must not be in its words. */
  readonly secret: string;
  stage(t: TestContext, receiving: Receiving): Promise<StagedNotifier>;
}

const never = new AbortController().signal;

export function provesNotifier(name: string, harness: NotifierHarness): void {
  const { cannot, shows, secret } = harness;
  const skipped = (receiving: Receiving) => ({ skip: cannot[receiving] ?? false });
  const problemOf = (delivered: Delivered): string => {
    const problem = delivered.kind === 'taken' ? '' : delivered.problem;
    assert.ok(problem !== '' && !problem.includes(secret), problem);
    return problem;
  };

  describe(`${name} keeps the contract of notifiers`, () => {
    test('a notice is delivered, and can be told from others', skipped('takes'), async (t) => {
      const { deliver, received } = await harness.stage(t, 'takes');
      for (const id of ['evt_a_1.1', 'evt_a_1.2'])
        assert.deepEqual(await deliver(aNotice(id), never), { kind: 'taken' });
      const got = await received();
      for (const id of ['evt_a_1.1', 'evt_a_1.2'])
        assert.ok(
          got.some((text) => text.includes(shows(id))),
          `${shows(id)} in ${JSON.stringify(got)}`,
        );
    });

    test('a notice about several events is delivered', skipped('takes'), async (t) => {
      const { deliver, received } = await harness.stage(t, 'takes');
      assert.deepEqual(await deliver(aNotice('evt_b_1.1', 20), never), { kind: 'taken' });
      assert.ok((await received()).length >= 1);
    });

    test('while the receiver is away it fails, and delivers the same later', skipped('is away'), async (t) => {
      const { deliver, received, mend } = await harness.stage(t, 'is away');
      const failed = await deliver(aNotice('evt_c_1.1'), never);
      assert.equal(failed.kind, 'failed');
      problemOf(failed);
      await mend();
      assert.deepEqual(await deliver(aNotice('evt_c_1.1'), never), { kind: 'taken' });
      assert.ok((await received()).some((text) => text.includes(shows('evt_c_1.1'))));
    });

    test('what the receiver will never take is refused', skipped('refuses for good'), async (t) => {
      const { deliver } = await harness.stage(t, 'refuses for good');
      const refused = await deliver(aNotice('evt_d_1.1'), never);
      assert.equal(refused.kind, 'refused');
      problemOf(refused);
    });

    test('a delivery that is stopped ends', skipped('never answers'), async (t) => {
      const { deliver, wasAsked } = await harness.stage(t, 'never answers');
      const stop = new AbortController();
      const delivering = deliver(aNotice('evt_e_1.1'), stop.signal);
      await eventually('the receiver was asked', async () => wasAsked());
      stop.abort();
      const stopped = await delivering;
      assert.equal(stopped.kind, 'failed');
      problemOf(stopped);
    });
  });
}
