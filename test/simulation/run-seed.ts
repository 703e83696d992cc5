/**
 * One seed from its first to its last event: agents work while things go wrong, then the faults stop, everything comes
 * to rest, and what was promised is asked for once more.
 */
import { createHash } from 'node:crypto';
import type { Coverage } from './coverage.ts';
import { faultMixes, type MixName } from './fault-mix.ts';
import { checkDoubts } from './recovery/check-doubts.ts';
import { checkChains, checkLiveness, checkRecords, checkWalks, forgottenResult } from './final-checks.ts';
import type { QuotaWitness } from './limits/quota-witness.ts';
import { createRandom } from './random.ts';
import type { Broken, Witness } from './witness.ts';
import { workflowNames } from './workflow-setting.ts';
import type { Policies } from './simulated-policy.ts';
import { createWorld, type World, type WorldOptions } from './world.ts';

export interface SeedReport {
  readonly seed: number;
  readonly broken: Broken | null;
  readonly steps: number;
  readonly calls: number;
  readonly effects: number;
  /** Of workflow sessions: how often a state moved, and how many of these moves were adoptions. */
  readonly walked: { readonly moves: number; readonly adoptions: number };
  /** What became of the approvals; all 0 in a world without them. */
  readonly approvals: Witness['approvals']['totals'];
  readonly recovery: Witness['recovery']['totals'];
  /** What became of what calls held; null in a world without budgets. */
  readonly quotas: QuotaWitness['totals'] | null;
  /** Of every byte of every chain: the same seed gives the same digest. */
  readonly digest: string;
  readonly coverage: Coverage;
  readonly approvalCoverage: Coverage;
  readonly story: readonly string[];
}

const workMs = 30_000;
/** Longer than deadline, lease, late execution, the next read of a doubt and the polls of a patient client. */
const restBoundMs = 400_000;
const maxSteps = 200_000;
/** After the work people still decide for a while. */
const decideMs = 40_000;

/** What kind of world a seed makes; options that are given win. */
export function characterOf(seed: number): Omit<WorldOptions, 'seed'> {
  const random = createRandom(seed, 'character');
  const name = random.weighted<MixName>({ everything: 6, crashes: 2, store: 2, pauses: 1, sleep: 1, down: 1 });
  const [wildClocks, workflows, quotas] = [random.chance(0.1), random.chance(0.4), random.chance(0.25)];
  return { mix: faultMixes[name], wildClocks, workflows, quotas };
}

export async function runSeed(options: WorldOptions): Promise<SeedReport> {
  // Ticks leave no room for anybody else in the real process; between two worlds there is some.
  await new Promise<void>((resolve) => setImmediate(resolve));
  const world = createWorld({ ...characterOf(options.seed), ...options });
  const { scheduler, witness } = world;
  plan(world);
  const runUntil = async (isOver: () => boolean): Promise<void> => {
    while (witness.broken() === null && !isOver()) {
      if (scheduler.steps() > maxSteps)
        return witness.breaks('19', `the world does not come to rest in ${maxSteps} steps`);
      if (!(await scheduler.step())) return;
    }
  };
  await runUntil(() => scheduler.nowMs() >= Math.max(workMs + 5_000, world.latestWakeMs() + 1_000));
  world.heal();
  const restBy = scheduler.nowMs() + (world.options.wildClocks === true ? 60_000 : restBoundMs);
  await runUntil(() => (isAtRest(world) || scheduler.nowMs() >= restBy) && scheduler.nowMs() > workMs + 8_000);
  if (witness.broken() === null) await askOnceMore(world, runUntil);
  if (witness.broken() === null) checkAtRest(world);
  return reportOf(world);
}

/** Everything that will happen by itself, laid out beforehand. */
function plan(world: World): void {
  const { scheduler, random, clients, gateways, operator } = world;
  for (const [index, gateway] of gateways.entries()) gateway.boot(index === 0 ? 'everything' : 'nothing');
  for (const agent of ['ann', 'bob']) scheduler.after(200, null, '', () => clients.openSession(agent));
  const operations = random.between(4, 10);
  for (let index = 0; index < operations; index++)
    scheduler.after(random.between(500, workMs), null, '', () => clients.begin(`o${index}`));
  if (world.options.workflows === true) planWalks(world);
  if (world.policies !== null) planDecisions(world, world.policies);
  const cancellations = random.between(0, 2);
  for (let index = 0; index < cancellations; index++)
    scheduler.after(random.between(2_000, workMs), null, '', clients.cancelSomething);
  const goWrong = () => {
    const fault = random.weighted(world.mix().node);
    if (fault !== 'calm') world.goWrong(fault);
    if (scheduler.nowMs() < workMs) scheduler.after(random.between(300, 5_000), null, '', goWrong);
  };
  scheduler.after(random.between(300, 5_000), null, '', goWrong);
  const look = () => {
    operator.look();
    scheduler.after(5_000, null, '', look);
  };
  if (random.chance(0.7)) scheduler.after(5_000, null, '', look);
}

