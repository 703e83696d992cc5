/** The configuration of one MCP server, and its checks. Reads no files. */
import type { JsonObject } from '../../core/values/json.ts';
import type { Reach } from '../../core/policy/policy.ts';
import type { EffectClass } from '../../core/taxonomy.ts';
import { matchesGlob } from './tools/matches-glob.ts';

/** How the process of a server is held to its egress list. */
export interface Confinement {
  /** Variables that the child gets over all others. */
  readonly env: Readonly<Record<string, string>>;
  /** What stands before its command; empty if it is started as it is. */
  readonly launcher: readonly string[];
  /** Why it cannot be held as it is written: then it is not started. */
  readonly problem: string | null;
  /** How often a connection of it was denied so far, and the last host. */
  readonly denied: () => { readonly count: number; readonly host: string };
}

export interface StdioConnection {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** Beside the few harmless variables that every child gets. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | null;
  /** Absent if it has no egress list. */
  readonly confinement?: Confinement;
}

export interface HttpConnection {
  readonly kind: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What an error answer (`isError`) to a write proves: that nothing happened, or nothing. */
export type ErrorMeaning = 'none' | 'unknown';

/** What an operator states about tools, over what the server says. The first rule that matches a tool counts. */
export interface McpRule {
  /** A glob over the server's own names of its tools. */
  readonly match: string;
  readonly effect: EffectClass | null;
  readonly timeoutMs: number | null;
  readonly dedupeWindowMs: number | null;
  /** For what answers at once and goes on working; null, or absent, if its answer is the end of it. */
  readonly reportsWithinMs?: number | null;
  /** For ceilings; from the effect if not given. */
  readonly reach?: Reach | null;
  /** That of the server if not given. */
  readonly onError?: ErrorMeaning | null;
}

export interface McpUpstreamConfig {
  readonly name: string;
  readonly connect: StdioConnection | HttpConnection;
  readonly timeoutMs: number | null;
  /** True: `readOnlyHint` makes a tool `pure`. A server that lies would have its writes sent twice. */
  readonly trustAnnotations: boolean;
  readonly rules: readonly McpRule[];
  /** `bare` leaves the server out where clients over MCP are told its tools. */
  readonly names?: 'bare';
  /** `unknown` if not given. */
  readonly onError?: ErrorMeaning | null;
  /** What its process may reach, as it is written. */
  readonly egress?: { readonly allow: readonly string[]; readonly hold: 'proxy' | 'namespace' };
  /** What its tools said of themselves when they were pinned. Without it, what they say now. */
  readonly pinnedHints?: ReadonlyMap<string, JsonObject | null> | null;
}

/** By the server's own name of the tool. The first rule that matches counts. */
export function ruleFor({ rules }: McpUpstreamConfig, tool: string): McpRule | undefined {
  return rules.find(({ match }) => matchesGlob(match, tool));
}

export function errorMeaning(server: McpUpstreamConfig, tool: string): ErrorMeaning {
  return ruleFor(server, tool)?.onError ?? server.onError ?? 'unknown';
}

export class McpConfigError extends Error {
  override name = 'McpConfigError';

  constructor(server: string, problem: string, fix: string) {
    super(`server '${server.slice(0, 128)}': ${problem}; ${fix}`);
  }
}

/** Throws the first problem: nothing starts with a wrong configuration. */
export function checkConfigs(configs: readonly McpUpstreamConfig[]): void {
  const taken = new Set<string>();
  for (const { name, connect, rules } of configs) {
    if (!/^[A-Za-z0-9_.-]{1,64}$/.test(name)) {
      throw new McpConfigError(name, 'its name is not usable', 'use 1 to 64 letters, digits, _ - or .');
    }
    if (taken.has(name)) throw new McpConfigError(name, 'its name is taken', 'give each server a name of its own');
    taken.add(name);
    checkConnection(name, connect);
    for (const rule of rules) checkRule(name, rule);
  }
}

function checkConnection(name: string, connect: McpUpstreamConfig['connect']): void {
  if (connect.kind === 'stdio') {
    if (connect.command !== '') return;
    throw new McpConfigError(name, 'its command is empty', 'name the program to start');
  }
  const protocol = URL.parse(connect.url)?.protocol;
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new McpConfigError(name, 'its url is no http or https address', 'write the whole address');
  }
  try {
    new Headers(connect.headers);
  } catch {
    throw new McpConfigError(name, 'one of its headers cannot be sent', 'use plain names and one line for each value');
  }
}

function checkRule(name: string, { match, effect, dedupeWindowMs }: McpRule): void {
  if (effect === 'keyed' && dedupeWindowMs === null) {
    const fix = 'set dedupe_window to how long the server remembers recourse/idempotency_key';
    throw new McpConfigError(name, `rule '${match}' is 'keyed' without a window`, fix);
  }
}
