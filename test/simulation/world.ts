/**
 * A whole world from one seed: gateways on one store, tools, agents, an operator, and whatever goes wrong. Only ports
 * are simulated; the core and the shell are the real ones.
 */
import type { IncarnationId } from '../../src/core/call/call.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { CommitResult, Transition } from '../../src/ports/store.ts';
import type { Workflow } from '../../src/core/workflow/workflow.ts';
import { recover } from '../../src/shell/upkeep/recover.ts';
import { permitAll, type SimulatedPolicy } from './approval-setting.ts';
import { createApprovers } from './approvers.ts';
import { createClients } from './clients.ts';
import { approvalColumns, createCoverage } from './coverage.ts';
import { type FaultMix, faultMixes, noFaults } from './fault-mix.ts';
import { drawQuotas, type Quotas } from './limits/quota-setting.ts';
import { createQuotaWitness } from './limits/quota-witness.ts';
import { createMemoryState, isAnotherStep, type MemoryState } from './memory-state.ts';
import { type Incarnation, openIncarnation } from './memory-store.ts';
import { createNodeFaults } from './parts/node-faults.ts';
import { createOperator } from './operator.ts';
import { createRandom } from './random.ts';
import { declareRecovery } from './recovery/recovery-setting.ts';
import { createReplyWitness } from './reply-witness.ts';
import { createScheduler, type Life, type Scheduler } from './scheduler.ts';
import { dedupeWindowMs, quarantineMs } from './setting.ts';
import { createGateway, type Gateway, type Tampering } from './simulated-gateway.ts';
import { type Fate, simulateStore } from './simulated-store.ts';
import { createPolicies, type Policies } from './simulated-policy.ts';
import { createTools } from './simulated-upstream.ts';
import { createWitness } from './witness.ts';
import { simulatedWorkflows } from './workflow-setting.ts';

export interface WorldOptions {
  readonly seed: number;
  readonly mix?: FaultMix;
  readonly gateways?: number;
  /** Clocks may jump by days: only safety is promised then, and the keyed tool remembers for ever. */
  readonly wildClocks?: boolean;
  /** How long the keyed tool knows its own work, whatever it promised. */
  readonly rememberMs?: number;
  /** Sessions of workflows beside everything else; or what a process that starts now serves. */
  readonly workflows?: boolean | (() => ReadonlyMap<string, Workflow>);
  /** A policy that defers, people who decide, and an operator who changes it; or the policy it begins with. */
  readonly approvals?: boolean | SimulatedPolicy;
  /** Rate limits and budgets, by a policy that permits everything where there are no approvals. */
  readonly quotas?: boolean | Quotas;
  readonly traced?: boolean;
  readonly tampering?: Tampering;
  readonly quarantineMs?: number;
  /** A bug of the doors: clients.ts. */
  readonly marksEarly?: boolean;
  readonly onCommit?: (transition: Transition, result: CommitResult) => void;
  /** Overrides chance: what happens at each act of a process. */
  readonly fate?: (life: Life, act: string) => Fate;
}

export type World = ReturnType<typeof createWorld>;

function workflowsOf({ workflows = false }: WorldOptions): () => ReadonlyMap<string, Workflow> {
  if (typeof workflows === 'function') return workflows;
  return () => (workflows ? simulatedWorkflows : new Map());
}

function quotasOf({ quotas = false, seed }: WorldOptions): Quotas | null {
  if (quotas === false) return null;
  return quotas === true ? drawQuotas(createRandom(seed, 'quotas')) : quotas;
}

function policiesOf(options: WorldOptions, scheduler: Scheduler): Policies | null {
  const { approvals = false, seed } = options;
  const quotas = quotasOf(options);
  if (approvals === false && quotas === null) return null;
  const given = approvals === true ? {} : approvals === false ? { stances: permitAll } : approvals;
  return createPolicies(createRandom(seed, 'policy'), scheduler, { ...given, quotas });
}

function openStoreOf({ tampering }: WorldOptions, state: MemoryState, nowMs: number): Incarnation {
  const opened = openIncarnation(state, nowMs);
  return tampering?.incarnation?.(opened, state) ?? opened;
}

