/** What answering a request needs: the gateway behind the door, and the client in front of it. */
import type { Connection } from './connection.ts';
import type { ParkedCalls } from './parked-calls.ts';
import type { McpDoorLimits, McpDoorParts } from './parts.ts';

export interface Serving {
  readonly parts: McpDoorParts;
  readonly limits: McpDoorLimits;
  readonly parked: ParkedCalls;
  readonly connection: Connection;
}
