/**
 * One server over its whole life: connects, reconnects with backoff, closes. Keeps its tools listed while it is away.
 * Independent of every other server.
 */
import type { Resolver } from '../../ports/resolver.ts';
import type { ToolEntry } from '../../core/call/catalogue.ts';
import { createBackoff, createDelay, waitFor } from './backoff.ts';
import { createToolCache, type LeftOut } from './tools/tool-cache.ts';
import type { McpUpstreamConfig } from './mcp-config.ts';
import type { StoredTools } from './tools/stored-tools.ts';
import type { McpLimits } from './mcp-limits.ts';

import { type Attempted, type OpenWire, openWire } from './open-wire.ts';
import type { CredentialHandle } from '../../ports/credentials.ts';
import type { ConnectionSecrets, LackingCredential } from './reveal-credentials.ts';
import { createStderrTail } from './stdio/stderr-tail.ts';

export interface UpstreamStatus {
  readonly name: string;
  readonly kind: 'stdio' | 'http' | 'extension';
  /** `waiting`: it could not be reached, or was lost, and is tried again. */
  readonly state: 'connecting' | 'connected' | 'waiting' | 'closed';
  /** What is wrong, or was last; null if nothing is. */
  readonly problem: string | null;
  readonly protocolVersion: string | null;
  readonly server: { readonly name: string; readonly version: string } | null;
  readonly pid: number | null;
  readonly tools: number;
  readonly leftOut: readonly LeftOut[];
  /** How often it was connected again. */
  readonly reconnects: number;
  /** The last lines of a child's standard error. */
  readonly stderr: readonly string[];
}

export interface LinkParts {
  readonly limits: McpLimits;
  readonly client: { readonly name: string; readonly version: string };
  readonly defaultTimeoutMs: number;
  readonly onStderr: (line: string) => void;
  readonly onTools: () => void;
  /** It is in another state than before. */
  readonly onState: (status: UpstreamStatus) => void;
  readonly kept: StoredTools | null;
  readonly resolver?: Resolver | undefined;
  /** Fetches the secrets of its connection. */
  readonly connectWith: (failed: readonly CredentialHandle[]) => Promise<ConnectionSecrets>;
  readonly hide: <Value>(value: Value) => Value;
}

export interface ServerLink {
  readonly config: McpUpstreamConfig;
  entries(): readonly ToolEntry[];
  entry(name: string): ToolEntry | null;
  /** Whether its tools are known, from it or from an earlier process. */
  isListed(): boolean;
  /** The secret without which it is not connected; null if that is not the reason. */
  lacks(): LackingCredential | null;
  /** When to try again while it is away. */
  retryAfterSeconds(): number;
  status(): UpstreamStatus;
  /** Resolves once it was connected, or could not be for the first time. */
  readonly settled: Promise<void>;
  /** The connection, or null if there is none within the time. */
  connection(maxMs: number, signal: AbortSignal): Promise<OpenWire | null>;
  /** Another connection in place of one whose session the server forgot; null if there is none within the time. */
  renew(forgotten: OpenWire, maxMs: number, signal: AbortSignal): Promise<OpenWire | null>;
  /** Notes the problem that the last call showed of the server; null if it showed none. */
  note(problem: string | null): void;
  relist(): void;
  close(): Promise<void>;
}

/** A server that is being started or connected needs some time. */
const leastRetrySeconds = 2;

