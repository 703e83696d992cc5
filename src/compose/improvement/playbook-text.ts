/**
 * The canonical text of all that a project declares about failures, by which releases know it: the gateway's playbook
 * as it counts, and what servers and tools say beside it. Where it stands in the file, and in which order its keys
 * are, changes nothing.
 */
import type { WrittenRecovery } from '../../config/config.ts';
import { type DeclaredRecovery, joinRecovery } from '../../core/recovery/declared.ts';
import { recoveryText } from '../../core/recovery/playbook.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { Json } from '../../core/values/json.ts';
import type { RecoveryConfig } from '../upstreams/tool-recovery.ts';

export function playbookText({ playbook, servers }: RecoveryConfig): string {
  const below = servers
    .map(({ name, recovery, rules }) => ({
      name,
      says: saidBy(recovery),
      rules: rules.flatMap(({ match, recovery: own }) => (own === undefined ? [] : [{ match, says: saidBy(own) }])),
    }))
    .filter(({ says, rules }) => says !== null || rules.length > 0);
  return canonicalText({
    gateway: recoveryText(joinRecovery('', [playbook.declared])),
    servers: below.toSorted((one, other) => (one.name < other.name ? -1 : 1)) as unknown as Json,
  });
}

/** Null if nothing is declared. */
function saidBy(written: WrittenRecovery | undefined): Json {
  if (written === undefined) return null;
  const { playbook, retry, reconcile, quarantineMs, breaker }: DeclaredRecovery = written.declared;
  return {
    playbook: (playbook ?? null) as unknown as Json,
    retry: (retry ?? null) as unknown as Json,
    reconcile: reconcile?.declared ?? null,
    quarantine_ms: quarantineMs ?? null,
    breaker: breaker === undefined ? 'unsaid' : (breaker as unknown as Json),
  };
}
