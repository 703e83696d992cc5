/** What answering a request needs: the gateway behind the door and the connection of the client. */
import type { Connection } from './connection.ts';
import type { ParkedCalls } from './call/parked-calls.ts';
import type { McpDoorLimits, McpDoorParts } from './parts.ts';
import type { SealedStates } from './call/sealed-states.ts';

export interface Serving {
  readonly parts: McpDoorParts;
  /** Workflows that are served beside the tools, each with its own parts. */
  readonly workflows: readonly McpDoorParts[];
  readonly limits: McpDoorLimits;
  readonly parked: ParkedCalls;
  /** Null where there are no approvals. */
  readonly states: SealedStates | null;
  /** Aborted when the door closes: nobody waits for a person any longer. */
  readonly closing: AbortSignal;
  readonly connection: Connection;
}
