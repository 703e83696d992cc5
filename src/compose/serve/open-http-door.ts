/** Connects the HTTP door to the gateway. Must not decide anything about a call. */
import type { Warning } from '../../config/problem.ts';
import { listedTools } from '../../core/policy/listed-tools.ts';
import { usableModels } from '../../core/model/choose-provider.ts';
import { listedIn } from '../../core/model/model-status.ts';
import { describeLadder } from '../../core/call/decide.ts';
import { operatorTenant } from '../../core/call/identity.ts';
import { safeText } from '../../core/values/redact.ts';
import { createHttpDoor, type HttpDoor } from '../../doors/http/http-door.ts';
import type {
  Applied,
  HttpDoorOptions,
  HttpDoorParts,
  StatusReport,
  UpstreamRecovery,
} from '../../doors/http/parts.ts';
import { createReversals } from '../../shell/reversal/reversal-service.ts';
import { createApprovals } from '../../shell/approval/approvals.ts';
import { createBudgets } from '../../shell/budget/budget-service.ts';
import { type CallCounts, countOpenTickets, countPending, createCallCounts } from '../../shell/look/counts.ts';
import { completeSession } from '../../shell/completion/complete.ts';
import { reportCredentials } from '../../shell/look/report-credentials.ts';
import { evaluateCall } from '../../shell/look/evaluate.ts';
import { handleCall, handleUnfit } from '../../shell/call/handle-call.ts';
import { cancel } from '../../shell/ending/cancel.ts';
import { openPlainSession } from '../../shell/session/find-session.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { policyHash, gapsOf } from '../../shell/upkeep/record-runtime.ts';
import { suppressedOf } from '../../shell/upkeep/record-suppressed.ts';
import { policyOf, type Shell } from '../../shell/shell.ts';
import { reportTask } from '../../shell/completion/tasks.ts';
import { showImprovements } from '../../shell/improvement/show-improvements.ts';
import { readChange } from '../improvement/read-change.ts';
import { createTickets } from '../../shell/ticket/ticket-service.ts';
import { createLooks } from '../../shell/look/looks.ts';
import { createTenantView } from '../../shell/look/tenant-view.ts';
import { createWorkflowService, type WorkflowService } from '../../shell/session/workflow-service.ts';
import type { Authenticate } from '../state/authenticate.ts';
import type { Governance } from './governance.ts';
import { createPolicyFile } from './policy/policy-file.ts';
import { driftFromLock, liveTools } from '../upstreams/list-servers.ts';
import { reportExtension } from '../extensions/report-extension.ts';
import type { LastingGateway } from './keep-open.ts';
import { summarizeServer } from '../upstreams/report-servers.ts';

export interface HttpDoorOrder {
  readonly version: string;
  readonly hosts: readonly string[];
  readonly startedAtMs: number;
  readonly nowMs: () => number;
  readonly authenticate: Authenticate;
  readonly admit?: HttpDoorParts['admit'];
  readonly console: HttpDoorParts['console'];
  /** Shared by all doors; its own if not given. */
  readonly counts?: CallCounts;
  /** Limits other than the defaults. */
  readonly options?: Partial<HttpDoorOptions>;
}

