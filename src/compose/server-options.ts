/** How a program names the MCP servers behind its gateway: what is left out has the default of recourse.yaml. Starts nothing. */
import type { McpRule, McpUpstreamConfig } from '../adapters/upstream-mcp/mcp-config.ts';
import type { EffectClass } from '../core/taxonomy.ts';

/** What an operator knows of some tools, by a glob over the server's own names of them; the first that matches speaks. */
export interface ServerToolOptions {
  readonly effect?: EffectClass;
  readonly timeout_seconds?: number;
  /** For 'keyed': how long the server remembers `_meta["recourse/idempotency_key"]`. */
  readonly dedupe_window_seconds?: number;
  /** For what answers at once and goes on working: by when `recourse/tasks/complete` must have reported it. */
  readonly reports_within_seconds?: number;
}

interface CommonServerOptions {
  /** Its tools are called `name/tool`. */
  readonly name: string;
  readonly timeout_seconds?: number;
  /** 'trust' believes `readOnlyHint`; a server that lies would have its writes sent twice. */
  readonly annotations?: 'ignore' | 'trust';
  readonly tools?: Readonly<Record<string, ServerToolOptions>>;
}

/** A program that is started, or an address that is connected to. */
export type ServerOptions = CommonServerOptions &
  (
    | {
        readonly command: string;
        readonly args?: readonly string[];
        readonly env?: Readonly<Record<string, string>>;
        readonly cwd?: string;
        readonly url?: never;
      }
    | { readonly url: string; readonly headers?: Readonly<Record<string, string>>; readonly command?: never }
  );

export function serverConfig(options: ServerOptions): McpUpstreamConfig {
  const rules = Object.entries(options.tools ?? {}).map(([match, rule]): McpRule => {
    const { effect = null, timeout_seconds: timeout, dedupe_window_seconds: window } = rule;
    const reportsWithinMs = milliseconds(rule.reports_within_seconds);
    return { match, effect, timeoutMs: milliseconds(timeout), dedupeWindowMs: milliseconds(window), reportsWithinMs };
  });
  return {
    name: options.name,
    connect: connectionOf(options),
    timeoutMs: milliseconds(options.timeout_seconds),
    trustAnnotations: options.annotations === 'trust',
    rules,
  };
}

function connectionOf(options: ServerOptions): McpUpstreamConfig['connect'] {
  if (options.command === undefined) return { kind: 'http', url: options.url, headers: options.headers ?? {} };
  const { command, args = [], env = {}, cwd = null } = options;
  return { kind: 'stdio', command, args, env, cwd };
}

const milliseconds = (seconds: number | undefined): number | null => (seconds === undefined ? null : seconds * 1_000);
