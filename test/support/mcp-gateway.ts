/**
 * A real gateway on a real file behind an MCP door, put together from its parts; tools that are called directly answer
 * what the test says. When the test is over, everything is closed and the folder removed.
 */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openSqliteStore } from '../../src/adapters/store-sqlite/open-store.ts';
import { nodeClock } from '../../src/adapters/system-node/clock.ts';
import { systemResolver } from '../../src/adapters/shared/node-resolver.ts';
import { nodeIds } from '../../src/adapters/system-node/ids.ts';
import { failureOf } from '../../src/adapters/upstream-function/describe-throw.ts';
import { createFunctionUpstream } from '../../src/adapters/upstream-function/function-upstream.ts';
import type { MountedWorkflow } from '../../src/adapters/upstream-function/workflow/mount.ts';
import { createSeal } from '../../src/compose/state/seal.ts';
import { approvalsOf } from '../../src/compose/serve/open-mcp-door.ts';
import type { Catalogue, ToolEntry } from '../../src/core/call/catalogue.ts';
import { workflowLadder } from '../../src/core/call/decide.ts';
import type { JsonObject } from '../../src/core/values/json.ts';
import { defaultLimits, type Limits } from '../../src/core/limits.ts';
import { listedTools } from '../../src/core/policy/listed-tools.ts';
import type { Policy } from '../../src/core/policy/policy.ts';
import { toJsonGraph } from '../../src/core/workflow/draw/to-json-graph.ts';
import { toMermaid } from '../../src/core/workflow/draw/to-mermaid.ts';
import { createMcpDoor, type McpDoor } from '../../src/doors/mcp/mcp-door.ts';
import { toolNames } from '../../src/doors/mcp/model-names.ts';
import type { McpDoorLimits, McpDoorParts } from '../../src/doors/mcp/parts.ts';
import type { OperatorNotice } from '../../src/ports/notifier.ts';
import type { Attempt, Upstream } from '../../src/ports/upstream.ts';
import { completeSession } from '../../src/shell/completion/complete.ts';
import { handleCall, handleUnfit } from '../../src/shell/call/handle-call.ts';
import { reportGap } from '../../src/shell/upkeep/record-runtime.ts';
import { createShell, policyOf, type Shell } from '../../src/shell/shell.ts';
import { startSweeping } from '../../src/shell/upkeep/sweep.ts';
import { reportTask } from '../../src/shell/completion/tasks.ts';
import { createWorkflowService, type WorkflowService } from '../../src/shell/session/workflow-service.ts';

/** As a server lists it, with what it answers. */
export interface DirectTool extends ToolEntry {
  readonly run: (args: JsonObject) => unknown;
}

export interface DoorOptions {
  readonly workflow?: MountedWorkflow;
  /** Tools that are called directly, each with its body. */
  readonly tools?: readonly DirectTool[];
  readonly mode?: McpDoorParts['mode'];
  readonly limits?: Partial<Limits>;
  readonly doorLimits?: Partial<McpDoorLimits>;
  readonly agent?: string;
  /** Which rules decide; without, everything is permitted. */
  readonly policy?: Policy;
  /** Which actions are listed; all, if not given. */
  readonly isListed?: NonNullable<NonNullable<McpDoorParts['workflow']>['isListed']>;
}

export interface OpenedDoor {
  readonly door: McpDoor;
  readonly service: WorkflowService;
  readonly shell: Shell;
  readonly notices: readonly object[];
}

/** What closes things when a test is over; a child process has another one than node:test. */
export interface Closing {
  after(close: () => Promise<void>): void;
}

