/** Finds the texts of the playbooks that decided about the failures of a call, as far as the store keeps them. */
import type { Playbooks } from '../../core/recovery/replay.ts';
import { isObject } from '../../core/values/json.ts';

interface Decided {
  readonly kind: string;
  readonly body: string;
}

export async function playbooksIn(
  records: readonly Decided[],
  blob: (hash: string) => Promise<string | null>,
): Promise<Playbooks> {
  const playbooks = new Map<string, string>();
  for (const { kind, body } of records) {
    const hash = kind === 'compensation_selected' ? hashIn(body) : null;
    const text = hash === null || playbooks.has(hash) ? null : await blob(hash);
    if (hash !== null && text !== null) playbooks.set(hash, text);
  }
  return playbooks;
}

function hashIn(body: string): string | null {
  try {
    const said: unknown = JSON.parse(body);
    const hash = isObject(said) ? said['playbook'] : null;
    return typeof hash === 'string' ? hash : null;
  } catch {
    // A damaged journal must be readable too.
    return null;
  }
}