export function createServerLink(config: McpUpstreamConfig, parts: LinkParts): ServerLink {
  const { limits } = parts;
  const settled = Promise.withResolvers<void>();
  const backoff = createBackoff(limits);
  const restart = createDelay();
  const resubscribe = createDelay();
  const stderr = createStderrTail(limits, (line) => parts.onStderr(parts.hide(line)));
  const tools = createToolCache(config, parts, (failure) => {
    note(failure);
    // Another server may stand at the address by now, with another revision. A child cannot change while it runs.
    if (state === 'connected' && config.connect.kind === 'http') void reopen();
  });
  let state: UpstreamStatus['state'] = 'connecting';
  let problem: string | null = null;
  let lacks: LackingCredential | null = null;
  /** Secrets with which it could not be opened: another one may be needed. */
  let unaccepted: readonly CredentialHandle[] = [];
  let current: OpenWire | null = null;
  let attempted: Attempted | null = null;
  const retired = new Set<OpenWire>();
  let changed = Promise.withResolvers<void>();
  let reconnects = -1;
  let triedAt = 0;
  let nextTryAt = 0;
  let renewing: Promise<void> | null = null;

  const living = live();

  /** Changes the state, and wakes those who wait for a connection. */
  function enter(next: UpstreamStatus['state']): void {
    if (state === 'closed') return;
    state = next;
    parts.onState(status());
    changed.resolve();
    changed = Promise.withResolvers();
  }

  function isOver(): boolean {
    return state === 'closed';
  }

  async function live(): Promise<void> {
    await tools.restore();
    while (!isOver()) {
      enter('connecting');
      const wire = await open();
      const connectedAt = performance.now();
      if (wire !== null) {
        use(wire);
        settled.resolve();
        await wire.closed;
        // A renewed HTTP connection has a successor, which may still be open.
        while (current !== null && !current.isClosed()) await current.closed;
        problem = current?.ending() ?? wire.ending();
      }
      settled.resolve();
      if (isOver()) return;
      enter('waiting');
      const pauseMs = backoff.next(wire === null ? 0 : performance.now() - connectedAt);
      nextTryAt = performance.now() + pauseMs;
      await restart.wait(pauseMs);
    }
  }

  /** A connection whose tools are known; null, with the problem noted, if there is none. */
  async function open(): Promise<OpenWire | null> {
    triedAt = performance.now();
    const secrets = await parts.connectWith(unaccepted);
    lacks = secrets.ok ? null : secrets.lacks;
    if (!secrets.ok) {
      problem = `${secrets.lacks.provider} provider returned: ${secrets.lacks.reason}`;
      return null;
    }
    // After the first connection its program is known to be installed.
    const isFirst = config.connect.kind === 'stdio' && reconnects < 0;
    const attempt = openWire(config, {
      ...parts,
      timeoutMs: isFirst ? limits.firstConnectTimeoutMs : limits.connectTimeoutMs,
      onStderr: (text) => stderr.push(text),
      onToolsChanged: () => tools.refreshSoon(),
      credentials: secrets.handles,
      hide: parts.hide,
    });
    attempted = attempt;
    const opening = await attempt.opening;
    unaccepted = opening.ok ? [] : secrets.handles;
    if (!opening.ok) {
      problem = opening.problem;
      return null;
    }
    const { wire } = opening;
    const failure = isOver() ? 'the gateway is closing' : await tools.fill(wire);
    if (failure === null && !isOver()) return wire;
    problem = wire.isClosed() ? wire.ending() : failure;
    await wire.close();
    return null;
  }

  function use(wire: OpenWire): void {
    if (current !== null) retire(current);
    current = wire;
    problem = null;
    reconnects++;
    enter('connected');
    void follow(wire);
  }

  /** The old connection may still wait for answers; new calls use the next one. */
  function retire(wire: OpenWire): void {
    retired.add(wire);
    void wire.closed.then(() => retired.delete(wire));
    wire.retire();
  }

  /** Renews a subscription that ends, and lists the tools for changes in between. */
  async function follow(wire: OpenWire): Promise<void> {
    const pace = createBackoff(limits);
    for (;;) {
      const since = performance.now();
      const told = await wire.awaitChanges();
      if (told === 'not offered' || wire.isClosed() || current !== wire) return;
      await resubscribe.wait(pace.next(performance.now() - since));
      if (wire.isClosed() || current !== wire) return;
      tools.refreshSoon();
    }
  }

  async function connection(maxMs: number, signal: AbortSignal): Promise<OpenWire | null> {
    const until = performance.now() + maxMs;
    for (;;) {
      if (current !== null && !current.isClosed()) return current;
      const leftMs = until - performance.now();
      if (isOver() || signal.aborted || leftMs <= 0) return null;
      // Trying an address again is cheap; starting a child that keeps dying is not.
      const isDue = performance.now() - triedAt >= limits.backoffInitialMs;
      if (state === 'waiting' && config.connect.kind === 'http' && isDue) restart.endEarly();
      await waitFor(changed.promise, Math.min(leftMs, limits.backoffInitialMs), signal);
    }
  }

  async function renew(forgotten: OpenWire, maxMs: number, signal: AbortSignal): Promise<OpenWire | null> {
    if (current === forgotten) {
      await waitFor(reopen(), maxMs, signal);
    }
    return current === forgotten || current?.isClosed() === true ? null : current;
  }

  function reopen(): Promise<void> {
    renewing ??= replace().finally(() => {
      renewing = null;
    });
    return renewing;
  }

  async function replace(): Promise<void> {
    const wire = await open();
    if (wire !== null && !isOver()) use(wire);
    else await wire?.close();
  }

  function note(failure: string | null): void {
    if (state === 'connected') problem = failure;
  }

  const status = (): UpstreamStatus =>
    parts.hide(describe(config, { state, problem, wire: current, tools, reconnects, stderr: stderr.lines() }));

  return {
    config,
    entries: tools.entries,
    entry: tools.entry,
    isListed: tools.isListed,
    lacks: () => lacks,
    retryAfterSeconds: () => Math.max(leastRetrySeconds, Math.ceil((nextTryAt - performance.now()) / 1_000)),
    settled: settled.promise,
    connection,
    renew,
    note,
    relist: tools.refreshSoon,
    status,
    async close() {
      enter('closed');
      settled.resolve();
      tools.close();
      restart.endEarly();
      resubscribe.endEarly();
      await Promise.all([current, ...retired].map((wire) => wire?.close()));
      await attempted?.stop();
      await living;
    },
  };
}

interface LinkNow extends Pick<UpstreamStatus, 'state' | 'problem' | 'reconnects' | 'stderr'> {
  readonly wire: OpenWire | null;
  readonly tools: Pick<ReturnType<typeof createToolCache>, 'problem' | 'entries' | 'leftOut'>;
}

function describe({ name, connect }: McpUpstreamConfig, now: LinkNow): UpstreamStatus {
  const { state, problem, wire, tools, reconnects, stderr } = now;
  return {
    name,
    kind: connect.kind,
    state,
    problem: problem ?? tools.problem(),
    protocolVersion: wire?.protocolVersion ?? null,
    server: wire?.serverInfo ?? null,
    pid: wire === null || wire.isClosed() ? null : wire.pid,
    tools: tools.entries().length,
    leftOut: tools.leftOut(),
    reconnects: Math.max(0, reconnects),
    stderr,
  };
}
