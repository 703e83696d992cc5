/** What goes wrong with a whole process, or with the disk of all of them. */
import type { NodeFault } from '../fault-mix.ts';
import type { Random } from '../random.ts';
import type { Life, Scheduler } from '../scheduler.ts';
import { clockErrorMs, dedupeWindowMs, quarantineMs, wildClockMs } from '../setting.ts';
import type { Gateway } from '../simulated-gateway.ts';

export interface NodeWorld {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly gateways: readonly Gateway[];
  readonly wildClocks: boolean;
  readonly coverLife: (fault: string, life: Life) => void;
  readonly crash: (life: Life, why: string) => void;
  readonly fillDisk: (forMs: number) => void;
}

export function createNodeFaults(world: NodeWorld): (fault: NodeFault) => void {
  const { scheduler, random, crash } = world;

  const pauseFor = (gateway: Gateway, fault: NodeFault, ms: number) => {
    const life = gateway.life();
    if (life !== null) world.coverLife(fault, life);
    scheduler.say(() => `${gateway.name}: sleeps for ${ms} ms`);
    gateway.pause(ms);
  };

  return (fault) => {
    const gateway = random.pick(world.gateways);
    const life = gateway.life();
    switch (fault) {
      case 'crash':
        return life === null ? undefined : crash(life, 'by chance');
      case 'close':
        if (life === null) return undefined;
        world.coverLife(fault, life);
        scheduler.say(() => `${gateway.name}: closes`);
        return gateway.close(() => crash(life, 'after it was closed'));
      case 'short pause':
        return pauseFor(gateway, fault, random.between(500, 3_000));
      case 'pause past lease':
        return pauseFor(gateway, fault, random.between(9_000, 20_000));
      case 'long pause':
        return pauseFor(gateway, fault, random.between(quarantineMs + 5_000, dedupeWindowMs + 30_000));
      case 'clock forward':
      case 'clock back': {
        const reach = world.wildClocks ? wildClockMs : clockErrorMs;
        if (life !== null) world.coverLife(fault, life);
        return gateway.setClock((fault === 'clock back' ? -1 : 1) * random.between(1, reach));
      }
      case 'disk full':
        return world.fillDisk(random.between(500, 16_000));
      default:
        return fault satisfies never;
    }
  };
}
