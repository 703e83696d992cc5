/** The options with which a program names the MCP servers behind its gateway, and their defaults. Starts nothing. */
import type { ErrorMeaning, McpRule, McpUpstreamConfig } from '../../adapters/upstream-mcp/mcp-config.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import type { EffectClass } from '../../core/taxonomy.ts';
import { secondsToMs } from '../../core/values/duration.ts';

/** What an operator declares about tools, by a glob over the server's own names. The first match counts. */
export interface ServerToolOptions {
  readonly effect?: EffectClass;
  readonly timeout_seconds?: number;
  /** For 'keyed': how long the server remembers `_meta["recourse/idempotency_key"]`. */
  readonly dedupe_window_seconds?: number;
  /** For a tool that answers at once and goes on working: by when it must report with `recourse/tasks/complete`. */
  readonly reports_within_seconds?: number;
  /** What an error answer (`isError`) to a write means; as the server's if not given. */
  readonly on_error?: ErrorMeaning;
}

interface CommonServerOptions {
  /** Its tools are called `name/tool`. */
  readonly name: string;
  readonly timeout_seconds?: number;
  /** 'trust' believes `readOnlyHint`; a server that lies would have its writes sent twice. */
  readonly annotations?: 'ignore' | 'trust';
  /** 'none': an error answer (`isError`) of any of its tools proves that nothing happened. 'unknown' if not given. */
  readonly on_error?: ErrorMeaning;
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
    return {
      match,
      effect: rule.effect ?? null,
      timeoutMs: milliseconds(rule, 'timeout_seconds'),
      dedupeWindowMs: milliseconds(rule, 'dedupe_window_seconds'),
      reportsWithinMs: milliseconds(rule, 'reports_within_seconds'),
      onError: rule.on_error ?? null,
    };
  });
  return {
    name: options.name,
    connect: connectionOf(options),
    timeoutMs: milliseconds(options, 'timeout_seconds'),
    trustAnnotations: options.annotations === 'trust',
    rules,
    onError: options.on_error ?? null,
  };
}

function connectionOf(options: ServerOptions): McpUpstreamConfig['connect'] {
  if (options.command === undefined) return { kind: 'http', url: options.url, headers: options.headers ?? {} };
  const { command, args = [], env = {}, cwd = null } = options;
  return { kind: 'stdio', command, args, env, cwd };
}

function milliseconds(options: ServerToolOptions, name: keyof ServerToolOptions & `${string}_seconds`): number | null {
  const seconds: unknown = options[name];
  if (seconds === undefined) return null;
  if (typeof seconds === 'number' && seconds > 0 && Number.isFinite(seconds)) return secondsToMs(seconds);
  throw new GatewayError('bad_options', `\`${name}\` of a server must be a number of seconds above 0`);
}
