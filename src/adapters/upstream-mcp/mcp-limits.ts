/**
 * Every limit of this adapter, by name, with its default. Servers are not trusted: all that they send is bounded
 * here.
 */
export interface McpLimits {
  /** From the start of a server to the end of its handshake. */
  readonly connectTimeoutMs: number;
  /** The same for a child until it was connected once: its program may have to be installed first. */
  readonly firstConnectTimeoutMs: number;
  /** For all pages of a server's tools together. */
  readonly listTimeoutMs: number;
  /**
   * A call that finds its server away waits this long at most, or half its tool's timeout if that is less, counted from
   * when it was handed over, and is then not sent.
   */
  readonly maxSendDelayMs: number;
  /** Added to a tool's own timeout: the shell ends the wait, this only keeps a forgotten one from lasting for ever. */
  readonly answerGraceMs: number;
  /**
   * How long the answer to a write is listened for after nobody waits for it, and how many such answers of one
   * connection.
   */
  readonly lateAnswerMs: number;
  readonly maxLateAnswers: number;
  readonly backoffInitialMs: number;
  readonly backoffMaxMs: number;
  /** A connection that held this long begins again with the first backoff. */
  readonly healthyAfterMs: number;
  /** A larger message ends its child, or its HTTP answer. */
  readonly maxMessageBytes: number;
  /** What a child has not read yet; beyond this nothing more is sent to it. */
  readonly maxQueuedBytes: number;
  /** Messages that nobody asked for: beyond the burst a server is read no faster than this. */
  readonly floodBurst: number;
  readonly floodPerSecond: number;
  readonly stderrBytesBurst: number;
  readonly stderrBytesPerSecond: number;
  readonly maxStderrLines: number;
  readonly maxStderrLineChars: number;
  /** Between closing a child's input and SIGTERM, and between that and SIGKILL. */
  readonly inputGraceMs: number;
  readonly termGraceMs: number;
  /** The last words of a child that has ended. */
  readonly drainMs: number;
  /** HTTP answers that are read to their end after the result came; the oldest is cut off beyond this. */
  readonly maxLingeringStreams: number;
  /**
   * Before an HTTP answer that ended too early is asked for again, if the server does not say; and between which it may
   * say.
   */
  readonly resumeDelayMs: number;
  readonly minResumeDelayMs: number;
  readonly maxResumeDelayMs: number;
  /**
   * Tries in a row to take up such an answer: that were not let in, and that brought nothing new. Beyond this it is
   * lost.
   */
  readonly maxResumeFailures: number;
  readonly maxEmptyResumes: number;
  /** A place in a stream with a longer mark cannot be taken up again. */
  readonly maxEventIdChars: number;
  /** Answers to questions of an HTTP server that are on their way to it; those beyond are not sent. */
  readonly maxAnswersUnderWay: number;
  /** A cancellation, a ping, an answer to a server's own question, the goodbye to an HTTP session. */
  readonly courtesyTimeoutMs: number;
  readonly maxPages: number;
  readonly maxTools: number;
  readonly maxCursorChars: number;
  readonly maxToolNameChars: number;
  readonly maxSchemaChars: number;
  readonly maxSchemaDepth: number;
  /** Objects and lists in one schema: what compiling it costs grows with them, and nobody else is served meanwhile. */
  readonly maxSchemaNodes: number;
  /** Time spent on compiling a server's schemas: beyond the burst, no more than this of every second. */
  readonly compileBurstMs: number;
  readonly compileMsPerSecond: number;
  /** One tool as it was listed, and all that are kept of one server. */
  readonly maxToolChars: number;
  readonly maxListChars: number;
  /** How many tools that were left out the status names. */
  readonly maxLeftOut: number;
  readonly relistDebounceMs: number;
  /**
   * However often a server says that its tools changed, they are listed again no more often than this; nor is a
   * connection that it refuses opened anew.
   */
  readonly relistEveryMs: number;
  /** Characters of a server's own words in a message and in a cause. */
  readonly maxMessageChars: number;
  readonly maxCauseChars: number;
}

export const defaultMcpLimits: McpLimits = {
  connectTimeoutMs: 10_000,
  firstConnectTimeoutMs: 60_000,
  listTimeoutMs: 10_000,
  maxSendDelayMs: 2_000,
  answerGraceMs: 5_000,
  lateAnswerMs: 15 * 60_000,
  maxLateAnswers: 64,
  backoffInitialMs: 250,
  backoffMaxMs: 30_000,
  healthyAfterMs: 60_000,
  maxMessageBytes: 8 << 20,
  maxQueuedBytes: 16 << 20,
  floodBurst: 2_000,
  floodPerSecond: 1_000,
  stderrBytesBurst: 1 << 20,
  stderrBytesPerSecond: 256 << 10,
  maxStderrLines: 100,
  maxStderrLineChars: 500,
  inputGraceMs: 250,
  termGraceMs: 2_000,
  drainMs: 500,
  maxLingeringStreams: 64,
  resumeDelayMs: 1_000,
  minResumeDelayMs: 100,
  maxResumeDelayMs: 60_000,
  maxResumeFailures: 5,
  maxEmptyResumes: 100,
  maxEventIdChars: 1_024,
  maxAnswersUnderWay: 64,
  courtesyTimeoutMs: 2_000,
  maxPages: 100,
  maxTools: 1_000,
  maxCursorChars: 4_096,
  maxToolNameChars: 128,
  maxSchemaChars: 128 << 10,
  maxSchemaDepth: 100,
  maxSchemaNodes: 1_000,
  compileBurstMs: 2_000,
  compileMsPerSecond: 100,
  maxToolChars: 256 << 10,
  maxListChars: 8 << 20,
  maxLeftOut: 100,
  relistDebounceMs: 250,
  relistEveryMs: 2_000,
  maxMessageChars: 2_000,
  maxCauseChars: 16_000,
};