export function openHttpDoor(order: HttpDoorOrder, { current }: LastingGateway, governance: Governance): HttpDoor {
  const shell = () => current().shell;
  const { counts = createCallCounts() } = order;
  const uptimeSeconds = () => Math.floor((order.nowMs() - order.startedAtMs) / 1_000);
  const upstreams = () => current().upstreams.status();

  const parts: HttpDoorParts = {
    version: order.version,
    nowMs: order.nowMs,
    console: order.console,
    authenticate: order.authenticate,
    admit: order.admit,
    readiness: () => shell().live.readiness,
    canRecord: () => shell().live.storeTrouble === null,
    newCallId: () => shell().ports.ids.ordered('call_', shell().ports.clock.nowMs()),
    async call(raw, who, requester) {
      const reply = await handleCall(raw, who, requester, shell());
      counts.count(reply, who.tenant);
      return reply;
    },
    unfit: (errors, who) => handleUnfit(errors, who, shell()),
    evaluate: (raw, who) => evaluateCall(raw, who, shell()),
    cancel: (target, who) => cancel(target, who, shell()),
    openSession: (who, ceiling) => openPlainSession(who, ceiling, shell()),
    get workflows(): WorkflowService {
      const service = createWorkflowService(shell());
      return {
        ...service,
        async step(workflow, raw, who, requester) {
          const reply = await service.step(workflow, raw, who, requester);
          counts.count(reply, who.tenant);
          return reply;
        },
      };
    },
    get view() {
      return createTenantView(shell());
    },
    get looks() {
      return createLooks(shell());
    },
    get approvals() {
      return createApprovals(shell());
    },
    get reversals() {
      return createReversals(shell());
    },
    get tickets() {
      return createTickets(shell());
    },
    get budgets() {
      return createBudgets(shell());
    },
    get improvements() {
      return showImprovements(shell(), (change) => readChange(change, governance.project(), process.cwd()));
    },
    complete: (raw, who, by) => completeSession(raw, who, shell(), by),
    reportTask: (callId, who) => reportTask(callId, who, shell()),
    tools: (who) =>
      [...listedTools(shell().catalogue(), policyOf(who.agent, shell())).values()].map((entry) => ({
        name: entry.name,
        description: entry.description,
        effect: entry.effectClass,
        input_schema: entry.inputSchema,
      })),
    models: modelsOf(current),
    policy: () => governance.current()?.written ?? null,
    policyFile: createPolicyFile(governance, process.cwd()),
    applyPolicy: (by, force) => applyPolicy(governance, by.name, force, shell()),
    status: (tenant): StatusReport => {
      const { live, ladder } = shell();
      const policy = governance.current();
      return {
        ready: live.readiness.ready,
        in_flight: live.running.size,
        store: live.storeTrouble === null ? 'available' : 'unavailable',
        uptime_seconds: uptimeSeconds(),
        version: order.version,
        role: current().gateway.role,
        mode: policy?.written.mode ?? null,
        policy: policy === null ? null : policyHash(policy, shell()),
        agents: [...(policy?.agents.keys() ?? [])],
        warnings: tenant === operatorTenant ? governance.project().warnings.map(withoutSource) : [],
        forced:
          tenant === operatorTenant ? governance.forced().map(({ code: _code, ...each }) => withoutSource(each)) : [],
        drift:
          tenant === operatorTenant
            ? driftFromLock(governance.project().config.lock, liveTools(current().upstreams))
            : [],
        tools: shell().catalogue().size,
        workflows: [...shell().workflows.keys()],
        upstreams: upstreams().map((status) => tellTenant(summarizeServer(status), tenant)),
        extensions: tenant === operatorTenant ? current().gateway.extensions().map(reportExtension) : [],
        gates: describeLadder(ladder, policy !== null),
        gaps: gapsOf(tenant, shell()),
        credentials: reportCredentials(shell(), tenant === operatorTenant),
        models: current()
          .upstreams.models()
          .map((each) => tellTenant(each, tenant)),
        recovery: recoveryNow(shell()),
      };
    },
    metrics: async (tenant) => ({
      uptimeSeconds: uptimeSeconds(),
      ready: shell().live.readiness.ready,
      storeAvailable: shell().live.storeTrouble === null,
      inFlight: [...shell().live.running.values()].filter(({ call }) => call.tenant === tenant).length,
      calls: counts.of(tenant),
      gaps: gapsOf(tenant, shell()),
      suppressed: suppressedOf(tenant, shell()),
      approvalsPending: await countPending(tenant, shell()),
      ticketsOpen: await countOpenTickets(tenant, shell()),
      upstreams: upstreams().map(({ name, state }) => ({ name, state })),
      recovery: recoveryNow(shell()),
    }),
    notify: (notice) => shell().ports.notify(notice),
  };
  return createHttpDoor(parts, { allowedHosts: order.hosts, allowedOrigins: order.hosts, ...order.options });
}

async function applyPolicy(governance: Governance, by: string, force: boolean, shell: Shell): Promise<Applied> {
  const applied = await governance.apply(by, force);
  if (!applied.ok) return applied;
  const { policy, changed, changes } = applied;
  const hash = policy === null ? null : policyHash(policy, shell);
  const agents = [...(policy?.agents.keys() ?? [])];
  const forced = governance.forced().map(({ file, line, message }) => `${file}:${line} ${message}`);
  const about = { changed, policy: hash, agents, changes: changes as unknown as JsonObject[], forced };
  return { ok: true, about };
}

/** Providers of models, and what an agent may ask of them. */
function modelsOf(current: LastingGateway['current']): HttpDoorParts['models'] {
  return {
    providers: () => current().upstreams.providers,
    usable(who) {
      const { shell, upstreams } = current();
      const policy = policyOf(who.agent, shell);
      const permits = (model: string) => policy?.mode === 'audit' || (policy?.agent?.permitsModel(model) ?? true);
      const said = new Map(upstreams.models().map((status) => [status.name, listedIn(status)]));
      return usableModels(upstreams.providers, said, listedTools(shell.catalogue(), policy), permits);
    },
  };
}

const recoveryNow = ({ live }: Shell): readonly UpstreamRecovery[] =>
  [...live.health].map(([upstream, { breaker, retries, tokens }]) => ({
    upstream,
    breaker: breaker.kind,
    retries,
    tokens,
  }));

const maxProblemChars = 1_000;

/** INVARIANT: no line of a file leaves the machine: somebody may have written a secret into it. */
const withoutSource = ({ text: _text, ...warning }: Warning): Omit<Warning, 'text'> => warning;

/** The problem of a server may name files and addresses, which only operators may see. */
function tellTenant<Told extends { readonly problem: string | null }>(told: Told, tenant: string): Told {
  const { problem } = told;
  const isOperator = tenant === operatorTenant;
  return { ...told, problem: problem === null || !isOperator ? null : safeText(problem, maxProblemChars) };
}
