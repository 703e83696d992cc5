/** The composition root: opens the store, builds the shell, recovers calls, then opens the library's door. */
import { createResolver } from './adapters/shared/node-resolver.ts';
import { nodeClock } from './adapters/system-node/clock.ts';
import { nodeIds } from './adapters/system-node/ids.ts';
import { openSqliteStore } from './adapters/store-sqlite/open-store.ts';
import type { MountedWorkflow } from './adapters/upstream-function/workflow/mount.ts';
import type { StepRequest, StepResult } from './adapters/upstream-function/workflow/step-request.ts';
import type { ResultOf, Tool } from './adapters/upstream-function/tool.ts';
import type { HttpApi } from './adapters/upstream-http/http-api.ts';
import type { McpUpstreamConfig } from './adapters/upstream-mcp/mcp-config.ts';
import { problemWithOptions } from './config/check-options.ts';
import type { Principal } from './core/call/call.ts';
import type { ModelProvider } from './core/model/model-provider.ts';
import { baseLadder, withCredential, workflowLadder } from './core/call/decide.ts';
import { whileClosing } from './core/gates/ready.ts';
import { GatewayError } from './core/values/gateway-error.ts';
import { defaultLimits, type Limits } from './core/limits.ts';
import type { Policy } from './core/policy/policy.ts';
import type { Reply } from './core/call/reply.ts';
import { createOperatorDoor } from './doors/library/operator-door.ts';
import { type CallOptions, createLibraryDoor } from './doors/library/library-door.ts';
import { createWorkflowDoor } from './doors/library/workflow-door.ts';
import { defaultStoreOf } from './compose/state/find-store.ts';
import { guardKeys, type KeyGuard } from './compose/serve/guard-keys.ts';
import {
  type ExtensionOptions,
  type OpenExtensions,
  openExtensions,
  type ProgramExtensions,
} from './compose/extensions/open-extensions.ts';
import { hideOwn, ownOf } from './compose/serve/hide-own.ts';
import { type Behind, joinUpstreams, type Joined } from './compose/upstreams/join-upstreams.ts';
import { printNotice, quietly, recordingNotifier } from './compose/serve/print-notices.ts';
import { recoverStore } from './compose/serve/recover-store.ts';
import type { SystemParts } from './compose/serve/system-parts.ts';
import type { CallRequest, Named } from './compose/serve/call-request.ts';
import { hideSecrets } from './compose/serve/secret-hider.ts';
import { type CredentialOptions, credentialsOf } from './compose/upstreams/credential-options.ts';
import { joinCredentials } from './compose/upstreams/join-credentials.ts';
import { recoveryConfig, serverConfig, type ServerOptions } from './compose/upstreams/server-options.ts';
import { addDeclared, createRecovery } from './compose/upstreams/tool-recovery.ts';
import type { Notifier } from './ports/notifier.ts';
import { voidOutdated } from './shell/approval/end-approval.ts';
import { drain, drainSeconds, stopAll, startSweeping } from './shell/upkeep/sweep.ts';
import { knownOnRecord } from './shell/call/hand-over.ts';
import { readFromSuccessor, watchStore, steadyClock } from './shell/upkeep/guard-ports.ts';
import { maskResults } from './shell/mask.ts';
import { recordHeldClock, recordMaskedKeys } from './shell/upkeep/record-runtime.ts';
import { recordSuppressed } from './shell/upkeep/record-suppressed.ts';
import { countRepeats } from './shell/call/record-refusal.ts';
import { createShell, type Shell } from './shell/shell.ts';
import { joinLive } from './compose/tickets/live-hooks.ts';
import { ruledBy, type TicketOptions, ticketRulesIn } from './compose/tickets/ticket-options.ts';
import { createWorkflowService } from './shell/session/workflow-service.ts';
import crypto from 'node:crypto';
import { suppressed, type SuppressedNotice } from './core/values/suppressed.ts';

export type { CallRequest, SystemParts };

