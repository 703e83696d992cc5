/** What the gateway itself cannot do, as an exception: it could not be opened, or it is closed. Calls never get one. */
export class GatewayError extends Error {
  override name = 'GatewayError';
  /** One of a closed list; the message says what to do. */
  readonly reason: string;
  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}
