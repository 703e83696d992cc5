/** The exception for failures of the gateway itself: it could not be opened, or is closed. Calls never throw it. */
import type { ErrorCode } from '../taxonomy.ts';

export class GatewayError extends Error {
  override name = 'GatewayError';
  /** One of a closed list; the message says what to do. */
  readonly reason: string;
  /** Of an extension that cannot be used; null for other reasons. */
  readonly code: ErrorCode | null;
  constructor(reason: string, message: string, code: ErrorCode | null = null) {
    super(message);
    this.reason = reason;
    this.code = code;
  }
}