export interface GatewayOptions<
  Tools extends readonly Tool[],
  Workflows extends readonly MountedWorkflow[] = readonly MountedWorkflow[],
> extends ProgramExtensions {
  readonly tools?: Tools;
  /** What `mount` returned: each is served to its own sessions. */
  readonly workflows?: Workflows;
  /** MCP servers whose tools become tools of the gateway, as `server/tool`. */
  readonly servers?: readonly ServerOptions[];
  /** Secrets that go with calls of servers and HTTP tools, by name. */
  readonly credentials?: Readonly<Record<string, CredentialOptions>>;
  readonly file?: string;
  /** Start with a new store although there was one here, or continue with an older copy of it. */
  readonly newStore?: boolean;
  /** Who asks when a call does not say. */
  readonly agent?: string;
  readonly tenant?: string;
  /** What `loadPolicy` returned: who may call what. Without one every declared tool may be called. */
  readonly policy?: Policy;
  /** What is done about failures, by verdict; what it does not name is the default's. */
  readonly playbook?: ServerOptions['playbook'];
  /** How long tickets may take, and who answers them. */
  readonly tickets?: TicketOptions;
  readonly limits?: Partial<Limits>;
  /** Called with notices for the operator. The default prints one line on standard error. */
  readonly onNotice?: Notifier;
}

type Door = ReturnType<typeof createLibraryDoor> &
  ReturnType<typeof createWorkflowDoor> &
  ReturnType<typeof createOperatorDoor> &
  Pick<OpenExtensions, 'extensions'>;

export interface Gateway<
  Tools extends readonly Tool[],
  Workflows extends readonly MountedWorkflow[] = readonly [],
> extends Door {
  /** Whether this process owns the store's file, or forwards its writes to the one that does. */
  readonly role: 'owner' | 'forwarder';
  /** Typed by the tools. Never rejects: whatever happens is a reply. */
  call<Name extends Tools[number]['name']>(
    request: CallRequest<Tools, Name>,
    options?: CallOptions,
  ): Promise<Reply<ResultOf<Named<Tools, Name>>>>;
  /** One step of a workflow, typed by its actions. Never rejects. */
  step<const Action extends string, const Name = unknown>(
    request: StepRequest<Workflows> & { readonly action: Action; readonly workflow?: Name },
    options?: CallOptions,
  ): Promise<Reply<StepResult<Workflows, Name, Action>>>;
  /** Lets running calls end (for `drain_seconds`, 10 by default), then closes the store. */
  close(options?: { readonly drain_seconds?: number }): Promise<void>;
}

export async function createGateway<
  const Tools extends readonly Tool[] = readonly [],
  const Workflows extends readonly MountedWorkflow[] = readonly [],
>(options: GatewayOptions<Tools, Workflows>, system: SystemParts = {}): Promise<Gateway<Tools, Workflows>> {
  const { servers, policy, newStore, playbook, tickets, credentials, ...rest } = options;
  const problem = problemWithOptions(options);
  if (problem !== null) throw new GatewayError('bad_options', problem);
  const configs = servers === undefined ? {} : { servers: servers.map(serverConfig) };
  const governed = policy === undefined ? {} : { policy: () => policy };
  const begin = newStore === true ? { begin: 'anew' as const } : {};
  const parts: SystemParts = {
    ...system,
    ...begin,
    recovery: recoveryConfig(playbook, servers),
    ticketRules: ticketRulesIn(tickets),
  };
  const declared = { ...rest, ...configs, ...governed, credentials: credentialsOf(credentials) };
  return (await openGateway<Tools, Workflows>(declared, parts)).gateway;
}

export type OpenOptions<Tools extends readonly Tool[], Workflows extends readonly MountedWorkflow[]> = Omit<
  GatewayOptions<Tools, Workflows>,
  'servers' | 'policy' | 'newStore' | 'playbook' | 'tickets' | 'credentials'
