/** A read that a tool declares as the evidence of its calls: the gateway makes it before the call is decided. Data. */
import type { Json } from '../values/json.ts';

export interface DeclaredRead {
  /** A tool that only reads. */
  readonly tool: string;
  /** Its arguments, from those of the call; null if they cannot be made. */
  readonly ask: (args: Json) => Json | null;
  /** Canonical text of what was declared. */
  readonly declared: string;
}

export const maxDeclaredReads = 8;
