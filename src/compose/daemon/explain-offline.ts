/**
 * Explains what would be decided about a call, without a gateway: from the configuration and the lock, with the same
 * gates, for a new session. Starts nothing and records nothing.
 */
import crypto from 'node:crypto';
import { nodeIds } from '../../adapters/system-node/ids.ts';
import { createResolver } from '../../adapters/shared/node-resolver.ts';
import { nodeClock } from '../../adapters/system-node/clock.ts';
import type { Catalogue } from '../../core/call/catalogue.ts';
import { baseLadder, workflowLadder } from '../../core/call/decide.ts';
import { defaultLimits } from '../../core/limits.ts';
import type { OfflineExplained, OfflineOrder } from '../../doors/cli/commands/explain.ts';
import type { Store } from '../../ports/store.ts';
import { evaluateCall } from '../../shell/look/evaluate.ts';
import { createShell } from '../../shell/shell.ts';
import { pinnedTools, unpinned } from '../project/known-catalogue.ts';
import { loadProject, type Project } from '../project/load-project.ts';

const tenant = 'default';
/** The agent if no agents are declared. */
const anybody = 'local';

export async function explainOffline({
  config,
  tool,
  args,
  agent,
  model,
  nowMs,
}: OfflineOrder): Promise<OfflineExplained> {
  const loaded = await loadProject({ cwd: process.cwd(), ...(config === undefined ? {} : { file: config }) });
  if (!loaded.ok) return { kind: 'problems', problems: loaded.problems };
  const { project } = loaded;
  const names = [...(project.policy?.agents.keys() ?? [])];
  const meant = agent ?? (names.length === 1 ? names[0] : project.policy === null ? anybody : undefined);
  if (meant === undefined) return { kind: 'which_agent', agents: names };
  const { catalogue, remarks } = catalogueOf(project, tool);
  const shell = createShell({
    ports: {
      store: nothingKept as Store,
      upstream: { invoke: () => Promise.reject(new Error('bug: nothing runs offline')) },
      validator: { validate: () => Promise.reject(new Error('bug: nobody validates offline')) },
      clock: { ...nodeClock, nowMs: () => nowMs ?? nodeClock.nowMs() },
      ids: nodeIds,
      notify: () => undefined,
      resolver: createResolver(project.config.runtime.dns),
      sha256: (text) => crypto.hash('sha256', text, 'hex'),
    },
    limits: { ...defaultLimits, ...project.config.runtime.limits },
    ladder: project.workflows.length === 0 ? baseLadder : workflowLadder,
    policy: () => project.policy,
    catalogue: () => catalogue,
    workflows: new Map(),
    storeTag: 'offline',
  });
  shell.live.readiness = { ready: true };
  const raw = { tool, args, ...(model === undefined ? {} : { model }) };
  const answer = await evaluateCall(raw, { tenant, agent: meant }, shell);
  return 'error' in answer
    ? { kind: 'refused', message: answer.message }
    : { kind: 'explained', explanation: answer, remarks };
}

type Asked =
  | 'standingSession'
  | 'session'
  | 'call'
  | 'approval'
  | 'approvalOf'
  | 'pendingApprovals'
  | 'bucket'
  | 'account'
  | 'ticketFences'
  | 'continuing';

/** What the gates read from a store. There is none, so nothing has happened before this call. */
const nothingKept: Pick<Store, Asked> = {
  standingSession: async () => null,
  session: async () => null,
  call: async () => null,
  approval: async () => null,
  approvalOf: async () => null,
  ticketFences: async () => [],
  continuing: async () => null,
  pendingApprovals: async () => 0,
  bucket: async () => null,
  account: async () => ({ held: 0, settled: 0, allowed: 0, approval: null }),
};

/** The pinned tools. For a server that is not pinned, the tool in question is assumed to exist, with any arguments. */
function catalogueOf({ config, workflows }: Project, asked: string) {
  const pinned = pinnedTools(config);
  const [name = ''] = asked.split('/');
  const remarks: string[] = [];
  const isServer = config.tools.some((server) => server.name === name);
  const isTrusted = isServer && config.lock?.servers.has(name) !== true;
  if (isTrusted)
    remarks.push(
      `the tools of '${name}' are not pinned: that '${asked}' exists, and its arguments, are taken on trust; run recourse pin`,
    );
  if (workflows.some((workflow) => workflow.name === name))
    remarks.push(
      `'${name}' is a workflow: whether a step is legal depends on its session; ask a gateway with --session`,
    );
  const catalogue: Catalogue = isTrusted ? new Map([...pinned, [asked, unpinned(asked, config.tools)]]) : pinned;
  return { catalogue, remarks };
}