> &
  ExtensionOptions & {
    readonly servers?: readonly McpUpstreamConfig[];
    readonly apis?: readonly HttpApi[];
    readonly models?: readonly ModelProvider[];
    /** Asked for each call: it may change while the gateway runs. */
    readonly policy?: () => Policy | null;
  };

/** The gateway and its parts, for the other doors of a process. */
export interface OpenGateway<Tools extends readonly Tool[], Workflows extends readonly MountedWorkflow[]> {
  readonly gateway: Gateway<Tools, Workflows>;
  readonly shell: Shell;
  readonly service: ReturnType<typeof createWorkflowService>;
  readonly upstreams: Joined;
}

export async function openGateway<
  const Tools extends readonly Tool[],
  const Workflows extends readonly MountedWorkflow[],
>(options: OpenOptions<Tools, Workflows>, system: SystemParts = {}): Promise<OpenGateway<Tools, Workflows>> {
  const { apis: _, models: __, hosted: _hosted, validatorOf: _of, running: _running, ...checked } = options;
  const problem = problemWithOptions(checked);
  if (problem !== null) throw new GatewayError('bad_options', problem);
  const self: Principal = { tenant: options.tenant ?? 'default', agent: options.agent ?? 'local' };
  const opened = await openParts(options, system);
  const { upstreams, role } = opened;
  const heldBack: number[] = [];
  const { shell, guard } = await buildShell(options, system, opened, (behindMs) => heldBack.push(behindMs));
  const recovers = system.recovers !== false;
  // A forwarder does not recover: the owner is alive, and the calls are its own.
  if (role === 'owner' && recovers)
    await recoverStore(shell, opened.store, opened.notify, () => closeParts(opened, guard));
  opened.store.onEqualWrite((equal) => knownOnRecord(equal, shell));
  // The rules may have changed since the last run. Only an owner with a policy voids approvals of undeclared agents.
  const undeclared = role === 'owner' && options.policy !== undefined ? 'void' : 'leave';
  const policies = () => [shell.policy()].filter((each) => each !== null);
  const bind = () => voidOutdated(policies(), undeclared, shell);
  let isBound = !recovers || (await bind());
  const stopSweeping = startSweeping(shell, async () => {
    isBound ||= await bind();
    await recordHeldClock(heldBack, shell);
  });
  const stopWatching = watchStore(shell);
  shell.live.readiness = { ready: true };
  joinLive(shell);
  const service = createWorkflowService(shell);
  const door = {
    ...createLibraryDoor(shell, self),
    ...createWorkflowDoor(service, shell, self),
    ...createOperatorDoor(shell, self),
    extensions: opened.extensions.extensions,
  };

  let closing: Promise<void> | null = null;
  const close = async (drainSeconds: number): Promise<void> => {
    shell.live.readiness = whileClosing;
    await drain(shell, drainSeconds * 1_000);
    await stopAll(shell);
    await stopSweeping();
    stopWatching();
    // A store that cannot be read is closed all the same.
    await countRepeats(shell).catch((error: unknown) => opened.notify(suppressed('counting refusals', error)));
    shell.live.closed = true;
    await closeParts({ ...opened, store: shell.ports.store }, guard);
  };
  const gateway: Gateway<Tools, Workflows> = {
    ...door,
    role,
    call: (request, callOptions) => door.handle(request, callOptions) as never,
    step: (request, callOptions) => door.handleStep(request, callOptions) as never,
    close: (closeOptions = {}) => (closing ??= close(drainSeconds(closeOptions.drain_seconds))),
  };
  return { gateway, shell, service, upstreams };
}

type AnyOptions = OpenOptions<readonly Tool[], readonly MountedWorkflow[]>;

