/**
 * Random workflows and random calls on a real gateway: whatever an agent sends, the reply is valid, only a success
 * moves the state, and what a refusal offers is really possible.
 */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { analyseWorkflow } from '../../src/core/workflow/analyse/analyse-workflow.ts';
import { isRefusal, isSuccess, type MountedWorkflow, type Reply, WorkflowDefinitionError } from '../../src/index.ts';
import type { SessionView } from '../../src/shell/session/workflow-service.ts';
import { checkStepReply, openWorkflow } from '../support/open-workflow.ts';
import { openInMemory } from '../support/workflow-memory.ts';
import { checkHistory, wholeHistory } from '../support/workflow-history.ts';
import { actions, allInputs, randomWorkflow } from '../support/workflow-random.ts';

const seconds = Number(process.env['RECOURSE_PROPERTY_SECONDS'] ?? 20);
const seed = Number(process.env['RECOURSE_PROPERTY_SEED'] ?? Date.now() % 1_000_000);

/** What of a gateway an agent needs: on a file, or in memory. */
type Gateway = Pick<Awaited<ReturnType<typeof openInMemory>>, 'handleStep' | 'sessions'>;

/** What an agent does next. `listed` picks among what is offered, so that walks get somewhere. */
const act = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('listed' as const), pick: fc.nat(9), n: fc.nat(2) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('any' as const), action: fc.constantFrom(...actions), n: fc.nat(2) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fails' as const), pick: fc.nat(9), n: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unknown' as const), action: fc.string({ maxLength: 8 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('wrong' as const),
      action: fc.constantFrom(...actions),
      inputs: fc.jsonValue(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('stale' as const),
      pick: fc.nat(9),
      behind: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('again' as const), other: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('reset' as const, 'fork' as const) }) },
);
type Act = typeof act extends fc.Arbitrary<infer One> ? One : never;

const count = { machines: 0, refusedMachines: 0, calls: 0, successes: 0, refusals: 0, ends: 0, deadEnds: 0, offers: 0 };

/** An agent at work in one session, with what it remembers. */
interface Agent {
  readonly gateway: Gateway;
  readonly graph: MountedWorkflow['graph'];
  session: string;
  keys: number;
  /** The last step that was sent with a key. */
  last: { readonly action: string; readonly inputs: unknown; readonly key: string; readonly reply: Reply } | null;
}

interface Sent {
  readonly key?: string;
  readonly expected_seq?: number;
}

async function ask(action: string, inputs: unknown, { gateway, session }: Agent, sent: Sent = {}): Promise<Reply> {
  return checkStepReply(await gateway.handleStep({ action, inputs, session, ...sent }));
}

async function look({ gateway, session }: Agent): Promise<SessionView> {
  const view = await gateway.sessions.look(session);
  assert.ok(!('error' in view), JSON.stringify(view));
  return view;
}

async function perform(one: Act, agent: Agent, view: SessionView): Promise<Reply> {
  const { gateway, session } = agent;
  const next = view.valid_next_actions;
  const among = (pick: number) => next[pick % Math.max(1, next.length)] ?? actions[pick % actions.length] ?? '';
  switch (one.kind) {
    case 'listed':
      return keyed(among(one.pick), { n: one.n }, agent);
    case 'any':
      return ask(one.action, { n: one.n }, agent);
    case 'fails':
      return ask(among(one.pick), { n: one.n, fails: true }, agent);
    case 'unknown':
      return ask(one.action, {}, agent);
    case 'wrong':
      return ask(one.action, one.inputs, agent);
    case 'stale':
      return ask(among(one.pick), { n: 0 }, agent, { expected_seq: view.seq + one.behind });
    case 'again': {
      if (agent.last === null) return ask('nothing', {}, agent);
      const { action, inputs, key, reply } = agent.last;
      const again = await ask(action, one.other ? { n: 2, fails: false } : inputs, agent, { key });
      checkAgain(again, reply, one.other);
      return again;
    }
    case 'reset':
      agent.last = null;
      return checkStepReply(await gateway.sessions.reset(session));
    case 'fork': {
      const forked = checkStepReply(await gateway.sessions.fork(session));
      assert.ok(isSuccess(forked), JSON.stringify(forked));
      assert.deepEqual(forked.valid_next_actions, next, 'a fork stands where the session stands');
      checkHistory(await wholeHistory(session, gateway.sessions), await look({ ...agent, session }));
      agent.last = null;
      agent.session = forked.session ?? '';
      return forked;
    }
    default:
      return one satisfies never;
  }
}

async function keyed(action: string, inputs: object, agent: Agent): Promise<Reply> {
  const key = `k${agent.keys++}`;
  const reply = await ask(action, inputs, agent, { key });
  agent.last = { action, inputs, key, reply };
  return reply;
}

/** The same key: what was answered is answered again, other inputs are refused, and what was refused never answers. */
function checkAgain(again: Reply, before: Reply, other: boolean): void {
  const ran = isSuccess(before) || (isRefusal(before) && before.error === 'action_error');
  if (!ran) return;
  if (other) assert.ok(isRefusal(again) && again.code === 'KeyReused', JSON.stringify(again));
  else assert.deepEqual(again, { ...before, replayed: true });
}

