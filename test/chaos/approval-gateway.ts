/** A gateway with the deferring rules of approval-world.ts, and the acts at which its process can be told to die. */
import type { Transition } from '../../src/ports/store.ts';
import { openGateway } from '../../src/main.ts';
import type { OperatorNotice } from '../../src/index.ts';
import { createApprovals } from '../../src/shell/approval/approvals.ts';
import { agent, approvalPolicy, approvalTools } from './approval-world.ts';

/** What is made durable or sent while a call is held, decided and run; what most depends on first. */
export const acts = ['use', 'grant', 'send', 'outcome', 'hold', 'vote', 'deny', 'revoke', 'expire'] as const;
export type Act = (typeof acts)[number];

export interface Death {
  readonly act: Act;
  readonly moment: 'before' | 'after';
  /** The how many-th of its kind. */
  readonly nth: number;
}

export function actOf({ approvals, call }: Transition): Act | null {
  const [write] = approvals;
  if (write === undefined) return call?.kind === 'update' && call.expect.state === 'DISPATCHED' ? 'outcome' : null;
  if (write.expect === null) return 'hold';
  switch (write.approval.state) {
    case 'pending':
      return 'vote';
    case 'granted':
      return 'grant';
    case 'denied':
      return 'deny';
    case 'revoked':
      return 'revoke';
    case 'expired':
      return 'expire';
    case 'used':
      return 'use';
    default:
      return null;
  }
}

/** As `kill -9` would: no handler runs, nothing is flushed, every thread is gone. */
const die = (): void => void process.kill(process.pid, 'SIGKILL');

/** Called at each act; the one that was chosen is the last thing this process does. */
function mortal(death: Death | null): (act: Act | null, moment: Death['moment']) => boolean {
  let seen = 0;
  return (act, moment) => {
    if (act === null || act !== death?.act || moment !== death.moment || ++seen !== death.nth) return false;
    die();
    return true;
  };
}

const never = new Promise<never>(() => undefined);

export async function openApprovalGateway(
  file: string,
  ledger: string,
  onNotice: (notice: OperatorNotice) => void,
  death: Death | null = null,
) {
  const dies = mortal(death);
  const policy = approvalPolicy();
  const tools = approvalTools(ledger, (moment) => void dies('send', moment));
  const { gateway, shell } = await openGateway({
    file,
    tools,
    agent,
    policy: () => policy,
    // An owner that is gone is not waited for: the next one is started by the test.
    limits: { sweepEveryMs: 20, maxPendingApprovals: 10_000, storeRetryMs: [20, 50, 100] },
    onNotice,
  });
  const { store } = shell.ports;
  const commit = store.commit.bind(store);
  // The real store, with a place to die on either side of every commit.
  store.commit = async (transitions) => {
    const acting = transitions.map(actOf);
    for (const act of acting) if (dies(act, 'before')) return never;
    const results = await commit(transitions);
    for (const [at, act] of acting.entries()) if (results[at]?.kind === 'committed' && dies(act, 'after')) return never;
    return results;
  };
  return { gateway, shell, approvals: createApprovals(shell) };
}

export type ApprovalGateway = Awaited<ReturnType<typeof openApprovalGateway>>;
