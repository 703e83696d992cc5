/** Tells an operator, and puts on record, that the clock went back and was held at the highest time seen. */
import { canonicalText } from '../../core/values/canonical.ts';
import { commit } from './commit.ts';
import type { Shell } from '../shell.ts';
import { bare } from '../ending/transition.ts';

/** `heldBack` is how far the clock was behind, each time; emptied here. */
export async function recordHeldClock(heldBack: number[], shell: Shell): Promise<void> {
  for (const behindMs of heldBack.splice(0)) {
    shell.ports.notify({ kind: 'clock_held', behindMs });
    const body = canonicalText({ behind_ms: Math.round(behindMs) });
    await commit(
      { ...bare(shell), records: [{ kind: 'clock_held', call: null, session: null, body, payloads: [] }] },
      shell,
    );
  }
}
