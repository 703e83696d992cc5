/** Every limit of the HTTP client that adapters share, with its default. */
export interface ClientLimits {
  /** Opening a connection, TLS included. */
  readonly connectTimeoutMs: number;
  /** From the request to the head of the answer; the shell usually gives up earlier. */
  readonly headersTimeoutMs: number;
  /** Between two pieces of an answer, while its reader is ready for more. */
  readonly bodyTimeoutMs: number;
  /** An answer beyond this is refused, and its connection closed. */
  readonly maxResponseBytes: number;
  /** The same for an answer that is handed over: it is nowhere collected. */
  readonly maxStreamBytes: number;
  readonly maxHeaderBytes: number;
  /** Heads of status 1xx before the answer. */
  readonly maxEarlyHeads: number;
  /** Connections to one origin; further requests wait for one of them. */
  readonly maxConnections: number;
  /** How long an idle connection is kept, unless the server announces less. */
  readonly keepAliveMs: number;
  /** Characters of what the system says of a fault. */
  readonly maxCauseChars: number;
}

export const defaultClientLimits: ClientLimits = {
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 15 * 60_000,
  bodyTimeoutMs: 60_000,
  maxResponseBytes: 4 << 20,
  maxStreamBytes: 256 << 20,
  maxHeaderBytes: 16 << 10,
  maxEarlyHeads: 16,
  maxConnections: 128,
  keepAliveMs: 30_000,
  maxCauseChars: 4_000,
};
