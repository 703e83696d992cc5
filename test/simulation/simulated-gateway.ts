/**
 * One gateway of a simulated world: the real core and shell on simulated ports. It boots as the composition root does,
 * dies with everything it holds in memory, sleeps, and has a clock of its own that is never quite right.
 */
import type { Catalogue, ToolEntry } from '../../src/core/call/catalogue.ts';
import { baseLadder, workflowLadder } from '../../src/core/call/decide.ts';
import type { IncarnationId } from '../../src/core/call/call.ts';
import { whileClosing } from '../../src/core/gates/ready.ts';
import type { ToolRecovery } from '../../src/core/recovery/playbook.ts';
import type { Policy } from '../../src/core/policy/policy.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Ids } from '../../src/ports/ids.ts';
import type { OperatorNotice } from '../../src/ports/notifier.ts';
import { createHash } from 'node:crypto';
import type { Upstream } from '../../src/ports/upstream.ts';
import type { Store } from '../../src/ports/store.ts';
import { recover } from '../../src/shell/upkeep/recover.ts';
import { handleReversal, nestedCall } from '../../src/shell/call/handle-call.ts';
import { carryOut } from '../../src/shell/reversal/order.ts';
import { createShell, type Ports, type Shell } from '../../src/shell/shell.ts';
import { steadyClock } from '../../src/shell/upkeep/guard-ports.ts';
import { drain, startSweeping, stopAll } from '../../src/shell/upkeep/sweep.ts';
import type { FaultMix } from './fault-mix.ts';
import type { MemoryState } from './memory-state.ts';
import type { Incarnation } from './memory-store.ts';
import type { Random } from './random.ts';
import type { Life, Scheduler } from './scheduler.ts';
import type { Workflow } from '../../src/core/workflow/workflow.ts';
import { catalogue, limits } from './setting.ts';

/** How a planted bug gets in: it replaces a port, or what the gateway was told. */
export interface Tampering {
  readonly ports?: (ports: Ports, owner: string, life: Life) => Ports;
  readonly catalogue?: Catalogue;
  readonly recovery?: (tool: ToolEntry) => ToolRecovery;
  /** The store itself, which every process shares. */
  readonly incarnation?: (incarnation: Incarnation, state: MemoryState) => Incarnation;
}

export interface GatewayWorld {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly tampering: Tampering;
  /** What is served when a process starts: a later one may serve another version. */
  readonly workflows: () => ReadonlyMap<string, Workflow>;
  /** As this gateway has read it; null in a world without policy. */
  readonly policy: (gateway: string) => Policy | null;
  readonly recovery: (tool: ToolEntry) => ToolRecovery;
  readonly mix: () => FaultMix;
  readonly openStore: (life: Life, nowMs: number) => Store;
  readonly upstreamFor: (life: Life, owner: string, clock: Clock) => Upstream;
  readonly onNotice: (life: Life, notice: OperatorNotice) => void;
}

export interface Gateway {
  readonly name: string;
  readonly life: () => Life | null;
  readonly shell: () => Shell | null;
  /** Takes calls: it has recovered. */
  readonly isReady: () => boolean;
  /** `recovers`: everything that is not its own, what one incarnation left, or nothing, because others live. */
  boot(recovers: 'everything' | 'nothing' | IncarnationId): void;
  die(): void;
  /** As the composition root closes it: what runs may end, what waits for its next attempt is left on record. */
  close(closed: () => void): void;
  pause(ms: number): void;
  /** How far its wall clock is from the world's from now on. */
  setClock(errorMs: number): void;
}

/** Shorter than a tool may take: some calls are stopped. */
const drainMs = 1_200;
/** A quarter of a minute before an hour begins: budgets of an hour end while agents work. */
const epochMs = 1_700_002_800_000 - 15_000;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

