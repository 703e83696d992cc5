/** The links and sessions of the console, as the HTTP door needs them. Types only. */
import type { Identity } from '../../../core/call/identity.ts';

export interface ConsoleInvitation {
  readonly code: string;
  readonly expiresAtMs: number;
}

export interface OpenedConsole {
  /** The value of the cookie. */
  readonly token: string;
  readonly who: Identity;
  readonly expiresAtMs: number;
}

/** Links and sessions of the console. */
export interface ConsoleSessions {
  /** A code for whoever holds this key, to be used once. */
  invite(who: Identity): ConsoleInvitation;
  /** Null for a code that is unknown, used or too old, or whose key has ended. */
  enter(code: string): Promise<OpenedConsole | null>;
  /** For a key that was checked already. */
  open(who: Identity): OpenedConsole;
  /** Null for a session that is unknown, too old or ended, or whose key has ended. */
  find(token: string): Promise<Omit<OpenedConsole, 'token'> | null>;
  end(token: string): void;
}
