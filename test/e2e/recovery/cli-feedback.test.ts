/** The improvement loop from the command line: feedback, proposal, release, rollback, and what `apply` and `up` take. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test, type TestContext } from 'node:test';
import { recourse } from '../../support/compiled-recourse.ts';
import { type GovernedUp, startGoverned } from '../../support/governed-up.ts';
import { listenApi } from '../../support/http/api.ts';
import { storeIn } from '../../support/recourse-process.ts';

const standard = 'playbook:\n  policy_denied: { escalate_to_human: { queue: bank } }\n';
const other = 'policy_denied: { escalate_to_human: { queue: treasury } }';

const yamlFor = (url: string, head = '', rule = 'permit: pay/*') => `${head}tools:
  pay:
    http: { url: ${JSON.stringify(url)} }
    tools:
      refund:
        description: Gives the money of an order back.
        request: { method: POST, path: /refunds }
agents:
  bot:
    rules: [{ ${rule} }]
`;

const golden = `name: what the bank forbids goes to the bank
call: { tool: pay/refund, effect: plain, args: {} }
results:
  - { status: error, error: { kind: 403_forbidden, message: no } }
expect:
  events:
    - attempt_finished
    - failure_classified: { verdict: policy_denied }
    - compensation_selected
    - dispatch_settled
    - ticket_opened: { queue: bank }
  outcome: { kind: escalated }
  sends: 1
  state: FAILED
  effect: none
`;

/** What a command tells as JSON; each test knows what it looks for. */
// oxlint-disable-next-line typescript/no-explicit-any
type Told = any;

interface Loop {
  readonly up: GovernedUp;
  readonly yaml: (head?: string, rule?: string) => string;
  readonly refuse: () => Promise<Record<string, unknown>>;
  readonly run: (...words: readonly string[]) => ReturnType<typeof recourse>;
  readonly json: (...words: readonly string[]) => Told;
  readonly feedback: (call: unknown) => string;
}

/** A gateway before an API that forbids every refund. */
async function openLoop(t: TestContext, head = standard): Promise<Loop> {
  const api = await listenApi(t, (_, response) => response.writeHead(403).end('{}'));
  const yaml = (own = head, rule?: string) => yamlFor(api.url, own, rule);
  const up = await startGoverned(t, yaml());
  await up.ready();
  const key = up.keyOf('bot');
  const run: Loop['run'] = (...words) => recourse([...words, '--url', up.url], { cwd: up.home });
  const json: Loop['json'] = (...words) => {
    const { status, stdout, stderr } = run(...words, '--json');
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout) as Told;
  };
  return {
    up,
    yaml,
    // What an upstream forbids is fenced for the rest of its session.
    refuse: async () => {
      const opened = (await up.ask('/v1/sessions', { key, body: {} })).body as { session: string };
      const body = { tool: 'pay/refund', args: {}, session: opened.session };
      return (await up.ask('/v1/calls', { key, body })).body;
    },
    run,
    json,
    feedback: (call) =>
      json('feedback', 'add', String(call), '--note', 'the treasury decides')['feedback']['feedback_id'],
  };
}

const queueOf = (reply: Record<string, unknown>): unknown => (reply['outcome'] as Record<string, unknown>)['queue'];

