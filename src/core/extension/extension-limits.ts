/** Every limit of extensions, by name, with its default. Their code is trusted with the process, not with its time. */
export interface ExtensionLimits {
  /** How long the module of an extension may load. */
  readonly importTimeoutMs: number;
  /** Of an extension that does not say; no extension may say more than `maxTimeoutMs`. */
  readonly startTimeoutMs: number;
  readonly stopTimeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly maxExtensions: number;
  /** Extensions that one needs, and kinds that it adds of one sort. */
  readonly maxNames: number;
  /** Tools of one upstream. */
  readonly maxTools: number;
  /** Of an answer to a request of an extension, unless the request says less. */
  readonly maxAnswerBytes: number;
  readonly requestTimeoutMs: number;
  /** What extensions suppress before the gateway is open; the oldest is forgotten first. */
  readonly maxEarlyNotices: number;
}

export const extensionLimits: ExtensionLimits = {
  importTimeoutMs: 15_000,
  startTimeoutMs: 10_000,
  stopTimeoutMs: 5_000,
  maxTimeoutMs: 600_000,
  maxExtensions: 100,
  maxNames: 100,
  maxTools: 1_000,
  maxAnswerBytes: 4 << 20,
  requestTimeoutMs: 30_000,
  maxEarlyNotices: 100,
};