export async function openDoor(t: Closing, options: DoorOptions): Promise<OpenedDoor> {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-mcp-'));
  const opened = await openSqliteStore({ file: path.join(folder, 'recourse.db'), nowMs: () => nodeClock.nowMs() });
  if (opened.kind === 'refused') throw new Error(opened.message);
  const { store } = opened;
  const notices: object[] = [];
  const notify = (notice: OperatorNotice | Parameters<McpDoorParts['notify']>[0]) => void notices.push(notice);
  const { workflow, tools = [] } = options;
  const directly = (attempt: Attempt): Upstream | null => {
    const found = tools.find(({ invokes }) => invokes === attempt.tool);
    return found === undefined ? null : upstreamOf(found);
  };
  const limits = { ...defaultLimits, ...options.limits };
  const catalogue: Catalogue = new Map(tools.map((tool) => [tool.name, tool]));
  const functions = createFunctionUpstream(workflow?.bodies ?? [], { defaultTimeoutMs: limits.defaultTimeoutMs });
  const bound = workflow?.bind(catalogue, { timeoutMs: limits.defaultTimeoutMs });
  if (bound?.ok === false) throw new Error(bound.problems.join('\n'));
  const shell = createShell({
    ports: {
      store,
      upstream: { invoke: (attempt, signal) => (directly(attempt) ?? functions.upstream).invoke(attempt, signal) },
      validator: {
        validate: async (tool, args, step) =>
          step === null || workflow === undefined ? { ok: true, args } : workflow.validate(tool, args, step.context),
      },
      clock: nodeClock,
      ids: nodeIds,
      resolver: systemResolver,
      notify,
      sha256: (text) => crypto.hash('sha256', text, 'hex'),
    },
    limits,
    ladder: workflowLadder,
    catalogue: () => catalogue,
    workflows: new Map(bound === undefined ? [] : [[bound.workflow.name, bound.workflow]]),
    policy: () => options.policy ?? null,
    storeTag: await store.identity(),
  });
  const names = toolNames({ tools: catalogue.keys(), servers: [], bare: new Set(), only: null, taken: new Set() });
  const stopSweeping = startSweeping(shell, async () => undefined);
  shell.live.readiness = { ready: true };
  const service = createWorkflowService(shell);
  const door = createMcpDoor({
    name: 'recourse',
    version: '0.0.0',
    who: { tenant: 'default', agent: options.agent ?? 'tester' },
    mode: options.mode ?? 'step',
    workflow:
      workflow === undefined
        ? null
        : { service, name: workflow.name, actions: workflow.actions, isListed: options.isListed ?? (() => true) },
    tools:
      options.tools === undefined
        ? null
        : {
            names: () => names,
            catalogue: ({ agent }) => listedTools(catalogue, policyOf(agent, shell)),
            isDeclared: (tool) => catalogue.has(tool),
            call: (raw, who, from) => handleCall(raw, who, from, shell),
          },
    graph: {
      mermaid: ({ graph }, active) => toMermaid(graph, active),
      json: ({ graph }, active) => toJsonGraph(graph, active),
    },
    unfit: (errors, who, about) => handleUnfit(errors, who, shell, about),
    notify,
    approvals: approvalsOf(() => shell, createSeal(path.join(folder, 'recourse.db'), assert.fail)),
    completion: {
      isServed: ({ agent }) => (policyOf(agent, shell)?.agent ?? null) !== null,
      run: (raw, who) => completeSession(raw, who, shell),
    },
    reportTask: (callId, who) => reportTask(callId, who, shell),
    reportGap: (gap) => reportGap(gap, shell),
    ...(options.doorLimits === undefined ? {} : { limits: options.doorLimits }),
  });
  t.after(async () => {
    shell.live.readiness = { ready: false, doing: 'closing', retryAfterSeconds: 2 };
    for (const running of shell.live.running.values()) running.cancel('ToolCancelled');
    await Promise.allSettled(shell.live.unanswered);
    await stopSweeping();
    shell.live.closed = true;
    await store.close();
    await functions.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { door, service, shell, notices };
}

function upstreamOf({ run }: DirectTool): Upstream {
  return {
    async invoke({ args }, signal) {
      try {
        return { kind: 'returned', output: await run(args as JsonObject), errors: [] };
      } catch (error) {
        return { kind: 'failed', failure: failureOf(error, signal) };
      }
    },
  };
}