export function createWorld(options: WorldOptions) {
  const random = createRandom(options.seed, 'world');
  const scheduler = createScheduler(options.traced ?? false);
  const [coverage, approvalCoverage] = [createCoverage(), createCoverage(approvalColumns)];
  const policies = policiesOf(options, scheduler);
  const witness = createWitness({ policy: (hash) => policies?.byHash(hash) ?? null, nowMs: scheduler.nowMs });
  const state = createMemoryState(createRandom(options.seed, 'store'));
  const replies = createReplyWitness(state, witness);
  const quotas = createQuotaWitness(quotasOf(options), state, witness.breaks);
  state.onApplied = (transition, records, owner) => {
    witness.applied(transition, records, owner);
    quotas?.applied(transition, records);
    const { call } = transition;
    if (call !== null && call.kind !== 'mark' && isAnotherStep(call.call, state)) witness.forgiveCall(call.call.id);
  };
  state.age = scheduler.nowMs;
  let [mix, diskFullUntilMs]: [FaultMix, number] = [options.mix ?? faultMixes.everything, 0];

  const stateOf = (callId: string) => state.calls.get(callId)?.call.state ?? '(none)';
  const coverApproval = (fault: string, callId: string) => {
    const met = witness.approvals.stateOfCall(callId);
    if (met !== null) approvalCoverage.hit(fault, met);
  };
  const cover = (fault: string, callId: string) => {
    coverage.hit(fault, stateOf(callId));
    coverApproval(fault, callId);
  };
  const coverTransition = (fault: string, { call, approvals }: Transition) => {
    if (call !== null) cover(fault, call.kind === 'mark' ? call.id : call.call.id);
    else coverage.hit(fault, '(idle)');
    if (call === null) for (const { approval } of approvals) coverApproval(fault, approval.callId);
  };
  /** A fault of a whole process meets every call it owns. */
  const coverLife = (fault: string, life: Life) => {
    const gateway = gateways.find(({ name }) => name === life.node);
    const owner = gateway?.shell()?.ports.store.incarnation;
    const own = [...state.unfinished].filter((id) => state.calls.get(id)?.call.owner === owner);
    if (own.length === 0) coverage.hit(fault, '(idle)');
    for (const id of own) cover(fault, id);
    // Nobody owns what waits for a person: whatever happens to a process meets all of it.
    for (const met of witness.approvals.liveStates()) approvalCoverage.hit(fault, met);
  };

  const crash = (life: Life, why: string) => {
    const gateway = gateways.find((one) => one.life() === life);
    if (gateway === undefined) return;
    coverLife('crash', life);
    const incarnation = gateway.shell()?.ports.store.incarnation;
    scheduler.say(() => `${life.node}: dies ${why}`);
    gateway.die();
    clients.lost(life);
    const other = gateways.find((one) => one.isReady());
    if (other !== undefined && incarnation !== undefined && random.chance(0.3)) settleFor(other, incarnation);
    scheduler.after(random.between(100, 6_000), null, '', () => bring(gateway));
  };

  /** Another process notices that one is gone, and settles what it left. */
  const settleFor = (gateway: Gateway, gone: IncarnationId) => {
    scheduler.after(random.between(10, 2_000), gateway.life(), `settles what ${gone} left`, () => {
      const shell = gateway.shell();
      if (shell === null) return;
      recover(shell, gone).catch((error: unknown) => witness.breaks('bug', `recover threw ${String(error)}`));
    });
  };

  const bring = (gateway: Gateway) => {
    if (gateway.life() !== null) return;
    const alone = gateways.every((one) => one.life() === null);
    gateway.boot(alone || random.chance(0.3) ? 'everything' : 'nothing');
  };

  const fate = (life: Life, act: string): Fate => {
    if (options.fate !== undefined) return options.fate(life, act);
    if (random.chance(mix.stallAtAct)) {
      const gateway = gateways.find((one) => one.life() === life);
      coverLife('stall', life);
      gateway?.pause(random.between(...(mix.stallMs ?? [1_500, 12_000])));
    }
    if (!random.chance(mix.crashAtAct)) return 'lives';
    return random.chance(0.5) ? 'dies before' : 'dies after';
  };

  const storeWorld = {
    scheduler,
    random,
    mix: () => mix,
    diskIsFull: () => scheduler.nowMs() < diskFullUntilMs,
    fate,
    crash,
    cover: coverTransition,
    onSubmit: ({ token }: Transition, life: Life) => witness.approvals.submits(token, life.pausedUntilMs),
    onCommit: options.onCommit ?? (() => undefined),
  };
  const tools = createTools({
    scheduler,
    random,
    witness,
    mix: () => mix,
    cover,
    rememberMs: options.rememberMs ?? (options.wildClocks ? Infinity : dedupeWindowMs),
  });
  const fatefulUpstream = (life: Life, owner: string, clock: Clock) => {
    const port = tools.portFor(life, owner, clock);
    return {
      invoke: (...sent: Parameters<typeof port.invoke>) => {
        const end = life.alive ? fate(life, 'send') : 'lives';
        if (end === 'dies before') crash(life, 'before it sent');
        const answer = port.invoke(...sent);
        if (end === 'dies after') crash(life, 'after it sent');
        return answer;
      },
    };
  };
  const gatewayWorld = {
    scheduler,
    random,
    tampering: options.tampering ?? {},
    workflows: workflowsOf(options),
    policy: (name: string) => policies?.of(name) ?? null,
    recovery: declareRecovery(options.wildClocks === true),
    mix: () => mix,
    openStore: (life: Life, nowMs: number) => simulateStore(openStoreOf(options, state, nowMs), life, storeWorld),
    upstreamFor: fatefulUpstream,
    onNotice: (life: Life, notice: { readonly kind: string }) => {
      scheduler.say(() => `${life.node}: notice ${JSON.stringify(notice)}`);
      if (notice.kind === 'unexpected' || (notice.kind === 'suppressed' && life.alive))
        witness.breaks('bug', JSON.stringify(notice));
    },
  };
  const count = options.gateways ?? random.pick([1, 2, 2, 2, 3]);
  const gateways = Array.from({ length: count }, (_, index) =>
    createGateway(`g${index + 1}`, random.between(-400, 400), gatewayWorld),
  );
  const pickGateway = (at: Life | null = null) => {
    const asked = gateways.find((one) => at !== null && one.life() === at);
    if (asked !== undefined) return asked;
    const ready = gateways.filter((one) => one.isReady());
    if (ready.length > 0 && !random.chance(0.03)) return random.pick(ready);
    const alive = gateways.filter((one) => one.life() !== null);
    return alive.length === 0 ? null : random.pick(alive);
  };
  const clients = createClients({
    scheduler,
    random,
    witness,
    replies,
    state,
    pickGateway,
    fate,
    crash,
    cover,
    marksEarly: options.marksEarly === true,
  });
  const operator = createOperator({
    scheduler,
    random,
    witness,
    state,
    quarantineMs: options.quarantineMs ?? quarantineMs,
    pickGateway,
    tookEffect: tools.tookEffect,
  });

  const approvers = createApprovers({ scheduler, random, witness, state, coverage: approvalCoverage, clients });

  const goWrong = createNodeFaults({
    scheduler,
    random,
    gateways,
    wildClocks: options.wildClocks === true,
    coverLife,
    crash,
    fillDisk: (forMs) => (diskFullUntilMs = scheduler.nowMs() + forMs),
  });

  return {
    options,
    scheduler,
    random,
    coverage,
    approvalCoverage,
    policies,
    quotas,
    approvers,
    witness,
    replies,
    state,
    tools,
    gateways,
    clients,
    operator,
    crash,
    bring,
    goWrong,
    mix: () => mix,
    latestWakeMs: () => Math.max(0, ...gateways.map((one) => one.life()?.pausedUntilMs ?? 0)),
    /** From here on nothing new goes wrong; what is under way still happens. */
    heal(): void {
      mix = noFaults;
      diskFullUntilMs = 0;
      scheduler.say(() => 'the faults stop');
      for (const gateway of gateways) {
        const life = gateway.life();
        if (life !== null) life.pausedUntilMs = Math.min(life.pausedUntilMs, scheduler.nowMs());
        if (life === null) bring(gateway);
      }
    },
  };
}