describe('a failure that was handled wrong', () => {
  test('[S003-change-3] becomes feedback, a proposal that is replayed, a release, and is taken back', async (t) => {
    const { up, yaml, refuse, run, json, feedback } = await openLoop(t);
    const first = await refuse();
    assert.equal(queueOf(first), 'bank');
    const id = feedback(first['call_id']);

    const proposed = json('feedback', 'propose', id, '--set', other.replace(':', '='));
    const [about] = proposed['report']['about'] as unknown as readonly Record<string, Record<string, unknown>>[];
    assert.equal(about?.['call_id'], first['call_id']);
    assert.deepEqual(
      [about?.['was']?.['compensations'], about?.['then']?.['compensations']],
      [['escalate_to_human bank'], ['escalate_to_human treasury']],
    );
    const proposal = proposed['proposal']['proposal_id'];
    assert.equal(json('feedback', 'show', proposal)['proposal']['state'], 'open');

    up.write(yaml(`playbook:\n  ${other}\n`));
    assert.match(run('apply').stderr, /no release covers what it says about failures/);
    assert.equal(queueOf(await refuse()), 'bank', 'nothing was put in force');

    const release = json('feedback', 'release', proposal)['release']['release_id'];
    assert.equal(run('apply').status, 0);
    assert.equal(queueOf(await refuse()), 'treasury');
    assert.match(run('feedback', 'release', proposal).stderr, /is released already/);

    assert.equal(json('feedback', 'rollback', release)['release']['state'], 'rolled_back');
    assert.match(run('apply').stderr, /no release covers/, 'what was taken back is covered no more');
    up.write(yaml());
    assert.equal(run('apply').status, 0);
    assert.equal(queueOf(await refuse()), 'bank');
    assert.match(run('feedback', 'rollback', release).stderr, /was rolled back already/);

    const kinds = ['adopted', 'feedback', 'proposed', 'released', 'rolled back'];
    const verified = recourse(['feedback', 'verify', '--json'], { cwd: up.home });
    assert.deepEqual([verified.status, (JSON.parse(verified.stdout) as { steps: number }).steps], [0, kinds.length]);
    assert.equal(await up.stop(), 0);
  });

  test('[S003-change-4] nobody puts another playbook in force by hand, unless it is forced, which is on record', async (t) => {
    const { up, yaml, refuse, run } = await openLoop(t);
    up.write(yaml(`playbook:\n  ${other}\n`));
    assert.equal(run('apply').status, 1);
    const forced = run('apply', '--force');
    assert.equal(forced.status, 0, forced.stderr);
    assert.match(forced.stderr, /FORCED .*no release covers/);
    assert.equal(queueOf(await refuse()), 'treasury');
    assert.equal(await up.stop(), 0);

    const tail = recourse(['audit', 'tail', '-n', '50', '--json'], { cwd: up.home }).stdout;
    assert.match(tail, /"kind":"playbook_forced"/);
    const again = recourse(['up', '--listen', '127.0.0.1:0'], { cwd: up.home });
    assert.equal(again.status, 1, 'a start looks too');
    assert.match(again.stderr, /no release covers/);
    const started = await startGoverned(t, yaml(`playbook:\n  ${other}\n`), ['--force'], up.home);
    await started.ready();
    assert.equal(await started.stop(), 0);
  });

  test('[S003-change-3] what a proposal would break of the goldens is told, and is not released unless it is forced', async (t) => {
    const { up, refuse, run, json, feedback } = await openLoop(t);
    mkdirSync(path.join(up.home, 'goldens'));
    writeFileSync(path.join(up.home, 'goldens/forbidden.yaml'), golden);
    const id = feedback((await refuse())['call_id']);
    const { proposal, report } = json('feedback', 'propose', id, '--set', other.replace(':', '='));
    assert.equal(proposal['breaks'], 1);
    assert.match(JSON.stringify(report['broken']), /ticket_opened.queue: expected \\"bank\\", came \\"treasury\\"/);
    assert.match(run('feedback', 'release', proposal['proposal_id']).stderr, /1 goldens would come out otherwise/);
    assert.equal(json('feedback', 'release', proposal['proposal_id'], '--force')['release']['forced'], true);
    assert.equal(await up.stop(), 0);
  });

  test('[S003-change-3] a whole file is compared with its rules, and releases what both say', async (t) => {
    const { up, yaml, refuse, json, feedback } = await openLoop(t);
    const { call_id: call } = await refuse();
    writeFileSync(path.join(up.home, 'next.yaml'), yaml(`playbook:\n  ${other}\n`, 'defer: pay/*'));
    const { report, proposal } = json(
      'feedback',
      'propose',
      feedback(call),
      '--changed',
      path.join(up.home, 'next.yaml'),
    );
    const [judged] = report['judged']['changed'] as unknown as readonly Record<string, unknown>[];
    assert.deepEqual([judged?.['call_id'], judged?.['was'], judged?.['then']], [call, 'permit', 'defer']);
    assert.match(String(proposal['policy']), /^[0-9a-f]{64}$/);
    assert.equal(await up.stop(), 0);
  });

  test('[S003-change-3] of two releases for one playbook the first is taken, and the other is told', async (t) => {
    const { up, refuse, run, json, feedback } = await openLoop(t);
    const id = feedback((await refuse())['call_id']);
    const of = (queue: string) =>
      json('feedback', 'propose', id, '--set', `policy_denied={escalate_to_human: {queue: ${queue}}}`)['proposal'][
        'proposal_id'
      ] as string;
    const [one, two] = [of('one'), of('two')];
    const key = up.operatorKey();
    const answers = await Promise.all(
      [one, two].map((each) => up.ask(`/v1/proposals/${each}/release`, { key, body: {} })),
    );
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
    assert.match(JSON.stringify(answers.map(({ body }) => body)), /another release came first: propose it again/);
    assert.match(run('feedback', 'ls').stdout, /in_force/);
    assert.equal(await up.stop(), 0);
  });

  test('[S003-change-3] is a matter of operators: agents and other roles may not look, nor propose', async (t) => {
    const { up } = await openLoop(t);
    for (const words of [
      ['--role', 'agent'],
      ['--role', 'viewer'],
      ['--role', 'admin', '--tenant', 'acme'],
    ]) {
      const key = up.keyOf('eve', words);
      assert.equal((await up.ask('/v1/feedback', { key })).status, 403, words.join(' '));
      const body = { call_id: 'call_x', note: 'no' };
      assert.equal((await up.ask('/v1/feedback', { key, body })).status, 403, words.join(' '));
    }
    assert.equal(await up.stop(), 0);
  });

  test('[S003-change-3] a step that was changed, taken out or put in is found', async (t) => {
    const { up, refuse, json, feedback } = await openLoop(t);
    const id = feedback((await refuse())['call_id']);
    json('feedback', 'propose', id, '--set', other.replace(':', '='));
    assert.equal(await up.stop(), 0);
    const verify = (change: string) => {
      const copy = path.join(up.home, 'copy.db');
      copyFileSync(storeIn(up.home), copy);
      const database = new DatabaseSync(copy);
      database.exec(change);
      database.close();
      return recourse(['feedback', 'verify', '--file', copy], { cwd: up.home });
    };
    assert.equal(verify('SELECT 1').status, 0);
    const gone = verify("DELETE FROM journal WHERE kind = 'feedback_added'");
    assert.equal(gone.status, 1);
    assert.match(gone.stdout, /change_proposed: it does not follow the step before it/);
    const added = verify("UPDATE journal SET call_id = 'improvement' WHERE kind = 'settled'");
    assert.deepEqual([added.status, /settled: it cannot be read/.test(added.stdout)], [1, true]);
  });
});
