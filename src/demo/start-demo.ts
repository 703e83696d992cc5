/**
 * Runs the demo: services, keys, a gateway and the agents, all in this process and in one temporary folder. However it
 * ends, the folder goes with it; only a process that is killed leaves it behind.
 */
import { rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startFaults } from '../faults/start-faults.ts';
import type { AgentName, Told } from './agents/talk.ts';
import { demoFile } from './demo-file.ts';
import { type Played, playDemo } from './play-demo.ts';
import { serveShop } from './shop/serve-shop.ts';
import { watchParent } from './watch-parent.ts';

export interface DemoOrder {
  /** 0 takes any free port. */
  readonly port: number;
  /** Ends after the story. */
  readonly once: boolean;
  /** Without pauses in the story. */
  readonly fast: boolean;
  readonly onReady: (ready: DemoReady) => void;
  readonly onTold: (told: Told) => void;
  /** The story was told, and the agents go on. */
  readonly onGoingOn: () => void;
  readonly onTrouble: (problem: string) => void;
  readonly onStop: (callback: () => void) => () => void;
}

export interface DemoReady {
  /** The one address to open. */
  readonly url: string;
  /** Where the gateway listens. */
  readonly gateway: string;
  readonly store: string;
}

export type DemoEnd =
  | ({ readonly kind: 'ended' } & Played)
  /** Nothing was started, or the gateway could not go on. */
  | { readonly kind: 'refused'; readonly because: 'address' | 'store' | 'gateway'; readonly message: string };

/** A gateway on this configuration, until it is stopped. */
export interface GatewayOrder {
  readonly config: string;
  readonly file: string;
  readonly listen: string;
  readonly onReady: (ready: { readonly url: string; readonly open: string }) => void;
  readonly onTrouble: (problem: string) => void;
  readonly onStop: (callback: () => void) => () => void;
}

export type GatewayEnd =
  | { readonly kind: 'ended' }
  | { readonly kind: 'refused'; readonly because: 'address' | 'store' | 'gateway'; readonly message: string };

export interface DemoWorld {
  readonly runGateway: (order: GatewayOrder) => Promise<GatewayEnd>;
  /** A new key of this agent, beside this store. */
  readonly addKey: (store: string, agent: AgentName) => Promise<string>;
}

const prefix = 'recourse-demo-';

export async function runDemo(order: DemoOrder, world: DemoWorld): Promise<DemoEnd> {
  let folder: string;
  try {
    folder = await mkdtemp(path.join(tmpdir(), prefix));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return {
      kind: 'refused',
      because: 'store',
      message: `no folder can be made in '${tmpdir()}' (${code}): set TMPDIR to a folder that can be written`,
    };
  }
  // INVARIANT: also a second Ctrl-C, a closed terminal and a bug leave no file behind.
  const atExit = () => rmSync(folder, { recursive: true, force: true });
  process.on('exit', atExit);
  try {
    return await runIn(folder, order, world);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    process.off('exit', atExit);
  }
}

async function runIn(folder: string, order: DemoOrder, world: DemoWorld): Promise<DemoEnd> {
  const [config, store] = [path.join(folder, 'recourse.yaml'), path.join(folder, 'recourse.db')];
  const shop = await serveShop();
  const payments = await startFaults({ port: 0, ledger: path.join(folder, 'payments.jsonl') });
  if (payments.kind !== 'started') throw new Error('bug: the payment service of the demo does not start');
  const ended = new AbortController();
  const stopListening = order.onStop(() => ended.abort());
  const stopWatching = watchParent(() => ended.abort());
  try {
    await writeFile(config, demoFile({ shop: shop.url, payments: payments.url }));
    const keys = { support: await world.addKey(store, 'support'), warehouse: await world.addKey(store, 'warehouse') };
    const ready = Promise.withResolvers<string>();
    const gateway = world.runGateway({
      config,
      file: store,
      listen: `127.0.0.1:${order.port}`,
      onTrouble: order.onTrouble,
      onReady({ url, open }) {
        order.onReady({ url: open, gateway: url, store });
        ready.resolve(url);
      },
      onStop: (callback) => onAbort(ended.signal, callback),
    });
    const started = await Promise.race([ready.promise, gateway]);
    if (typeof started !== 'string') return started.kind === 'ended' ? { kind: 'ended', wrong: [] } : started;
    const played = await playDemo(order, { url: started, keys, shop, payments: payments.url, signal: ended.signal });
    if (!order.once) await Promise.race([gateway, new Promise<void>((resolve) => onAbort(ended.signal, resolve))]);
    ended.abort();
    const end = await gateway;
    return end.kind === 'ended' ? { kind: 'ended', ...played } : end;
  } finally {
    ended.abort();
    stopListening();
    stopWatching();
    await Promise.all([payments.stop(), shop.stop()]);
  }
}

function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) callback();
  else signal.addEventListener('abort', callback, { once: true });
  return () => signal.removeEventListener('abort', callback);
}
