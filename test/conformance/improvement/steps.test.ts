/** The steps of the improvement loop in a real store: who comes first counts, in one process and in two. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { defaultPlaybook, recoveryOfUpstream } from '../../../src/core/recovery/playbook.ts';
import { openGateway as openWhole } from '../../../src/main.ts';
import { coverPlaybook } from '../../../src/shell/improvement/cover-playbook.ts';
import { createImprovements, type ReadChange } from '../../../src/shell/improvement/improvements.ts';
import { readImprovements } from '../../../src/shell/improvement/read-improvements.ts';
import { folderOf } from '../../support/open-gateway.ts';
import { aTool } from '../../support/tools.ts';

const who = { tenant: 'default', name: 'ada' };

/** What is written is the text of the playbook itself. */
const read: ReadChange = async ({ playbook = '' }) => ({
  playbook,
  recoveryNow: recoveryOfUpstream,
  recoveryThen: (tool) => ({ ...recoveryOfUpstream(tool), playbook: defaultPlaybook }),
  goldens: [],
  policy: null,
});

async function open(t: TestContext, file: string) {
  const act = aTool('act', (_, ctx) => ctx.fail({ kind: '403_forbidden', message: 'no' }));
  const opened = await openWhole({ tools: [act], file });
  t.after(() => opened.gateway.close({ drain_seconds: 0 }));
  const { shell, gateway } = opened;
  return {
    gateway,
    shell,
    service: createImprovements(shell, read),
    chain: () => readImprovements(shell.ports.store, shell.ports.sha256),
    cover: (text: string) => coverPlaybook(text, who, shell),
  };
}

/** One that owns the file, and one that forwards to it. */
async function openTwo(t: TestContext) {
  const file = path.join(folderOf(t), 'recourse.db');
  return [await open(t, file), await open(t, file)] as const;
}

const made = <Made extends { readonly ok: boolean }>(done: Made): Extract<Made, { ok: true }> => {
  assert.ok(done.ok, JSON.stringify(done));
  return done as Extract<Made, { ok: true }>;
};

describe('two processes on one store', () => {
  test('[S003-change-4] adopt one playbook, and the other is not covered', async (t) => {
    const [one, two] = await openTwo(t);
    const answers = await Promise.all([one.cover('first'), two.cover('second')]);
    assert.deepEqual(answers.toSorted(), ['adopted', 'uncovered']);
    const { steps, problems } = await two.chain();
    assert.deepEqual([steps.length, problems], [1, []]);
    assert.deepEqual(await Promise.all([one.cover('first'), one.cover('second')]), [
      answers[0] === 'adopted' ? 'covered' : 'uncovered',
      answers[0] === 'adopted' ? 'uncovered' : 'covered',
    ]);
  });

  test('[S003-change-3] of releases at once one is in force, the others are told, and all steps follow each other', async (t) => {
    const both = await openTwo(t);
    const [one] = both;
    assert.equal(await one.cover('first'), 'adopted');
    const { call_id: call } = (await one.gateway.handle({ tool: 'act', args: {} })) as { readonly call_id: string };
    const { step: feedback } = made(await one.service.add(call, who, 'it was wrong'));
    const proposals = await Promise.all(
      [...both, ...both].map(async ({ service }, at) =>
        made(await service.propose([feedback.id], { playbook: `text ${at}` }, who)),
      ),
    );
    const released = await Promise.all(
      proposals.map(({ step }, at) => both[at % 2]?.service.release(step.id, who, { force: false, note: '' })),
    );
    assert.deepEqual(released.map((each) => (each?.ok === true ? 'released' : each?.problem)).toSorted(), [
      'moved_on',
      'moved_on',
      'moved_on',
      'released',
    ]);
    for (const each of both) {
      const { steps, problems, stack } = await each.chain();
      assert.deepEqual([steps.length, problems, stack.length], [7, [], 1]);
    }
  });

  test('[S003-change-3] of rollbacks at once one is recorded', async (t) => {
    const both = await openTwo(t);
    const [one, two] = both;
    await one.cover('first');
    const { call_id: call } = (await one.gateway.handle({ tool: 'act', args: {} })) as { readonly call_id: string };
    const { step: feedback } = made(await one.service.add(call, who, 'it was wrong'));
    const { step: proposal } = made(await two.service.propose([feedback.id], { playbook: 'second' }, who));
    const { step: release } = made(await two.service.release(proposal.id, who, { force: false, note: 'agreed' }));
    assert.equal(await one.cover('second'), 'covered');
    const ended = await Promise.all(both.map(({ service }) => service.rollback(release.id, who, '')));
    assert.deepEqual(ended.map(({ ok }) => ok).toSorted(), [false, true]);
    const { released, problems } = await one.chain();
    assert.deepEqual([released, problems], [one.shell.ports.sha256('first'), []]);
  });
});

test('[S003-change-3] a proposal that changes nothing, and feedback about no call, are refused', async (t) => {
  const { service, gateway, cover } = await open(t, path.join(folderOf(t), 'recourse.db'));
  const { call_id: call } = (await gateway.handle({ tool: 'act', args: {} })) as { readonly call_id: string };
  const refused = async (done: Promise<{ readonly ok: boolean; readonly problem?: string }>) => (await done).problem;
  assert.equal(await refused(service.add('call_none', who, 'x')), 'not_found');
  assert.equal(await refused(service.add(call, { ...who, tenant: 'acme' }, 'x')), 'not_found');
  const { step: feedback } = made(await service.add(call, who, 'x'));
  assert.equal(
    await refused(service.propose([feedback.id], { playbook: 'first' }, who)),
    'moved_on',
    'none is in force',
  );
  await cover('first');
  assert.equal(await refused(service.propose([feedback.id], { playbook: 'first' }, who)), 'bad_change');
  assert.equal(await refused(service.propose(['fb_none'], { playbook: 'second' }, who)), 'not_found');
  assert.equal(await refused(service.propose([], { playbook: 'second' }, who)), 'bad_change');
  assert.equal(await refused(service.release('prop_none', who, { force: false, note: '' })), 'not_found');
  assert.equal(await refused(service.rollback('rel_none', who, '')), 'not_found');
});