/** The store and the upstreams, opened and bound to each other. On failure nothing stays open. */
async function openParts(options: AnyOptions, system: SystemParts) {
  const limits = { ...defaultLimits, ...options.limits };
  const clock = system.clock ?? nodeClock;
  const onNotice = quietly(options.onNotice ?? printNotice);
  const tell = (message: string) => onNotice({ kind: 'store_place', message });
  const file = options.file ?? (await defaultStoreOf(process.cwd(), tell));
  const extensions = await openExtensions(options, clock, onNotice, system.dns);
  const credentials = await joinCredentials(options.credentials ?? [], clock, { file, running: extensions.running });
  extensions.hideWith(credentials.hider);
  const { notify, recordWith } = recordingNotifier(credentials.hideNotices(onNotice));
  const { onServer, onTools, dns } = system;
  const complete = credentials.completing(extensions.completing(addDeclared(system.recovery, options.tools)));
  const behind = { ...options, onServer, onTools, dns, complete, credentials };
  const join = (more: Behind) => joinUpstreams({ ...behind, ...more }, limits, notify, `${file}.tools`);
  const upstreams = await extensions.join(join);
  const clocks = { nowMs: () => clock.nowMs(), monotonicMs: () => clock.monotonicMs() };
  const opening = { begin: system.begin ?? 'if_none', recovers: system.recovers !== false };
  const stored = await openSqliteStore({ file, ...clocks, ...opening });
  if (stored.kind === 'refused') {
    await upstreams.close();
    throw new GatewayError(stored.reason, stored.message);
  }
  const { store, role } = stored;
  const bound = await upstreams.bind();
  if ('problems' in bound) {
    await store.close();
    await upstreams.close();
    throw new GatewayError('bad_options', bound.problems.join('\n'));
  }
  const { workflows } = bound;
  return { limits, notify, recordWith, clock, file, upstreams, store, role, workflows, credentials, extensions };
}

type Closing = Pick<OpenedParts, 'upstreams' | 'credentials'> & { store: { close(): Promise<void> } };

async function closeParts({ store, upstreams, credentials }: Closing, guard: KeyGuard): Promise<void> {
  await store.close();
  await upstreams.close();
  credentials.port?.close();
  await guard.close();
}

type OpenedParts = Awaited<ReturnType<typeof openParts>>;

async function buildShell(
  options: AnyOptions,
  system: SystemParts,
  { limits, notify, recordWith, clock, file, upstreams, store, workflows, credentials, extensions }: OpenedParts,
  onHeldBack: (behindMs: number) => void,
): Promise<{ readonly shell: Shell; readonly guard: KeyGuard }> {
  const policy = options.policy ?? (() => null);
  const { port, hider } = credentials;
  const ladder = workflows.size === 0 ? baseLadder : workflowLadder;
  const guard = guardKeys(hideSecrets(upstreams.upstream, hider), {
    store: file,
    nowMs: () => clock.nowMs(),
    onMasked: (attempt, keys) => void recordMaskedKeys(attempt, keys, shell),
  });
  const own = ownOf(file, options.servers ?? [], process.env);
  const shell: Shell = createShell({
    ports: {
      store: readFromSuccessor(store, () => shell.live.successor?.ports.store ?? null),
      upstream: maskResults(hideOwn(guard.upstream, own), (agent) => policy()?.agents.get(agent) ?? null),
      validator: upstreams.validator,
      clock: steadyClock(clock, store.highestTimeMs, onHeldBack),
      ids: system.ids ?? nodeIds,
      notify,
      resolver: createResolver(system.dns),
      ...(port === null ? {} : { credentials: port }),
      sha256: (text) => crypto.hash('sha256', text, 'hex'),
    },
    limits,
    ladder: port === null ? ladder : withCredential(ladder),
    policy,
    catalogue: upstreams.catalogue,
    unlisted: () => upstreams.servers?.unlisted() ?? [],
    workflows,
    recovery: createRecovery(system.recovery),
    ...ruledBy(system.ticketRules),
    storeTag: await store.identity(),
  });
  const record = (notice: SuppressedNotice) => recordSuppressed(notice, shell);
  recordWith(record);
  extensions.tell(notify, record);
  return { shell, guard };
}
