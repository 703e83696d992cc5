/**
 * Could a call be recorded now? Looked at every second, without a caller: what is known against it is what /readyz tells. Once a commit
 * has failed and nothing is known any more, a commit that changes nothing finds out whether the store is back.
 */
import { storeFailed, storeIsBack } from './commit.ts';
import type { Shell } from '../shell.ts';
import { bare } from '../ending/transition.ts';

/** Returns how to stop it. */
export function watchStore(shell: Shell): () => void {
  let stopped = false;
  let takeBack = (): void => undefined;
  const next = () => {
    if (!stopped) takeBack = shell.ports.clock.background(shell.limits.sweepEveryMs, () => void look());
  };
  const look = async (): Promise<void> => {
    try {
      await lookAtStore(shell);
    } catch (error) {
      shell.ports.notify({ kind: 'suppressed', what: 'a look at the store', reason: String(error) });
    }
    next();
  };
  next();
  return () => {
    stopped = true;
    takeBack();
  };
}

export async function lookAtStore(shell: Shell): Promise<void> {
  const { live, ports } = shell;
  const trouble = await ports.store.trouble();
  if (live.closed || live.successor !== null) return;
  if (trouble !== null) return storeFailed(trouble, shell);
  if (live.storeTrouble === null) return;
  const [answer] = await ports.store.commit([bare(shell)]);
  if (answer?.kind === 'committed') storeIsBack(shell);
  else if (answer?.kind === 'unavailable') storeFailed(answer, shell);
}