export function createGateway(name: string, skewMs: number, world: GatewayWorld): Gateway {
  const { scheduler, random } = world;
  let life: Life | null = null;
  let shell: Shell | null = null;
  let offsetMs = skewMs;
  let stopSweeping: () => Promise<void> = async () => undefined;

  const clockOf = (own: Life): Clock => {
    const schedule: Clock['schedule'] = (delayMs, callback) => scheduler.after(delayMs, own, '', callback);
    return {
      nowMs: () => Math.floor(epochMs + scheduler.nowMs() + offsetMs),
      monotonicMs: () => scheduler.nowMs() - own.bornAtMs,
      schedule,
      background: schedule,
    };
  };

  const portsOf = (own: Life): Ports => {
    const clock = clockOf(own);
    const store = world.openStore(own, clock.nowMs());
    const owner = store.incarnation;
    const steady = steadyClock(clock, store.highestTimeMs, () => undefined);
    const ports: Ports = {
      store,
      clock: steady,
      upstream: world.upstreamFor(own, owner, steady),
      ids: idsOf(random),
      sha256,
      validator: {
        validate: (_tool, args) =>
          new Promise((resolve) => {
            scheduler.after(
              random.chance(world.mix().slowValidator ?? 0) ? 11_000 : random.between(0, 50),
              own,
              '',
              () => resolve({ ok: true, args }),
            );
          }),
      },
      notify: (notice) => world.onNotice(own, notice),
      resolver: { resolve: async () => ({ ok: false, code: 'ENOTFOUND' }) },
    };
    return world.tampering.ports?.(ports, owner, own) ?? ports;
  };

  const start = async (own: Shell, recovers: 'everything' | 'nothing' | IncarnationId): Promise<void> => {
    if (recovers !== 'nothing') await recover(own, recovers === 'everything' ? null : recovers);
    stopSweeping = startSweeping(own, async () => undefined);
    own.live.readiness = { ready: true };
  };

  return {
    name,
    life: () => life,
    shell: () => shell,
    isReady: () => life !== null && shell !== null && shell.live.readiness.ready,
    boot(recovers) {
      const own: Life = { node: name, bornAtMs: scheduler.nowMs(), alive: true, pausedUntilMs: 0 };
      const workflows = world.workflows();
      life = own;
      shell = createShell({
        ports: portsOf(own),
        limits,
        ladder: workflows.size === 0 ? baseLadder : workflowLadder,
        catalogue: () => world.tampering.catalogue ?? catalogue,
        workflows,
        recovery: world.tampering.recovery ?? world.recovery,
        policy: () => world.policy(name),
        storeTag: '5eed5eed',
      });
      const opened = shell;
      opened.live.callTool = (...asked) => nestedCall(...asked, opened);
      opened.live.callReversal = (...asked) => handleReversal(...asked, opened);
      opened.live.carryOut = (call) => carryOut(call, opened);
      scheduler.say(() => `${name}: boots as ${shell?.ports.store.incarnation}, recovers ${recovers}`);
      start(shell, recovers).catch((error: unknown) =>
        world.onNotice(own, {
          kind: 'unexpected',
          correlationId: name,
          message: 'the start failed',
          cause: String(error),
        }),
      );
    },
    die() {
      if (life !== null) life.alive = false;
      life = null;
      shell = null;
    },
    close(closed) {
      const [own, dying] = [shell, life];
      if (own === null || !own.live.readiness.ready) return;
      own.live.readiness = whileClosing;
      const end = async () => {
        await drain(own, drainMs);
        await stopAll(own);
        await stopSweeping();
        own.live.closed = true;
        if (dying?.alive === true) closed();
      };
      void end();
    },
    pause(ms) {
      if (life !== null) life.pausedUntilMs = Math.max(life.pausedUntilMs, scheduler.nowMs() + ms);
    },
    setClock(errorMs) {
      offsetMs = errorMs;
    },
  };
}

function idsOf(random: Random): Ids {
  return {
    ordered: (prefix, nowMs) => `${prefix}${nowMs.toString(32).padStart(10, '0')}${random.text(10)}`,
    random: (prefix) => `${prefix}${random.text(20)}`,
    chance: () => random.next(),
  };
}
