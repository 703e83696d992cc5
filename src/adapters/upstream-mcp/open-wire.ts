/**
 * Opens a connection to a server and performs the handshake, within a time limit. A child gets the revision with a
 * handshake, since a probe for the newer one would start it twice. HTTP gets what the server speaks. Declares no
 * client capabilities.
 */
import { Client } from '@modelcontextprotocol/client';
import type { Resolver } from '../../ports/resolver.ts';
import { denialIn } from '../shared/egress-connector.ts';
import type { CredentialHandle } from '../../ports/credentials.ts';
import { revealAll } from './reveal-credentials.ts';
import { createWire, type Wire } from './wire.ts';
import { HttpTransport } from './http/http-transport.ts';
import type { McpUpstreamConfig } from './mcp-config.ts';
import type { McpLimits } from './mcp-limits.ts';
import { answerOfFault, faultsIn, messageIn } from './wire-answer.ts';
import { createStdioTransport } from './stdio/stdio-transport.ts';
import { HttpRefusal, NotSent } from './transport-faults.ts';
import { describeAnswer } from './interpret-answer.ts';

export interface WireParts {
  readonly limits: McpLimits;
  readonly client: { readonly name: string; readonly version: string };
  readonly onStderr: (text: string) => void;
  readonly onToolsChanged: () => void;
  /** For names of hosts; the system's if not given. */
  readonly resolver?: Resolver | undefined;
  /** For the handshake. */
  readonly timeoutMs: number;
  /** The secrets of the connection. */
  readonly credentials?: readonly CredentialHandle[];
  readonly hide?: <Value>(value: Value) => Value;
}

export interface OpenWire extends Wire {
  readonly protocolVersion: string;
  readonly serverInfo: { readonly name: string; readonly version: string } | null;
  readonly pid: number | null;
  /** Whether there is a session, which the server may forget. */
  hasSession(): boolean;
  /** Why the connection ended. */
  ending(): string;
  /** Subscribes to changes, which revision 2026-07-28 requires; resolves when the subscription is over. */
  awaitChanges(): Promise<'ended' | 'not offered'>;
}

export type Opening = { readonly ok: true; readonly wire: OpenWire } | { readonly ok: false; readonly problem: string };

export interface Attempted {
  readonly opening: Promise<Opening>;
  /** Ends an attempt that is no longer needed. */
  stop(): Promise<void>;
}

export function openWire(config: McpUpstreamConfig, parts: WireParts): Attempted {
  const { limits, timeoutMs } = parts;
  const { connect: to } = config;
  const { credentials = [], hide } = parts;
  const env = revealAll(credentials)?.env ?? {};
  const program = to.kind === 'stdio' ? { ...to, env: { ...to.env, ...env } } : null;
  const child = program === null ? null : createStdioTransport(program, limits, parts.onStderr);
  const secrets = () => revealAll(credentials)?.headers ?? {};
  const http = to.kind === 'http' ? new HttpTransport(to, limits, secrets, parts.resolver) : null;
  const inner = child ?? http;
  if (inner === null) throw new Error('bug: a connection is a child or an address');
  const ending = () => child?.ending() ?? 'the connection was closed';
  const heard = { toolsChanged: parts.onToolsChanged, ending, ...(hide === undefined ? {} : { hide }) };
  const wire = createWire(inner, limits, heard);
  const client = new Client(
    { ...parts.client },
    {
      capabilities: {},
      inputRequired: { autoFulfill: false },
      versionNegotiation: { mode: http === null ? 'legacy' : 'auto' },
    },
  );
  let tooLate = false;

  async function connect(): Promise<Opening> {
    const timer = setTimeout(() => {
      tooLate = true;
      void wire.close();
    }, timeoutMs);
    try {
      await client.connect(wire.transport, { timeout: timeoutMs });
    } catch (error) {
      const problem = tooLate ? `it did not finish the handshake within ${timeoutMs} ms` : whyNot(error);
      await wire.close();
      return { ok: false, problem };
    } finally {
      clearTimeout(timer);
    }
    return wire.isClosed() ? { ok: false, problem: ending() } : { ok: true, wire: opened() };
  }

  function whyNot(error: unknown): string {
    if (error instanceof NotSent) return error.message;
    const denied = denialIn(error);
    if (denied !== null) return denied.message;
    // The SDK wraps what ends its first question.
    const inner = error instanceof Error && error.cause instanceof HttpRefusal ? error.cause : error;
    if (inner instanceof HttpRefusal) return describeAnswer(answerOfFault(inner, limits.maxCauseChars));
    const code = faultsIn(error)[0]?.code;
    if (code !== undefined) return `it cannot be reached (${code})`;
    return child?.ending() ?? messageIn(error, limits.maxMessageChars);
  }

  function opened(): OpenWire {
    const protocolVersion = client.getNegotiatedProtocolVersion() ?? 'unknown';
    const isModern = client.getProtocolEra() === 'modern';
    const { name, version } = client.getServerVersion() ?? {};
    if (isModern) wire.introduce({ protocolVersion, client: parts.client });
    return {
      ...wire,
      protocolVersion,
      serverInfo: name === undefined || version === undefined ? null : { name, version },
      pid: child?.pid() ?? null,
      hasSession: () => http?.sessionId !== undefined,
      ending,
      async awaitChanges() {
        if (!isModern || client.getServerCapabilities()?.tools?.listChanged !== true) return 'not offered';
        try {
          const subscription = await client.listen({ toolsListChanged: true }, { timeout: limits.connectTimeoutMs });
          await subscription.closed;
        } catch {
          // Ignored: it offers subscriptions and refused this one: try again later.
        }
        return 'ended';
      },
      async close() {
        if (http?.sessionId !== undefined && !wire.isClosed()) await endSession(http, limits.courtesyTimeoutMs);
        await wire.close();
      },
    };
  }

  return { opening: connect(), stop: () => wire.close() };
}

async function endSession(http: HttpTransport, maxMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, maxMs);
  });
  // Ignored: a server that is gone has no session left to end.
  await Promise.race([http.terminateSession().catch(() => undefined), enough]);
  clearTimeout(timer);
}