/** Agents walk sessions of workflows, several steps at a time in each. */
function planWalks({ scheduler, random, clients }: World): void {
  for (const workflow of workflowNames)
    scheduler.after(300, null, '', () => clients.openWorkflow(random.pick(['ann', 'bob']), workflow));
  const steps = random.between(4, 14);
  for (let index = 0; index < steps; index++) {
    const atMs = random.between(800, workMs);
    // Now and then two at the same moment: they have to wait for each other.
    scheduler.after(atMs, null, '', () => clients.beginStep(`s${index}`));
    if (random.chance(0.3)) scheduler.after(atMs, null, '', () => clients.beginStep(`t${index}`));
  }
}

/** People look every few seconds, for as long as anybody may ask; the operator changes the policy a few times. */
function planDecisions(
  { scheduler, random, approvers, gateways, approvalCoverage, witness, options }: World,
  policies: Policies,
): void {
  const look = () => {
    approvers.look();
    if (scheduler.nowMs() < workMs + decideMs) scheduler.after(random.between(300, 3_500), null, '', look);
  };
  scheduler.after(random.between(1_000, 4_000), null, '', look);
  const names = gateways.map(({ name }) => name);
  const changes = random.between(0, 4);
  for (let index = 0; index < changes; index++) {
    // Where only budgets are of interest, what was permitted stays permitted.
    const how = random.chance(0.5) || options.approvals === undefined ? 'rewrite' : 'change';
    scheduler.after(random.between(2_000, workMs), null, '', () => {
      for (const met of witness.approvals.liveStates())
        approvalCoverage.hit(how === 'rewrite' ? 'policy written anew' : 'policy changed', met);
      policies[how](names);
    });
  }
}

/** Whether a read is due that may settle a doubt. */
export const isProbing = ({ calls }: World['state']): boolean =>
  [...calls.values()].some(({ call }) => call.state === 'IN_DOUBT' && call.dueAtMs !== null);

function isAtRest({ state, clients, tools, gateways, options }: World): boolean {
  if (options.wildClocks !== true && isProbing(state)) return false;
  if (state.unfinished.size > 0 || !clients.isQuiet() || tools.underWay() > 0) return false;
  return gateways.every((one) => {
    const live = one.shell()?.live;
    if (live === undefined || !live.readiness.ready || live.runsApproved.size > 0) return false;
    return live.unrecorded.length === 0 && live.running.size === 0;
  });
}

/** Same key, same arguments: the same reply for ever. */
async function askOnceMore(world: World, runUntil: (isOver: () => boolean) => Promise<void>): Promise<void> {
  const { clients, scheduler } = world;
  for (const operation of clients.operations) {
    if (operation.key === null) continue;
    operation.patience = 1;
    clients.ask(operation);
  }
  const by = scheduler.nowMs() + (world.options.wildClocks === true ? 30_000 : 120_000);
  await runUntil(() => isAtRest(world) || scheduler.nowMs() >= by);
  // A result that came late may still wait for its turn at the store.
  const heardBy = scheduler.nowMs() + 30_000;
  await runUntil(
    () =>
      forgottenResult(world.tools.answers, world.state, world.witness) === undefined || scheduler.nowMs() >= heardBy,
  );
}

function checkAtRest({ state, witness, clients, tools, replies, options, quotas }: World): void {
  if (options.wildClocks !== true) checkLiveness(state, clients.unanswered(), witness);
  checkDoubts(state, options.wildClocks !== true, witness);
  quotas?.checkAtRest(options.wildClocks !== true, witness.calls.values());
  checkRecords(state, witness);
  checkWalks(state, witness);
  checkChains(state, witness);
  const forgotten = forgottenResult(tools.answers, state, witness);
  if (forgotten !== undefined)
    witness.breaks('heard', `${forgotten.callId} is in doubt, although its owner lives and heard its result`);
  replies.readBack();
}

export function reportOf({
  options,
  witness,
  scheduler,
  state,
  coverage,
  approvalCoverage,
  quotas,
}: World): SeedReport {
  const digest = createHash('sha256');
  for (const { records } of state.chains) for (const { header, hash } of records) digest.update(header).update(hash);
  let effects = 0;
  for (const call of witness.calls.values()) effects += call.effects;
  return {
    seed: options.seed,
    broken: witness.broken(),
    steps: scheduler.steps(),
    calls: state.calls.size,
    effects,
    walked: witness.workflows.totals(),
    approvals: witness.approvals.totals,
    recovery: witness.recovery.totals,
    quotas: quotas?.totals ?? null,
    digest: digest.digest('hex'),
    coverage,
    approvalCoverage,
    story: scheduler.story(),
  };
}

/** What a person needs to see a failure again. */
export function explain(report: SeedReport, command: string): string {
  const { seed, broken, story } = report;
  const lines = story.slice(-60).join('\n');
  return `seed ${seed} breaks invariant ${broken?.invariant}: ${broken?.detail}\n${lines}\nreplay it with: ${command}`;
}
