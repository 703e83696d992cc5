/**
 * Connects the MCP door to the gateway: for one workflow, for all tools, or for the tools of one server. Must not
 * decide anything about a call.
 */
import type { MountedWorkflow } from '../../adapters/upstream-function/workflow/mount.ts';
import type { Principal } from '../../core/call/call.ts';
import { toJsonGraph } from '../../core/workflow/draw/to-json-graph.ts';
import { toMermaid } from '../../core/workflow/draw/to-mermaid.ts';
import { isListed, listedTools } from '../../core/policy/listed-tools.ts';
import { takenNames } from '../../doors/mcp/door-names.ts';
import { createMcpDoor, type McpDoor } from '../../doors/mcp/mcp-door.ts';
import type { McpDoorParts, DoorApprovals, DoorReversals } from '../../doors/mcp/parts.ts';
import type { Reply } from '../../core/call/reply.ts';
import { completeSession } from '../../shell/completion/complete.ts';
import { handleUnfit } from '../../shell/call/handle-call.ts';
import { reportGap } from '../../shell/upkeep/record-runtime.ts';
import { reportTask } from '../../shell/completion/tasks.ts';
import { createWorkflowService, type WorkflowService } from '../../shell/session/workflow-service.ts';
import { scopedShell, type ServedPart, servedTools } from './served-tools.ts';
import type { LastingGateway } from './keep-open.ts';
import { type ApprovalId, stateAt } from '../../core/approval/approval.ts';
import type { AgentPolicy } from '../../core/policy/policy.ts';
import { createReversals } from '../../shell/reversal/reversal-service.ts';
import { createApprovals } from '../../shell/approval/approvals.ts';
import { ticketsOf } from '../tickets/door-tickets.ts';
import { policyOf, type Shell } from '../../shell/shell.ts';
import { consumeQuestion } from '../../shell/approval/approval-service.ts';
import type { Seal } from '../state/seal.ts';

/** Asked only once it is open. */
type Behind = Pick<LastingGateway, 'current'>;
export type Mounted = Pick<MountedWorkflow, 'name' | 'actions'>;

export interface Served {
  readonly version: string;
  readonly who: Principal;
  /** The workflow; null for tools. */
  readonly workflow: Mounted | null;
  /** The server whose tools alone are served; null for every tool. */
  readonly server: string | null;
  /** How a workflow is listed: one tool for all actions, or one for each. */
  readonly mode: 'step' | 'tools';
  /** Signs the states that clients give back. */
  readonly seal: Seal;
  /** Called with the reply of every call. */
  readonly onReply?: (reply: Reply, who: Principal) => void;
}

export function openMcpDoor(served: Served, gateway: Behind): McpDoor {
  return createMcpDoor(doorParts(served, gateway));
}

/** All tools, and each workflow under its own name, for a client with one connection. */
export function openJointDoor(
  served: Omit<Served, 'workflow' | 'server'>,
  mounted: readonly Mounted[],
  gateway: Behind,
): McpDoor {
  const workflows = mounted.map((workflow) => {
    const parts = doorParts({ ...served, workflow, server: null }, gateway);
    return parts.workflow === null ? parts : { ...parts, workflow: { ...parts.workflow, isBeside: true } };
  });
  const taken = () => workflows.flatMap(takenNames);
  return createMcpDoor(doorParts({ ...served, workflow: null, server: null }, gateway, taken), workflows);
}

