/** Starts the faulty upstream: ledger, rules, one address on this machine, and standard input if asked. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { randomInt } from 'node:crypto';
import { durationMs } from '../config/duration.ts';
import type { Problem } from '../config/problem.ts';
import { createDesk } from './carry-out.ts';
import { entryOf, faultNames } from './fault-table.ts';
import { openLedger } from './ledger.ts';
import { createPayments } from './payments.ts';
import { readRules, type ReadRules } from './read-rules.ts';
import { createRuleQueue } from './rule-queue.ts';
import { createHttpFront, defaultHttpLimits, type HttpLimits } from './serve-http.ts';

export interface FaultsOptions {
  /** 0 takes any free port. */
  readonly port: number;
  readonly ledger: string;
  /** A file of rules. */
  readonly faults?: string | undefined;
  /** Probability of a fault where no rule matches. */
  readonly rate?: number | undefined;
  readonly seed?: number | undefined;
  readonly stdio?: boolean;
  readonly onRepeat?: 'replay' | 'conflict';
  /** How long keys are remembered. */
  readonly windowMs?: number;
  readonly limits?: Partial<HttpLimits>;
}

export interface StartedFaults {
  readonly kind: 'started';
  readonly url: string;
  readonly mcp: string;
  /** Null if no faults are drawn. */
  readonly seed: number | null;
  /** Only with `stdio`: when the client is gone. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

export type FaultsStart =
  | StartedFaults
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] }
  | { readonly kind: 'refused'; readonly message: string };

const dayMs = 86_400_000;
const listenAgainMs = 1_000;
const seeds = 1_000_000_000;

export async function startFaults(options: FaultsOptions): Promise<FaultsStart> {
  const read = await readFaults(options.faults);
  if ('message' in read) return { kind: 'refused', message: read.message };
  if (!read.ok) return { kind: 'problems', problems: read.problems };
  const { rate = 0, stdio = false } = options;
  const seed = rate > 0 ? (options.seed ?? randomInt(seeds)) : null;
  const rules = createRuleQueue(seed === null ? null : { seed, rate });
  rules.add(read.rules);
  const opened = openLedger(options.ledger);
  if (!opened.ok) return { kind: 'refused', message: opened.message };
  const { ledger } = opened;
  const { onRepeat = 'replay', windowMs = dayMs } = options;
  const nowMs = () => Date.now();
  const desk = createDesk({ ledger, rules, payments: createPayments(ledger, { windowMs, onRepeat, nowMs }), nowMs });
  const front = createFront(options.port, (refuse) =>
    createHttpFront({ desk, rules, ledger, refuse, limits: { ...defaultHttpLimits, ...options.limits } }),
  );
  const listening = await front.listen();
  if ('message' in listening) {
    ledger.close();
    return { kind: 'refused', message: listening.message };
  }
  const { port } = listening;
  const served = stdio ? (await import('./serve-mcp.ts')).serveMcpStdio(desk) : null;
  return {
    kind: 'started',
    url: `http://127.0.0.1:${port}/`,
    mcp: `http://127.0.0.1:${port}/mcp`,
    seed,
    ended: served?.ended ?? new Promise(() => undefined),
    async stop() {
      desk.stop();
      await front.close();
      await served?.close();
      ledger.close();
    },
  };
}

async function readFaults(file: string | undefined): Promise<ReadRules | { readonly message: string }> {
  if (file === undefined) return { ok: true, rules: [] };
  try {
    return readRules(await readFile(file, 'utf8'), file);
  } catch (error) {
    return { message: `'${file}' cannot be read (${(error as NodeJS.ErrnoException).code}): check its path and mode` };
  }
}

/** A server that can stop listening for a while, and listens at the same port again. */
function createFront(wanted: number, create: (refuse: (ms: number) => void) => ReturnType<typeof createHttpFront>) {
  let port = wanted;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const cut = () => {
    server.close();
    server.closeAllConnections();
  };
  const again = () => void (isClosed || server.listen(port, '127.0.0.1'));
  const server = create((ms) => {
    if (!server.listening) return;
    cut();
    timer = setTimeout(again, ms);
  });
  return {
    async listen(): Promise<{ readonly port: number } | { readonly message: string }> {
      server.listen(port, '127.0.0.1');
      try {
        await once(server, 'listening');
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        return { message: `127.0.0.1:${port} cannot be listened at (${code}): use another --port` };
      }
      ({ port } = server.address() as AddressInfo);
      // Another program may have taken the port meanwhile: it is tried until it is free.
      server.on('error', () => void (timer = setTimeout(again, listenAgainMs)));
      return { port };
    },
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      if (!server.listening) return server.closeAllConnections();
      const closed = once(server, 'close');
      cut();
      await closed;
    },
  };
}

/** For the command. */
export const faultsParts = {
  start: startFaults,
  durationMs,
  list: () => faultNames.map((name) => ({ fault: name, ...entryOf(name) })),
};
