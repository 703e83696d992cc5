/**
 * Secrets for calls, by the name of their credential. Only the adapter that writes a request to the wire may reveal
 * one; nothing else of the gateway ever holds it.
 */
import type { Injection } from '../core/credential/declared-credential.ts';

/** What a person needs to sign in. Nothing of it is a secret; what proves the sign-in stays with its provider. */
export interface SignIn {
  readonly interactionId: string;
  readonly verificationUri: string;
  readonly userCode: string;
  readonly expiresAtMs: number;
}

export type CredentialAnswer =
  | {
      readonly ok: true;
      readonly provider: string;
      /** Tells two secrets apart, and says nothing about them. Another process has other ids. */
      readonly id: string;
      /** Null if it has no lifetime. */
      readonly expiresAtMs: number | null;
    }
  | {
      readonly ok: false;
      readonly provider: string;
      /** In our own words: nothing that a provider said, no address, no secret. */
      readonly reason: string;
      readonly retryAfterSeconds: number;
      /** A person must sign in; absent if that is not the reason. */
      readonly signIn?: SignIn;
    };

/** What an attempt carries in place of a secret. */
export interface CredentialHandle {
  readonly name: string;
  readonly inject: Injection;
  /** The value as it is sent; null if there is none now. For the wire only. */
  reveal(): string | null;
  /** The id of what was revealed last; null if nothing was. */
  usedId(): string | null;
}

export interface CredentialState {
  readonly name: string;
  readonly provider: string;
  readonly state: 'ok' | 'failing' | 'not_fetched';
  /** Since when it has been in this state. */
  readonly sinceMs: number;
  /** Why the provider failed; null if it did not. */
  readonly reason: string | null;
  readonly expiresAtMs: number | null;
}

/** Never rejects. A name that nobody declared is a bug. */
export interface Credentials {
  /** The secret in the cache, or a new one; within the time limit of the credential. */
  fetch(name: string): Promise<CredentialAnswer>;
  /** Another secret than the one that was refused, if the provider has one by now. */
  refresh(name: string, refusedId: string): Promise<CredentialAnswer>;
  /** What `fetch` would answer without asking anybody; null if nothing is known. */
  known(name: string): CredentialAnswer | null;
  handle(name: string): CredentialHandle;
  /** The sign-in that waits for a person; null if none does, or nobody signs in for it. */
  signIn(name: string): SignIn | null;
  /** Whether somebody has signed in, asking the provider no more often than it allows. */
  hasSignedIn(name: string): Promise<boolean>;
  /** Asks for a sign-in now, unless one waits or is not needed. False if nobody signs in for it. */
  askSignIn(name: string): Promise<boolean>;
  states(): readonly CredentialState[];
  close(): void;
}