/** INVARIANT: only a success moves the state, by one; a replayed one moved it before. */
function checkMove(one: Act, reply: Reply, before: SessionView, after: SessionView): void {
  const what = JSON.stringify({ one, reply });
  if (one.kind === 'fork') return;
  if (isSuccess(reply) && reply.replayed !== true) {
    assert.ok(one.kind === 'reset' || before.valid_next_actions.includes(reply.action), `was not offered: ${what}`);
    assert.deepEqual([after.seq, reply.seq], [before.seq + 1, after.seq], what);
    assert.deepEqual(reply.valid_next_actions, after.valid_next_actions, what);
    assert.deepEqual([reply.state, reply.done === true], [after.state, after.status === 'done'], what);
    return;
  }
  assert.deepEqual([after.state_digest, after.seq], [before.state_digest, before.seq], what);
  if (isRefusal(reply) && reply.replayed !== true && !before.valid_next_actions.includes(reply.requested ?? ''))
    assert.equal(reply.effect, 'none', `was not offered, and ran: ${what}`);
  // A key may answer with what was next then.
  if (isRefusal(reply) && reply.replayed !== true && after.status === before.status)
    assert.deepEqual(reply.valid_next_actions, after.valid_next_actions, what);
}

/**
 * Nothing is next in an end, and else only where the workflow leads into a dead end, or nobody could tell beforehand.
 */
function checkNext({ graph }: Agent, { status, valid_next_actions: next }: SessionView): void {
  if (status === 'done') assert.deepEqual(next, []);
  if (next.length > 0 || status === 'stopped') return;
  count.ends += 1;
  if (status === 'done') return;
  count.deadEnds += 1;
  const { findings, undecided } = analyseWorkflow(graph);
  const warned = findings.some(({ code }) => code === 'dead_end' || code === 'possible_dead_end');
  assert.ok(warned || undecided.length > 0, 'nothing is next, and nobody warned of it');
}

/** What is offered after a refusal is possible, with some inputs, however the refusal came about. */
async function takeOffer(reply: Reply, pick: number, agent: Agent): Promise<void> {
  if (!isRefusal(reply) || reply.valid_next_actions.length === 0 || reply.replayed === true) return;
  const action = reply.valid_next_actions[pick % reply.valid_next_actions.length] ?? '';
  const heard: Reply[] = [];
  for (const inputs of allInputs) {
    const taken = await ask(action, inputs, agent);
    heard.push(taken);
    if (!isRefusal(taken) || taken.error !== 'invalid_transition') break;
  }
  count.offers += 1;
  const last = heard.at(-1);
  const refused = last !== undefined && isRefusal(last) && last.error === 'invalid_transition';
  assert.ok(!refused, `'${action}' was offered and is refused: ${JSON.stringify(heard)}`);
}

/** On a file of its own: closed, and its journal verified, when the walk is over. */
async function onFile(workflow: MountedWorkflow, use: (gateway: Gateway) => Promise<void>): Promise<void> {
  const ends: (() => Promise<void>)[] = [];
  const context = { after: (end: () => Promise<void>) => void ends.push(end) };
  const gateway = await openWorkflow(context as unknown as TestContext, [workflow]);
  try {
    await use(gateway);
  } finally {
    for (const end of ends) await end();
  }
}

async function inMemory(workflow: MountedWorkflow, use: (gateway: Gateway) => Promise<void>): Promise<void> {
  const gateway = await openInMemory(workflow);
  try {
    await use(gateway);
  } finally {
    await gateway.close();
  }
}

async function walk(workflow: MountedWorkflow, acts: readonly Act[], gateway: Gateway): Promise<void> {
  const opened = await gateway.sessions.open(workflow.name);
  assert.ok(!('error' in opened), JSON.stringify(opened));
  const agent: Agent = { gateway, graph: workflow.graph, session: opened.session, keys: 0, last: null };
  for (const [at, one] of acts.entries()) {
    const before = await look(agent);
    const reply = await perform(one, agent, before);
    const after = await look(agent);
    count.calls += 1;
    count[isSuccess(reply) ? 'successes' : 'refusals'] += 1;
    checkMove(one, reply, before, after);
    checkNext(agent, after);
    await takeOffer(reply, at, agent);
    if ((await look(agent)).status === 'stopped') await gateway.sessions.reset(agent.session);
  }
  checkHistory(await wholeHistory(agent.session, gateway.sessions), await look(agent));
}

/** Null for a machine that cannot be served: every problem of it is a typed one. */
function mounted(machine: number): MountedWorkflow | null {
  try {
    return randomWorkflow(machine);
  } catch (error) {
    assert.ok(error instanceof WorkflowDefinitionError, String(error));
    count.refusedMachines += 1;
    return null;
  }
}

const places = [
  { where: 'on a file', run: onFile, share: 0.3 },
  { where: 'in memory', run: inMemory, share: 0.7 },
] as const;

for (const { where, run, share } of places)
  test(
    `[C1-reachable-4] [S000-refusal-2] [S000-recovery-1] any workflow and any calls ${where}, from seed ${seed}`,
    { timeout: 3_600_000 },
    async (t) => {
      const acts = fc.array(act, { minLength: 4, maxLength: 24 });
      const property = fc.asyncProperty(fc.nat(), acts, async (machine, some) => {
        const workflow = mounted(machine);
        if (workflow === null) return;
        count.machines += 1;
        await run(workflow, (gateway) => walk(workflow, some, gateway));
      });
      const before = { ...count };
      const timeLimit = { interruptAfterTimeLimit: seconds * share * 1_000, markInterruptAsFailure: false };
      await fc.assert(property, { seed, numRuns: 1_000_000, ...timeLimit });
      const done = (what: keyof typeof count) => count[what] - before[what];
      t.diagnostic(
        `${done('machines')} workflows (${done('refusedMachines')} more could not be served), ${done('calls')} calls: ` +
          `${done('successes')} successes, ${done('refusals')} refusals; ${done('offers')} offers taken up, ` +
          `${done('ends')} times nothing was next, ${done('deadEnds')} of them dead ends`,
      );
      assert.ok(done('machines') > 0 && done('offers') > 0 && done('successes') > 0, 'nothing was tried');
    },
  );
