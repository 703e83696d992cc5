/**
 * The options with which a program names the MCP servers behind its gateway, what it declares about recovery, and the
 * defaults. Starts nothing.
 */
import type { WrittenPartial } from '../../adapters/upstream-function/declared-partial.ts';
import {
  declaredRecovery,
  type WrittenRead,
  type WrittenReconcile,
  type WrittenRetry,
  type WrittenReverse,
} from '../../adapters/upstream-function/declared-recovery.ts';
import type { ErrorMeaning, McpRule, McpUpstreamConfig } from '../../adapters/upstream-mcp/mcp-config.ts';
import type { WrittenRecovery } from '../../config/config.ts';
import { readEntry } from '../../core/egress/egress-list.ts';
import { type DeclaredRecovery, defaultBreaker } from '../../core/recovery/declared.ts';
import type { BreakerRule } from '../../core/recovery/playbook.ts';
import { readPlaybook, type WrittenPlaybook } from '../../core/recovery/read-playbook.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import type { EffectClass } from '../../core/taxonomy.ts';
import { secondsToMs } from '../../core/values/duration.ts';
import type { RecoveryConfig } from './tool-recovery.ts';

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
  /** What is done about its failures, by verdict. */
  readonly playbook?: WrittenPlaybook;
  /** When it is sent again after a failure, in place of what the playbook says. */
  readonly retry?: WrittenRetry;
  /** The read that tells whether a call in doubt took effect. */
  readonly reconcile?: WrittenReconcile;
  /** How long after a doubt it may still be carried out: a read that finds nothing counts only after it. */
  readonly quarantine_seconds?: number;
  /** Calls with the same key are the same operation: one in doubt fences the others of its session. */
  readonly operation_key?: (args: never) => string;
  /** How its partial results are read, and whether failed items are sent again. */
  readonly partial?: WrittenPartial;
  /** The reads that its calls rely on: the gateway makes them, for the agent, before each call. */
  readonly evidence?: readonly WrittenRead[];
  /** How a call of it is undone. */
  readonly reverse?: WrittenReverse;
}

interface CommonServerOptions {
  /** Its tools are called `name/tool`. */
  readonly name: string;
  readonly timeout_seconds?: number;
  /** 'trust' believes `readOnlyHint`; a server that lies would have its writes sent twice. */
  readonly annotations?: 'ignore' | 'trust';
  /** 'none': an error answer (`isError`) of any of its tools proves that nothing happened. 'unknown' if not given. */
  readonly on_error?: ErrorMeaning;
  /** Which hosts the program may reach, and how it is held to them; for `command` only. */
  readonly egress?: { readonly allow: readonly string[]; readonly hold?: 'proxy' | 'namespace' };
  /** What is done about failures of its tools, by verdict. */
  readonly playbook?: WrittenPlaybook;
  /** After so many failures in a row nothing is sent for a while: 5 and 30 seconds if not given. */
  readonly breaker?: 'off' | { readonly failures?: number; readonly open_for_seconds?: number };
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
    ...(options.egress === undefined ? {} : { egress: egressOf(options) }),
  };
}

function egressOf({ name, egress, command }: ServerOptions): NonNullable<McpUpstreamConfig['egress']> {
  const { allow = [], hold = 'proxy' } = egress ?? {};
  if (command === undefined) refuse(`\`egress\` of server '${name}' has no meaning with url; use egress of the agents`);
  if (hold !== 'proxy' && hold !== 'namespace') refuse(`\`egress.hold\` of server '${name}' is 'proxy' or 'namespace'`);
  for (const entry of allow) {
    const read = readEntry(entry);
    if (!read.ok) refuse(`\`egress.allow\` of server '${name}': ${read.message}; ${read.fix}`);
  }
  return { allow, hold };
}

export function recoveryConfig(
  playbook: WrittenPlaybook | undefined,
  servers: readonly ServerOptions[] = [],
): RecoveryConfig {
  return {
    playbook: written(playbookOf(playbook, 'the gateway')),
    servers: servers.map(({ name, playbook: own, breaker, tools = {} }) => ({
      name,
      recovery: written({
        ...playbookOf(own, `server '${name}'`),
        ...(breaker === undefined ? {} : { breaker: breakerOf(name, breaker) }),
      }),
      rules: Object.entries(tools).map(([match, rule]) => ruleRecovery(name, match, rule)),
    })),
  };
}

function ruleRecovery(
  server: string,
  match: string,
  rule: ServerToolOptions,
): RecoveryConfig['servers'][number]['rules'][number] {
  const whose = `'${match}' of server '${server}'`;
  const { recovery, operationKey, reverse, evidence } = declaredRecovery(
    { ...rule },
    milliseconds(rule, 'quarantine_seconds'),
    (problem, fix) => refuse(`${whose}: ${problem}; ${fix}`),
  );
  return {
    match,
    recovery: written({ ...playbookOf(rule.playbook, whose), ...recovery }),
    ...(operationKey === undefined ? {} : { operationKey: { of: operationKey, declared: String(rule.operation_key) } }),
    ...(reverse === undefined ? {} : { reverse: { declared: reverse } }),
    ...(evidence === undefined ? {} : { evidence }),
  };
}

const written = (declared: DeclaredRecovery): WrittenRecovery => ({ declared, places: new Map() });

function playbookOf(playbook: WrittenPlaybook | undefined, whose: string): DeclaredRecovery {
  if (playbook === undefined) return {};
  const read = readPlaybook(playbook);
  const [first] = read.problems;
  if (first === undefined) return { playbook: read.playbook };
  return refuse(`\`${['playbook', ...first.path].join('.')}\` of ${whose}: ${first.problem}; ${first.fix}`);
}

function breakerOf(server: string, breaker: NonNullable<CommonServerOptions['breaker']>): BreakerRule | null {
  if (breaker === 'off') return null;
  const { failures = defaultBreaker.failures, open_for_seconds: seconds = defaultBreaker.openMs / 1_000 } = breaker;
  if (Number.isSafeInteger(failures) && failures >= 1 && Number.isFinite(seconds) && seconds > 0)
    return { failures, openMs: secondsToMs(seconds) };
  return refuse(`\`breaker\` of server '${server}' is 'off' or { failures, open_for_seconds }, both above 0`);
}

function refuse(message: string): never {
  throw new GatewayError('bad_options', message);
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
  return refuse(`\`${name}\` of a server must be a number of seconds above 0`);
}
