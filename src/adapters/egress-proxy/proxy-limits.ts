/** Limits of the egress proxy. */
export interface ProxyLimits {
  /** At once, of all children together. */
  readonly maxConnections: number;
  /** To hosts at once, of one child. */
  readonly maxConnectionsEach: number;
  readonly maxHeaderBytes: number;
  /** How long a child may take to send the head of a request. */
  readonly headTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** A connection on which nothing is said for this long is closed. */
  readonly idleMs: number;
}

export const defaultProxyLimits: ProxyLimits = {
  maxConnections: 512,
  maxConnectionsEach: 128,
  maxHeaderBytes: 16 << 10,
  headTimeoutMs: 10_000,
  connectTimeoutMs: 10_000,
  idleMs: 300_000,
};
