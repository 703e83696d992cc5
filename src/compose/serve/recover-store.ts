/** Recovers the calls of an earlier owner when a gateway opens, before any other process may commit. */
import type { openSqliteStore } from '../../adapters/store-sqlite/open-store.ts';
import type { Notifier } from '../../ports/notifier.ts';
import { recover, settleForwarder } from '../../shell/upkeep/recover.ts';
import type { Shell } from '../../shell/shell.ts';

type OpenedStore = Extract<Awaited<ReturnType<typeof openSqliteStore>>, { store: unknown }>['store'];

/** `close`: on failure everything is closed, to free the file. */
export async function recoverStore(
  shell: Shell,
  store: OpenedStore,
  notify: Notifier,
  close: () => Promise<void>,
): Promise<void> {
  try {
    const recovered = await recover(shell);
    if (recovered.calls > 0) notify({ kind: 'recovered', ...recovered });
  } catch (error) {
    await close();
    throw error;
  }
  // INVARIANT: no other process commits before what an earlier owner left is on record.
  store.recovered();
  store.onForwarderGone((incarnation) => settleForwarder(incarnation, shell));
}
