/** The exception for failures of the gateway itself: it could not be opened, or is closed. Calls never throw it. */
export class GatewayError extends Error {
  override name = 'GatewayError';
  /** One of a closed list; the message says what to do. */
  readonly reason: string;
  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}
