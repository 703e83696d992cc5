/** What the primer and tests put in place of the system, and how a store is begun. Types only. */
import type { Begin } from '../../adapters/store-sqlite/file/head-file.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Behind } from '../upstreams/join-upstreams.ts';
import type { TicketRules } from '../../core/ticket/terms.ts';
import type { RecoveryConfig } from '../upstreams/tool-recovery.ts';

/** For the primer and for tests that must not depend on the time of day. */
export interface SystemParts extends Pick<Behind, 'onServer' | 'onTools' | 'dns'> {
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** False for a process that only reads or settles. */
  readonly recovers?: boolean;
  /** Whether a store may be created. */
  readonly begin?: Begin;
  readonly recovery?: RecoveryConfig | undefined;
  readonly ticketRules?: TicketRules | undefined;
}
