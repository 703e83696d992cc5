/**
 * A gateway for workflows on the memory store: the real core, shell, upstream and door, without a file to open and to
 * sync.
 */
import { createHash } from 'node:crypto';
import { nodeClock } from '../../src/adapters/system-node/clock.ts';
import { nodeIds } from '../../src/adapters/system-node/ids.ts';
import { systemResolver } from '../../src/adapters/shared/node-resolver.ts';
import { joinUpstreams } from '../../src/compose/upstreams/join-upstreams.ts';
import { workflowLadder } from '../../src/core/call/decide.ts';
import { defaultLimits } from '../../src/core/limits.ts';
import { createWorkflowDoor } from '../../src/doors/library/workflow-door.ts';
import type { MountedWorkflow } from '../../src/index.ts';
import { createShell } from '../../src/shell/shell.ts';
import { createWorkflowService } from '../../src/shell/session/workflow-service.ts';
import { createMemoryState } from '../simulation/memory-state.ts';
import { openMemoryStore } from '../simulation/memory-store.ts';
import { createRandom } from '../simulation/random.ts';

const who = { tenant: 'default', agent: 'local' };

export async function openInMemory(workflow: MountedWorkflow) {
  const upstreams = await joinUpstreams({ workflows: [workflow] }, defaultLimits, () => undefined);
  const bound = await upstreams.bind();
  if ('problems' in bound) throw new Error(bound.problems.join('\n'));
  const shell = createShell({
    ports: {
      store: openMemoryStore(createMemoryState(createRandom(1, 'store')), nodeClock.nowMs()),
      upstream: upstreams.upstream,
      validator: upstreams.validator,
      clock: nodeClock,
      ids: nodeIds,
      notify: (notice) => {
        throw new Error(`unexpected notice: ${JSON.stringify(notice)}`);
      },
      resolver: systemResolver,
      sha256: (text) => createHash('sha256').update(text).digest('hex'),
    },
    limits: defaultLimits,
    ladder: workflowLadder,
    catalogue: upstreams.catalogue,
    workflows: bound.workflows,
    policy: () => null,
    storeTag: '5eed5eed',
  });
  shell.live.readiness = { ready: true };
  const door = createWorkflowDoor(createWorkflowService(shell), shell, who);
  return { ...door, close: () => upstreams.close() };
}