function doorParts(served: Served, { current }: Behind, taken: ServedPart['taken'] = () => []): McpDoorParts {
  const { version, who, workflow, server, mode, seal, onReply } = served;
  const shell = () => current().shell;
  const heard = async (caller: Principal, call: Promise<Reply>): Promise<Reply> => {
    const reply = await call;
    onReply?.(reply, caller);
    return reply;
  };
  return {
    name: ['recourse', workflow?.name ?? server].filter((part) => part !== null).join('-'),
    version,
    who,
    mode: mode === 'tools' ? 'tool_per_action' : 'step',
    workflow:
      workflow === null
        ? null
        : {
            service: following(() => serviceFor(shell(), workflow.name), heard),
            name: workflow.name,
            actions: workflow.actions,
            isListed: (action, caller) => isListed(action, policyOf(caller.agent, shell())),
          },
    tools: workflow === null ? servedTools(current, { only: server, taken }, heard) : null,
    graph: {
      mermaid: ({ graph }, active) => toMermaid(graph, active),
      json: ({ graph }, active) => toJsonGraph(graph, active),
    },
    unfit: (errors, caller, about) => handleUnfit(errors, caller, scopedShell(shell(), server), about),
    notify: (notice) => shell().ports.notify(notice),
    approvals: approvalsOf(shell, seal),
    tickets: ticketsOf(shell),
    reversals: reversalsOf(shell),
    completion: {
      isServed: ({ agent }) => (policyOf(agent, shell())?.agent ?? null) !== null,
      run: (raw, caller) => completeSession(raw, caller, shell()),
    },
    reportTask: (callId, caller) => reportTask(callId, caller, shell()),
    reportGap: (gap) => reportGap(gap, shell()),
  };
}

const services = new WeakMap<Shell, Map<string, WorkflowService>>();

/** A door of one workflow sees no sessions of other workflows, and none of direct tool calls. */
function serviceFor(shell: Shell, workflow: string): WorkflowService {
  const known = services.get(shell) ?? new Map<string, WorkflowService>();
  services.set(shell, known);
  const service = known.get(workflow) ?? createWorkflowService(shell, workflow);
  known.set(workflow, service);
  return service;
}

/** The service of the current gateway. */
function following(
  service: () => WorkflowService,
  heard: (caller: Principal, call: Promise<Reply>) => Promise<Reply>,
): WorkflowService {
  return {
    get workflows() {
      return service().workflows;
    },
    open: (...asked) => service().open(...asked),
    step: (name, raw, caller, from) => heard(caller, service().step(name, raw, caller, from)),
    reset: (...asked) => service().reset(...asked),
    fork: (...asked) => service().fork(...asked),
    accept: (...asked) => service().accept(...asked),
    look: (...asked) => service().look(...asked),
    history: (...asked) => service().history(...asked),
  };
}

function reversalsOf(shell: () => Shell): DoorReversals {
  return {
    isServed: ({ agent }) => {
      const { catalogue, workflows } = shell();
      const policy = policyOf(agent, shell());
      const actions = [...workflows.values()].flatMap(({ actions: each }) => [...each.values()]);
      const listed = [
        ...listedTools(catalogue(), policy).values(),
        ...actions.filter((each) => isListed(each, policy)),
      ];
      return listed.some(({ reverse }) => reverse !== undefined);
    },
    redeem: (token, who, requester) => createReversals(shell()).redeem(token, who, { requester, waitMs: null }),
  };
}

export function approvalsOf(shell: () => Shell, seal: Seal): DoorApprovals {
  const service = () => createApprovals(shell());
  const nowMs = () => shell().ports.clock.nowMs();
  return {
    isServed: ({ agent }) => mayBeDeferred(policyOf(agent, shell())?.agent ?? null),
    read: (...asked) => service().read(...asked),
    wait: (...asked) => service().wait(...asked),
    approve: (...said) => service().approve(...said),
    deny: (...said) => service().deny(...said),
    mayClientDecide: (...asked) => service().mayClientDecide(...asked),
    async binding(id, { tenant, agent }) {
      const { store, sha256 } = shell().ports;
      const found = await store.approval(id as ApprovalId);
      const policy = policyOf(agent, shell())?.agent ?? null;
      if (found === null || policy === null || found.tenant !== tenant || found.agent !== agent) return null;
      if (stateAt(found, nowMs()) !== 'pending') return null;
      const { version, expiresAtMs, session } = found;
      return { version, rules: sha256(policy.canonical), expiresAtMs, session };
    },
    spend: (id, who, version) => consumeQuestion(id, who, version, shell()),
    seal,
    get waitMs() {
      return shell().limits.approvalWaitMs;
    },
    get maxWaitMs() {
      return shell().limits.maxApprovalWaitMs;
    },
    nowMs,
  };
}

function mayBeDeferred(policy: AgentPolicy | null): boolean {
  if (policy === null) return false;
  const { rules, default: last } = policy.written;
  return last?.effect === 'defer' || rules.some(({ effect }) => effect === 'defer');
}
