/**
 * Keeps a gateway open for as long as a process serves. A process that forwards its writes checks every second whether
 * the owner of the store is alive, and opens the gateway again when it is gone. Must not print.
 */
import { takeLock } from '../../adapters/store-sqlite/share/lock.ts';
import { placeOfStore } from '../../adapters/store-sqlite/share/place.ts';
import type { Shell } from '../../shell/shell.ts';
import type { WorkflowService } from '../../shell/session/workflow-service.ts';
import type { ExtensionState } from '../extensions/start-extensions.ts';
import type { Joined } from '../upstreams/join-upstreams.ts';

/** What the composition root opens. */
export interface OpenedGateway {
  readonly gateway: {
    readonly role: 'owner' | 'forwarder';
    extensions(): readonly ExtensionState[];
    close(options?: { readonly drain_seconds?: number }): Promise<void>;
  };
  readonly shell: Shell;
  readonly service: WorkflowService;
  readonly upstreams: Joined;
}

export interface LastingGateway {
  /** Changes when the owner of the store is gone: ask each time. */
  current(): OpenedGateway;
  close(options?: { readonly drain_seconds?: number }): Promise<void>;
}

export interface LastingParts {
  /** `again`: opened after the owner of the store is gone. Then the store must exist. */
  readonly open: (again: boolean) => Promise<OpenedGateway>;
  readonly file: string;
  readonly onSuccession: (role: 'owner' | 'forwarder') => void;
  /** Opening it again failed and will be retried. */
  readonly onFailure: (problem: string) => void;
}

const lookEveryMs = 1_000;

export async function keepOpen({ open, file, onSuccession, onFailure }: LastingParts): Promise<LastingGateway> {
  let current = await open(false);
  const leaving = new Set<Promise<void>>();
  let closing = false;
  let looking: Promise<void> = Promise.resolve();
  let failed = '';
  let closed: Promise<void> | null = null;

  /** Running calls end in the old gateway, which finds the new owner by itself. */
  const succeed = async () => {
    const next = await open(true);
    if (closing) return next.gateway.close({ drain_seconds: 0 });
    const last = current;
    current = next;
    // INVARIANT: a caller that waits in the old gateway never reads from a closed store.
    last.shell.live.successor = next.shell;
    // INVARIANT: a requester that leaves the old gateway is known to the new one.
    next.shell.live.askers = last.shell.live.askers;
    const left = last.gateway.close().catch((error: unknown) => onFailure(String(error)));
    leaving.add(left);
    void left.finally(() => leaving.delete(left));
    onSuccession(next.gateway.role);
  };
  const look = async () => {
    try {
      if (await isOwnerGone(file)) await succeed();
      failed = '';
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (problem !== failed) onFailure(problem);
      failed = problem;
    }
  };
  const close: LastingGateway['close'] = async (options) => {
    closing = true;
    clearInterval(timer);
    await Promise.all([current.gateway.close(options), looking]);
    await Promise.all(leaving);
  };
  const timer = setInterval(() => {
    if (current.gateway.role === 'owner' || closing) return;
    looking = looking.then(() => (current.gateway.role === 'owner' || closing ? undefined : look()));
  }, lookEveryMs);
  timer.unref();
  return {
    current: () => current,
    close: (options) => (closed ??= close(options)),
  };
}

/** Taking the lock for a moment proves that nobody else holds it. */
async function isOwnerGone(file: string): Promise<boolean> {
  const place = placeOfStore(file);
  if (place === null) return false;
  const lock = await takeLock(place.lock);
  if (lock.kind === 'held') lock.free();
  return lock.kind === 'held';
}
